"""The work of one check in the style such services are written in: dictionaries, jsonschema, cryptography.

It does what the golden invoices need and no more: strict parsing, four hashes, schema findings and counts, the
sum rule, messages, the answer in contract order, and the signature. What the three baselines do differently
is handed in: how a value becomes canonical bytes, and where a validator comes from.
"""

import base64
import hashlib
import json
import uuid
from datetime import UTC, datetime
from decimal import Decimal

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
KEY_VERSION = "v1-2026-10a"
BASE_URL = "http://127.0.0.1:8000"
CONTEXT = "json-schema-verifier/verify-schema-attestation/v1"
RULE_DEFAULTS = dict.fromkeys(["equals_field", "equals", "other_field", "value", "in_field", "values"])
RULE_DEFAULTS |= {"tolerance": 1e-9, "if_present": False}
COUNTED = frozenset(
    "type enum const multipleOf maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength pattern format"
    " maxItems minItems uniqueItems maxProperties minProperties required anyOf oneOf not".split()
)


# Strict parsing.


def parse(body):
    return json.loads(body.decode(), object_pairs_hook=_members, parse_float=_float, parse_constant=_refuse)


def _members(pairs):
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("duplicate member")
    return found


def _float(literal):
    number = float(literal)
    if number - number != 0:
        raise ValueError("number too large")
    return number


def _refuse(literal):
    raise ValueError(f"{literal} is not JSON")


# RFC 8785, the plain way.


def canonical_text(value):
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        return "{" + ",".join(f"{json.dumps(n, ensure_ascii=False)}:{canonical_text(value[n])}" for n in names) + "}"
    if isinstance(value, list):
        return "[" + ",".join(canonical_text(element) for element in value) + "]"
    if isinstance(value, float):
        return number_text(value)
    return json.dumps(value, ensure_ascii=False)


def number_text(number):
    if number.is_integer() and abs(number) < 1e21:
        return str(int(number))
    text = repr(number)
    if "e" not in text:
        return text
    mantissa, exponent = text.split("e")
    if -7 < int(exponent) < 0:
        return format(Decimal(text), "f")
    return f"{mantissa.removesuffix('.0')}e{int(exponent):+d}"


def canonical(value):
    return canonical_text(value).encode()


# Counts and findings.


def count_keywords(schema, instance):
    """How many assertion keywords apply, one per place in the output."""
    total = sum(keyword in COUNTED for keyword in schema)
    if isinstance(instance, dict):
        for name, inner in schema.get("properties", {}).items():
            if name in instance:
                total += count_keywords(inner, instance[name])
    if isinstance(instance, list) and "items" in schema:
        for element in instance:
            total += count_keywords(schema["items"], element)
    return total


def member_paths(value, path, found):
    if isinstance(value, dict):
        for name, member in value.items():
            inner = f"{path}.{name}" if path else name
            found.add(inner)
            member_paths(member, inner, found)
    elif isinstance(value, list):
        for element in value:
            member_paths(element, path + "[]", found)
    return found


def select(value, path):
    values = [value]
    for segment in path.split("."):
        name = segment.removesuffix("[]")
        values = [inner[name] for inner in values if name in inner]
        if segment.endswith("[]"):
            values = [element for array in values for element in array]
    return values


def sum_finding(rule, output):
    addends = select(output, rule["field"])
    (target,) = select(output, rule["equals_field"])
    total = sum((Decimal(repr(number)) for number in addends), Decimal(0))
    if abs(total - Decimal(repr(target))) <= Decimal(repr(rule.get("tolerance", 1e-9))):
        return None
    expected = f"{rule['equals_field']} ({target})"
    return {
        "check": "consistency:sum_equals",
        "field": rule["field"],
        "detail": f"values sum to {total}, expected {expected}",
        "expected": f"a sum equal to {expected}",
        "found": f"sum {total}",
    }


def ratio(passed, total):
    return {"ratio": round(passed / total, 6) if total else 1.0, "passed": passed, "total": total}


# The answer.


