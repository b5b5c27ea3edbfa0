"""RFC 8785 (JCS) in plain Python: a second opinion for the vectors, sharing no code with the product.

`canonical(value)` gives the text, `sha256(value)` the lower-case hex of its UTF-8 bytes. Values are what
`json.loads` builds; an int counts as the double nearest to it.
"""

import hashlib
import json

_SHORT = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}


def number(value):
    """ECMAScript's Number::toString (ECMA-262, 6.1.6.1.20) of a finite double."""
    value = float(value)
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    # repr gives the shortest digits that read back, the closest of them when several do.
    mantissa, _, exponent = repr(abs(value)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    point = len(whole) + int(exponent or 0)
    digits = whole + fraction
    stripped = digits.lstrip("0")
    point -= len(digits) - len(stripped)
    digits = stripped.rstrip("0")
    count = len(digits)
    if count <= point <= 21:
        return sign + digits + "0" * (point - count)
    if 0 < point <= 21:
        return sign + digits[:point] + "." + digits[point:]
    if -6 < point <= 0:
        return sign + "0." + "0" * -point + digits
    head = digits[0] + ("." + digits[1:] if count > 1 else "")
    return f"{sign}{head}e{point - 1:+d}"


def string(text):
    """The literal of a string: only what JSON forbids is escaped (RFC 8785, 3.2.2.2)."""
    out = []
    for char in text:
        if char in _SHORT:
            out.append(_SHORT[char])
        elif char < " ":
            out.append(f"\\u{ord(char):04x}")
        else:
            out.append(char)
    return '"' + "".join(out) + '"'


def canonical(value):
    """The canonical text: members by UTF-16 code units, no white space."""
    if value is None:
        return "null"
    if value is True:
        return "true"
    if value is False:
        return "false"
    if isinstance(value, (int, float)):
        return number(value)
    if isinstance(value, str):
        return string(value)
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    names = sorted(value, key=lambda name: name.encode("utf-16-be"))
    return "{" + ",".join(string(name) + ":" + canonical(value[name]) for name in names) + "}"


def sha256(value):
    return hashlib.sha256(canonical(value).encode()).hexdigest()


def request_hash(request):
    """Section 17: eight members, every default filled in, empty rules and bounds are null."""
    reference = {name: None for name in ("equals_field", "equals", "other_field", "value", "in_field", "values")}
    rules = [
        {"type": rule["type"], "field": rule["field"], "tolerance": 1e-9, "if_present": False} | reference | rule
        for rule in request.get("rules") or []
    ]
    bounds = {
        path: {"min": None, "max": None, "if_present": False} | bound
        for path, bound in (request.get("bounds") or {}).items()
    }
    return sha256(
        {
            "task_id": request["task_id"],
            "agent_id": request.get("agent_id"),
            "expected_schema": request["expected_schema"],
            "submitted_output": request["submitted_output"],
            "strict_content_check": request.get("strict_content_check", False),
            "bounds": bounds or None,
            "rules": rules or None,
            "enforce_rules": request.get("enforce_rules", False),
        }
    )


def rules_hash(request):
    """Section 17: exactly the members supplied; not supplied is null."""
    return sha256({"bounds": request.get("bounds"), "rules": request.get("rules")})


def parse(text):
    return json.loads(text)