def verify(body, canonical, validator_for):
    request = parse(body)
    schema, output = request["expected_schema"], request["submitted_output"]
    rules, enforce = request.get("rules"), request.get("enforce_rules", False)

    def sha256(value):
        return hashlib.sha256(canonical(value)).hexdigest()

    full_request = {
        "task_id": request["task_id"],
        "agent_id": request.get("agent_id"),
        "expected_schema": schema,
        "submitted_output": output,
        "strict_content_check": request.get("strict_content_check", False),
        "bounds": request.get("bounds") or None,
        "rules": [RULE_DEFAULTS | rule for rule in rules or []] or None,
        "enforce_rules": enforce,
    }
    schema_hash = sha256(schema)
    errors, details, flags, hints = [], [], [], []
    failed_keywords = set()
    for error in validator_for(schema, schema_hash).iter_errors(output):
        failed_keywords.add((error.json_path, error.validator))
        check = f"schema:{error.validator}"
        expected, found = str(error.validator_value)[:80], type(error.instance).__name__
        message = f"{check} at '{error.json_path}': expected {expected}, found {found}"
        place = {"check": check, "path": error.json_path, "expected": expected, "found": found}
        errors.append(message)
        details.append(place | {"message": message})
        hints.append({"source": "schema"} | place)
    broken_rules = 0
    for rule in rules or []:
        finding = sum_finding(rule, output)
        if finding is None:
            continue
        broken_rules += 1
        check, field, detail = finding["check"], finding["field"], finding["detail"]
        severity = "error" if enforce else "warning"
        flags.append({"check": check, "field": field, "severity": severity, "detail": detail})
        if enforce:
            message = f"enforce_rules: {check} at '{field}': {detail}"
            place = {"check": check, "path": f"$.{field}", "expected": finding["expected"], "found": finding["found"]}
            errors.append(message)
            details.append(place | {"message": message})
            hints.append({"source": "integrity"} | place)

    result = "fail" if errors else "pass"
    schema_total = count_keywords(schema, output)
    integrity_total = len(member_paths(output, "", set())) + len(rules or [])
    schema_passed, integrity_passed = schema_total - len(failed_keywords), integrity_total - broken_rules
    if errors:
        next_actions = [{"action": "repair_and_reverify", "using": "hints"}]
    else:
        next_actions = [{"action": "attach_receipt", "for": "seller"}, {"action": "proceed_to_payment", "for": "buyer"}]
    verified_at = datetime.now(UTC).isoformat(timespec="microseconds")
    answer = {
        "summary": {"result": result, "blocking_checks": list(dict.fromkeys(detail["check"] for detail in details))},
        "next_actions": next_actions,
        "result": result,
        "verification_id": str(uuid.uuid4()),
        "task_id": request["task_id"],
        "agent_id": request.get("agent_id"),
        "output_hash": sha256(output),
        "schema_hash": schema_hash,
        "rules_hash": sha256({"bounds": request.get("bounds"), "rules": rules}),
        "request_hash": sha256(full_request),
        "verified_at": verified_at,
        "verifier_version": "0.4.1",
        "enforce_rules": enforce,
        "strict_content_check": request.get("strict_content_check", False),
    }
    if request.get("detail", "full") == "full":
        for name, entries in [("errors", errors), ("errors_detail", details), ("flags", flags), ("hints", hints)]:
            answer |= {name: entries[:50], f"{name}_total": len(entries), f"{name}_omitted": max(0, len(entries) - 50)}
        answer["schema_compliance"] = ratio(schema_passed, schema_total)
        answer["integrity_checks"] = ratio(integrity_passed, integrity_total)
        answer["overall"] = ratio(schema_passed + integrity_passed, schema_total + integrity_total)
    else:
        del answer["request_hash"]
    answer["verify"] = {
        "public_key_url": f"{BASE_URL}/.well-known/agent-card.json",
        "key_version": KEY_VERSION,
        "canonicalization": "RFC 8785 (JCS)",
        "hash_algorithm": "SHA-256",
        "service": "Agent Output Verifier",
        "mcp": f"{BASE_URL}/mcp",
    }
    signed = {"context": CONTEXT, "algorithm": "Ed25519", "key_version": KEY_VERSION, "attested_at": verified_at}
    signature = KEY.sign(canonical(signed | {"response": answer}))
    answer["attestation"] = {
        "algorithm": "Ed25519",
        "key_version": KEY_VERSION,
        "timestamp": verified_at,
        "signature": base64.b64encode(signature).decode(),
    }
    return answer
