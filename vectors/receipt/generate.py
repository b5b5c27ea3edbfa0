"""Writes the receipt vectors of this folder. Same input, same bytes: run it again and nothing changes.

    pip install cryptography
    python3 vectors/receipt/generate.py

Keys come from fixed seeds and are good for nothing else. Signing is `cryptography`'s; the few lines of curve
arithmetic below only make signatures that an honest signer never makes.
"""

import base64
import copy
import hashlib
import json
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import jcs

HERE = Path(__file__).resolve().parent
CHECK = "json-schema-verifier/verify-schema-attestation/v1"
SCORE = "json-schema-verifier/trust-score-attestation/v1"
SUCCESSION = "countersign/key-succession/v1"
CURRENT, PREVIOUS, NEXT, COMPROMISED, UNLISTED = "v1-2026-10a", "v1-2026-09b", "v1-2026-11a", "v1-2026-08a", "v1-2026-07a"
STATUS = {COMPROMISED: "compromised", PREVIOUS: "previous", CURRENT: "current", NEXT: "next"}

# Ed25519 numbers (RFC 8032, 5.1).
P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
ROOT = pow(2, (P - 1) // 4, P)


def add(a, b):
    (x1, y1), (x2, y2) = a, b
    k = D * x1 * x2 * y1 * y2 % P
    return (
        (x1 * y2 + x2 * y1) * pow(1 + k, P - 2, P) % P,
        (y1 * y2 + x1 * x2) * pow(1 - k, P - 2, P) % P,
    )


def multiply(scalar, point):
    result = (0, 1)
    while scalar:
        if scalar & 1:
            result = add(result, point)
        point = add(point, point)
        scalar >>= 1
    return result


def recover_x(y, sign):
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if x * x % P != square:
        x = x * ROOT % P
    assert x * x % P == square
    return P - x if x & 1 != sign else x


def encode(point):
    return (point[1] | (point[0] & 1) << 255).to_bytes(32, "little")


BASE = (recover_x(4 * pow(5, P - 2, P) % P, 0), 4 * pow(5, P - 2, P) % P)


def negative(point):
    return (-point[0] % P, point[1])


# Keys and signing.

def private_key(version):
    return Ed25519PrivateKey.from_private_bytes(hashlib.sha256(f"vector key {version}".encode()).digest())


def public_key(version):
    return private_key(version).public_key().public_bytes_raw()


def b64(data):
    return base64.b64encode(data).decode()


def entry(version, raw=None, status=None):
    listed = {
        "keyVersion": version,
        "algorithm": "Ed25519",
        "publicKey": b64(raw or public_key(version)),
        "publicKeyEncoding": "base64 of the raw 32-byte Ed25519 public key",
    }
    return listed | ({"status": status} if status else {})


KEYS = [entry(version, status=status) for version, status in STATUS.items()]


def envelope(response, version, at, context):
    return {"context": context, "algorithm": "Ed25519", "key_version": version, "attested_at": at, "response": response}


def context_of(response):
    return CHECK if "verification_id" in response else SCORE


def sign(response, version=CURRENT, at=None, context=None, message=None):
    """The response with its attestation; `message` replaces what is signed."""
    at = at or response.get("verified_at") or response["computed_at"]
    if message is None:
        message = jcs.canonical(envelope(response, version, at, context or context_of(response))).encode()
    signature = b64(private_key(version).sign(message))
    return response | {
        "attestation": {"algorithm": "Ed25519", "key_version": version, "timestamp": at, "signature": signature}
    }


# What is signed.

REQUEST = {
    "task_id": "order-1042",
    "agent_id": "test-order-agent",
    "expected_schema": {
        "type": "object",
        "required": ["order", "lines", "total"],
        "properties": {
            "order": {"type": "string"},
            "lines": {
                "type": "array",
                "minItems": 1,
                "items": {
                    "type": "object",
                    "required": ["sku", "amount"],
                    "properties": {"sku": {"type": "string"}, "amount": {"type": "number", "minimum": 0}},
                },
            },
            "total": {"type": "number"},
        },
    },
    "submitted_output": {
        "order": "A-7 “café”",
        "lines": [{"sku": "x", "amount": 12.5}, {"sku": "y", "amount": 7.5}],
        "total": 20.0,
    },
    "rules": [{"type": "sum_equals", "field": "lines[].amount", "equals_field": "total"}],
    "bounds": {"total": {"min": 0, "max": 1000}},
    "enforce_rules": True,
    "detail": "full",
}
WRONG = REQUEST | {"submitted_output": REQUEST["submitted_output"] | {"total": 21.0}}
PLAIN = {"task_id": "ping", "expected_schema": {}, "submitted_output": None}
PASS = [{"action": "attach_receipt", "for": "seller"}, {"action": "proceed_to_payment", "for": "buyer"}]
FULL = {"action": "request_full_detail", "detail": "full"}
VERIFY = {
    "public_key_url": "https://verifier.example/.well-known/agent-card.json",
    "key_version": CURRENT,
    "canonicalization": "RFC 8785 (JCS)",
    "hash_algorithm": "SHA-256",
    "service": "Agent Output Verifier",
    "mcp": "https://verifier.example/mcp",
}


def compact(request, result="pass", blocking=(), actions=PASS, version=CURRENT):
    return {
        "summary": {"result": result, "blocking_checks": list(blocking)},
        "next_actions": actions,
        "result": result,
        "verification_id": "0199a1b2-c3d4-7e5f-8a6b-1c2d3e4f5a6b",
        "task_id": request["task_id"],
        "agent_id": request.get("agent_id"),
        "output_hash": jcs.sha256(request["submitted_output"]),
        "schema_hash": jcs.sha256(request["expected_schema"]),
        "rules_hash": jcs.rules_hash(request),
        "verified_at": "2026-10-03T08:15:30.250000+00:00",
        "verifier_version": "0.1.0",
        "enforce_rules": request.get("enforce_rules", False),
        "strict_content_check": request.get("strict_content_check", False),
        "verify": VERIFY | {"key_version": version},
    }


def ratio(passed, total):
    return {"ratio": round(passed / total, 6) if total else 1.0, "passed": passed, "total": total}


def full(request, schema, integrity, findings=(), version=CURRENT):
    """A full response whose findings are enforced rules: (check, field, expected, found, detail)."""
    result = "fail" if findings else "pass"
    actions = [{"action": "repair_and_reverify", "using": "hints"}] if findings else PASS
    body = compact(request, result, dict.fromkeys(f[0] for f in findings), actions, version)
    verify = body.pop("verify")
    detail = [
        {"check": c, "path": "$." + f, "expected": e, "found": s, "message": f"enforce_rules: {c} at '{f}': {d}"}
        for c, f, e, s, d in findings
    ]
    lists = {
        "errors": [d["message"] for d in detail],
        "errors_detail": detail,
        "flags": [{"check": c, "field": f, "severity": "error", "detail": d} for c, f, e, s, d in findings],
        "hints": [
            {"source": "integrity", "check": c, "path": "$." + f, "expected": e, "found": s}
            for c, f, e, s, d in findings
        ],
    }
    out = {}
    for name, value in body.items():
        out[name] = value
        if name == "rules_hash":
            out["request_hash"] = jcs.request_hash({k: v for k, v in request.items() if k != "detail"})
    for name, value in lists.items():
        out |= {name: value, name + "_total": len(value), name + "_omitted": 0}
    overall = (schema[0] + integrity[0], schema[1] + integrity[1])
    out |= {"schema_compliance": ratio(*schema), "integrity_checks": ratio(*integrity), "overall": ratio(*overall)}
    return out | {"verify": verify}


def score(value, interval, passed, failed, reason=None):
    count = passed + failed
    return {
        "agent_id": "urn:agent:7",
        "trust_score": value,
        "confidence_interval_95": interval,
        "sample_size": count,
        "verified": count,
        "passed": passed,
        "failed": failed,
        "first_seen": "2026-09-01T10:00:00.000000+00:00" if count else None,
        "last_seen": "2026-10-01T10:00:00.000000+00:00" if count else None,
        "identity_verified": False,
        "reason": reason,
        "computed_at": "2026-10-03T09:00:00.000001+00:00",
        "next_actions": [] if count else [{"action": "verify_first_output"}],
        "verify": VERIFY,
    }


MISS = (
    "consistency:sum_equals",
    "lines[].amount",
    "a sum equal to total (21.0)",
    "sum 20.0",
    "values sum to 20.0, expected total (21.0)",
)
FULL_PASS = full(REQUEST, (16, 16), (7, 7))
FULL_FAIL = full(WRONG, (16, 16), (6, 7), [MISS])
COMPACT_PASS = compact(REQUEST)
COMPACT_FAIL = compact(WRONG, "fail", [MISS[0]], [{"action": "repair_and_reverify", "using": "hints"}, FULL])
COMPACT_FLAGS = compact(
    WRONG | {"enforce_rules": False}, actions=PASS + [{"action": "review_flags", "using": "flags"}, FULL]
)
FULL_PLAIN = full(PLAIN, (0, 0), (1, 1))
SCORED = score(0.9, [0.5958, 0.9821], 9, 1)
NEW_AGENT = score(None, None, 0, 0, "no_data")

# The files.

FILES = {}


def text_of(value):
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def case(topic, why, receipt, outcome, expect=None, keys="key-list.json", **inputs):
    given = {name: text_of(value) for name, value in inputs.items()}
    expected = {"outcome": outcome} | (expect or {})
    if outcome in ("valid", "hash_mismatch", "key_compromised") and keys == "key-list.json":
        attestation = json.loads(text_of(receipt))["attestation"]
        version = attestation["key_version"]
        expected |= {"key_version": version, "key_status": STATUS[version], "attested_at": attestation["timestamp"]}
    FILES.setdefault(topic, []).append(
        {"why": why, "input": {"keys": keys, "receipt": text_of(receipt)} | given, "expect": expected}
    )


def hashes(**states):
    names = ("output_hash", "schema_hash", "rules_hash", "request_hash")
    return {"hashes": {name: states.get(name.removesuffix("_hash"), "not_checked") for name in names}}


def three(**states):
    known = hashes(**states)["hashes"]
    del known["request_hash"]
    return {"hashes": known}


def without(value, *path):
    out = copy.deepcopy(value)
    inner = out
    for step in path[:-1]:
        inner = inner[step]
    del inner[path[-1]]
    return out


def changed(value, new, *path):
    out = copy.deepcopy(value)
    inner = out
    for step in path[:-1]:
        inner = inner[step]
    assert inner[path[-1]] != new or type(inner[path[-1]]) is not type(new)
    inner[path[-1]] = new
    return out


def backwards(value):
    if isinstance(value, dict):
        return {name: backwards(value[name]) for name in reversed(list(value))}
    return [backwards(item) for item in value] if isinstance(value, list) else value


def golden():
    keys = json.loads((HERE.parent / "public-keys.json").read_text())["keys"]
    for name, check in (("draft", hashes), ("final", three)):
        receipt = (HERE.parent / f"invoice-{name}.response.json").read_text()
        request = (HERE.parent / f"invoice-{name}.request.json").read_text()
        matching = {"output": "match", "schema": "match", "rules": "match", "request": "match"}
        known = {"key_version": "v1-2026-09c", "attested_at": json.loads(receipt)["verified_at"]}
        why = f"20, 26: the golden {name}, under the golden key"
        case("valid", why, receipt, "valid", known | check(), keys)
        case("valid", why + ", with its request", receipt, "valid", known | check(**matching), keys, request=request)
        other = receipt.replace("v1-2026-09c", "v1-2026-09d")
        case("keys", f"20 (step 1): the golden {name} naming a key that is not listed", other, "unknown_key", None, keys)
        case("keys", f"20 (step 1): the golden {name} against another service's list", receipt, "unknown_key")


def valid():
    for why, body in (
        ("a full pass", FULL_PASS),
        ("a full fail: the receipt of a fail is as valid as any", FULL_FAIL),
        ("output null, no agent, nothing to count", FULL_PLAIN),
    ):
        case("valid", f"20: {why}; nothing at hand to compare", sign(body), "valid", hashes())
    for why, body in (
        ("a compact pass", COMPACT_PASS),
        ("a compact fail", COMPACT_FAIL),
        ("a compact pass with flags", COMPACT_FLAGS),
    ):
        case("valid", f"20: {why}", sign(body), "valid", three())
    case("valid", "20, 21: a score; the context follows trust_score", sign(SCORED), "valid")
    case("valid", "20, 21: a score of null is a score", sign(NEW_AGENT), "valid")
    case("valid", "20, 21: a score of 0", sign(score(0.0, [0.0, 0.7935], 0, 1)), "valid")
    case("valid", "20, 21: a score of 1", sign(score(1.0, [0.2065, 1.0], 1, 0)), "valid")
    at = "2027-01-01T00:00:00.000000+00:00"
    again = compact(REQUEST)
    case("valid", "20: a receipt signed anew has a later timestamp than verified_at", sign(again, at=at), "valid", three())
    unicode = FULL_PASS | {"task_id": "auftrag-€-😀-\u202f", "agent_id": "агент\u00e9e\u0301"}
    case("valid", "20: ids beyond ASCII are signed as they are", sign(unicode), "valid", hashes())
    quoted = FULL_PASS | {"task_id": 'a"b\\c/d'}
    case("valid", "20: ids with quotation mark, backslash and solidus", sign(quoted), "valid", hashes())

    for body, check in ((FULL_PASS, hashes), (COMPACT_FAIL, three), (SCORED, dict)):
        receipt = sign(body)
        kind = "score" if body is SCORED else "full" if check is hashes else "compact"
        for why, text in (
            ("pretty printed", json.dumps(receipt, indent=4, ensure_ascii=False)),
            ("with CR LF line ends and white space around it", " \r\n" + json.dumps(receipt, indent=1).replace("\n", "\r\n") + "\n"),
            ("all text beyond ASCII escaped", json.dumps(receipt)),
            ("members in reverse order on every level", backwards(receipt)),
            ("members sorted, attestation first", json.dumps(receipt, sort_keys=True)),
            ("canonical text", jcs.canonical(receipt)),
        ):
            if text_of(text) != text_of(receipt):
                case("valid", f"20 (step 3): {kind}, {why}", text, "valid", check())
    plain = text_of(sign(FULL_PASS))
    for why, old, new in (
        ("1 for 1.0", '"ratio":1.0', '"ratio":1'),
        ("10e-1 for 1.0", '"ratio":1.0', '"ratio":10e-1'),
        ("16.0 for 16", '"passed":16', '"passed":16.0'),
        ("0.0 for 0", '"errors_omitted":0', '"errors_omitted":0.0'),
        ("-0 for 0", '"errors_omitted":0', '"errors_omitted":-0'),
        ("an escaped letter in a name", '"result":', '"\\u0072esult":'),
        ("escaped solidi", "https://", "https:\\/\\/"),
        ("escaped letters in the signature", '"signature":"', '"\\u0073ignature":"'),
    ):
        assert old in plain
        case("valid", f"6.1, 20 (step 3): another spelling of the same value: {why}", plain.replace(old, new), "valid", hashes())


def with_inputs():
    receipt, small = sign(FULL_PASS), sign(COMPACT_PASS)
    output, schema = REQUEST["submitted_output"], REQUEST["expected_schema"]
    rules, bounds = REQUEST["rules"], REQUEST["bounds"]

    def good(why, expect, of=receipt, **inputs):
        case("hashes", "20 (step 5): " + why, of, "valid", expect, **inputs)

    def bad(why, expect, of=receipt, **inputs):
        case("hashes", "20 (step 5): " + why, of, "hash_mismatch", expect, **inputs)

    good("the output alone; the rest is not checked", hashes(output="match"), submitted_output=output)
    good("the schema alone", hashes(schema="match"), expected_schema=schema)
    good("rules and bounds together", hashes(rules="match"), rules=rules, bounds=bounds)
    good("all that a compact receipt carries", three(output="match", schema="match", rules="match"), small,
         submitted_output=output, expected_schema=schema, rules=rules, bounds=bounds)
    good("the whole request", hashes(output="match", schema="match", rules="match", request="match"), request=REQUEST)
    good("the whole request, against a compact receipt", three(output="match", schema="match", rules="match"), small, request=REQUEST)
    good("output members in another order", hashes(output="match"), submitted_output=backwards(output))
    good("output pretty printed", hashes(output="match"), submitted_output=json.dumps(output, indent=2))
    good("20 for 20.0 in the output", hashes(output="match"), submitted_output=text_of(output).replace("20.0", "20"))
    good("2e1 for 20.0 in the output", hashes(output="match"), submitted_output=text_of(output).replace("20.0", "2e1"))
    null = sign(FULL_PLAIN)
    good("an output of null is an input, not an absence", hashes(output="match"), null, submitted_output=None)
    good("the empty schema", hashes(schema="match"), null, expected_schema={})
    good("a request without rules and bounds", hashes(output="match", schema="match", rules="match", request="match"), null, request=PLAIN)
    good("only rules, of a request without bounds", hashes(rules="match"),
         sign(full(without(REQUEST, "bounds"), (16, 16), (6, 6))), rules=rules)
    good("only bounds, of a request without rules", hashes(rules="match"),
         sign(full(without(REQUEST, "rules"), (16, 16), (6, 6))), bounds=bounds)
    all_four = hashes(output="match", schema="match", rules="match", request="match")
    good("detail is not part of request_hash", all_four, request=REQUEST | {"detail": "compact"})
    good("a default written out is the same request", all_four, request=REQUEST | {"strict_content_check": False})
    good("agent_id null written out is the same request", all_four, null, request=PLAIN | {"agent_id": None})
    fail = sign(FULL_FAIL)
    good("the request of a fail", all_four, fail, request=WRONG)

    bad("another output", hashes(output="mismatch"), submitted_output=WRONG["submitted_output"])
    bad("an output without one member", hashes(output="mismatch"), submitted_output=without(output, "order"))
    bad("an output with one more member", hashes(output="mismatch"), submitted_output=output | {"note": None})
    bad("elements in another order", hashes(output="mismatch"), submitted_output=output | {"lines": output["lines"][::-1]})
    bad("a number sent as a string", hashes(output="mismatch"), submitted_output=output | {"total": "20.0"})
    bad("text in another normalisation", hashes(output="mismatch"), submitted_output=output | {"order": "A-7 “cafe\u0301”"})
    bad("null for the output", hashes(output="mismatch"), submitted_output=None)
    bad("an output, where null was checked", hashes(output="mismatch"), null, submitted_output={})
    bad("another schema", hashes(schema="mismatch"), expected_schema=changed(schema, 2, "properties", "lines", "minItems"))
    bad("a schema with an annotation more: every member counts", hashes(schema="mismatch"), expected_schema=schema | {"title": "Order"})
    bad("required in another order: arrays are ordered", hashes(schema="mismatch"), expected_schema=schema | {"required": schema["required"][::-1]})
    bad("other rules", hashes(rules="mismatch"), rules=[rules[0] | {"tolerance": 5}], bounds=bounds)
    bad("a default of a rule written out changes rules_hash", hashes(rules="mismatch"), rules=[rules[0] | {"tolerance": 1e-9}], bounds=bounds)
    bad("a path with root marker is hashed as supplied", hashes(rules="mismatch"), rules=[rules[0] | {"field": "$.lines[].amount"}], bounds=bounds)
    bad("other bounds", hashes(rules="mismatch"), rules=rules, bounds={"total": {"min": 0, "max": 1001}})
    bad("rules without the bounds that were sent with them", hashes(rules="mismatch"), rules=rules)
    bad("bounds without the rules that were sent with them", hashes(rules="mismatch"), bounds=bounds)
    bad("empty rules are not absent rules", hashes(rules="mismatch"), null, rules=[])
    bad("empty bounds are not absent bounds", hashes(rules="mismatch"), null, bounds={})
    bad("one of two inputs differs", hashes(output="match", schema="mismatch"), submitted_output=output, expected_schema={})
    bad("every input differs", hashes(output="mismatch", schema="mismatch", rules="mismatch"),
        submitted_output=1, expected_schema={}, rules=[], bounds={})
    bad("a compact receipt and another output", three(output="mismatch"), small, submitted_output=WRONG["submitted_output"])
    only_request = hashes(output="match", schema="match", rules="match", request="mismatch")
    bad("a request with another task", only_request, request=REQUEST | {"task_id": "order-1043"})
    bad("a request with another agent", only_request, request=REQUEST | {"agent_id": "someone"})
    bad("a request without its agent", only_request, request=without(REQUEST, "agent_id"))
    bad("a request that did not enforce", only_request, request=REQUEST | {"enforce_rules": False})
    bad("a request that checked content strictly", only_request, request=REQUEST | {"strict_content_check": True})
    only_rules = hashes(output="match", schema="match", rules="mismatch", request="match")
    bad("a request with a rule's default written out: request_hash fills defaults in, rules_hash does not",
        only_rules, request=REQUEST | {"rules": [rules[0] | {"if_present": False}]})
    bad("a request with a bound's default written out", only_rules, request=REQUEST | {"bounds": {"total": bounds["total"] | {"if_present": False}}})
    bad("a request with empty rules: null in request_hash, as supplied in rules_hash", only_rules, null, request=PLAIN | {"rules": []})
    bad("a request with empty bounds", only_rules, null, request=PLAIN | {"bounds": {}})
    bad("a request with another output", hashes(output="mismatch", schema="match", rules="match", request="mismatch"), request=WRONG)
    broken = changed(receipt, "fail", "result")
    case("hashes", "20: a bad signature is told before any hash", broken, "bad_signature", submitted_output=1)


def tampered():
    fail, small, scored = sign(FULL_FAIL), sign(COMPACT_PASS), sign(SCORED)

    def bad(why, receipt, outcome="bad_signature"):
        case("tampered", "20 (step 4): " + why, receipt, outcome)

    for path, new in (
        (("summary", "result"), "pass"),
        (("summary", "blocking_checks"), []),
        (("next_actions",), PASS),
        (("result",), "pass"),
        (("verification_id",), "0199a1b2-c3d4-7e5f-8a6b-1c2d3e4f5a6c"),
        (("task_id",), "order-1043"),
        (("task_id",), "order-1042 "),
        (("agent_id",), None),
        (("agent_id",), "Test-order-agent"),
        (("output_hash",), FULL_PASS["output_hash"]),
        (("schema_hash",), "0" * 64),
        (("rules_hash",), "1f775c90569b00e3e1574c29268cbb78953b2bb264c2df9a04c41fbf555fc918"),
        (("request_hash",), FULL_PASS["request_hash"]),
        (("verified_at",), "2026-10-03T08:15:30.250001+00:00"),
        (("verifier_version",), "0.1.1"),
        (("enforce_rules",), False),
        (("strict_content_check",), True),
        (("errors",), []),
        (("errors", 0), "enforce_rules: consistency:sum_equals at 'lines[].amount': values sum to 20.0, expected total (20.0)"),
        (("errors_total",), 0),
        (("errors_omitted",), 1),
        (("errors_detail", 0, "found"), "sum 21.0"),
        (("flags", 0, "severity"), "warning"),
        (("hints", 0, "path"), "$.total"),
        (("schema_compliance", "passed"), 15),
        (("integrity_checks", "passed"), 7),
        (("overall", "ratio"), 1.0),
        (("verify", "public_key_url"), "https://other.example/.well-known/agent-card.json"),
        (("verify", "key_version"), PREVIOUS),
        (("attestation", "timestamp"), "2026-10-03T08:15:30.250001+00:00"),
    ):
        bad(f"{'.'.join(map(str, path))} changed", changed(fail, new, *path))
    for path, new in (
        (("trust_score",), 0.91),
        (("trust_score",), None),
        (("confidence_interval_95", 0), 0.8),
        (("sample_size",), 1000),
        (("failed",), 0),
        (("agent_id",), "urn:agent:8"),
        (("identity_verified",), True),
        (("computed_at",), "2026-10-04T09:00:00.000001+00:00"),
        (("reason",), "verified"),
    ):
        bad(f"a score's {'.'.join(map(str, path))} changed", changed(scored, new, *path))
    bad("a compact receipt's result changed", changed(small, "fail", "result"))
    either = ["bad_signature", "malformed"]
    for name in ("summary", "agent_id", "request_hash", "errors", "overall", "verify", "strict_content_check"):
        bad(f"{name} removed", without(fail, name), either)
    bad("a member added", changed({"note": 0} | fail, "x", "note"), either)
    bad("a member added inside verify", changed(fail, fail["verify"] | {"note": "x"}, "verify"), either)
    bad("an element added to errors", changed(fail, fail["errors"] * 2, "errors"), either)
    bad("verified_at in another form", changed(fail, "2026-10-03T08:15:30.25+00:00", "verified_at"), either)
    bad("the attestation's timestamp in another form", changed(fail, "2026-10-03T08:15:30.250000Z", "attestation", "timestamp"), either)
    bad("errors_total as a string", changed(fail, "1", "errors_total"), either)
    bad("true as a string", changed(fail, "true", "enforce_rules"), either)
    bad("a compact receipt under the signature of the full one", small | {"attestation": sign(FULL_PASS)["attestation"]})
    bad("a pass under the attestation of a fail", sign(FULL_PASS) | {"attestation": fail["attestation"]})
    text = text_of(fail)
    bad("a string in another normalisation", changed(sign(FULL_PASS | {"task_id": "caf\u00e9"}), "cafe\u0301", "task_id"))
    assert "0.857143" in text
    bad("a ratio in its last digit", text.replace("0.857143", "0.857142"))
    bad("a replacement character for a letter", changed(fail, "order-104\ufffd", "task_id"))


def signatures():
    good = sign(FULL_PASS)
    attestation = good["attestation"]
    raw = base64.b64decode(attestation["signature"])
    response = FULL_PASS
    message = jcs.canonical(envelope(response, CURRENT, attestation["timestamp"], CHECK)).encode()
    either = ["bad_signature", "malformed"]

    def bad(why, signature, outcome="bad_signature"):
        value = signature if isinstance(signature, str) else b64(signature)
        case("signatures", "20: " + why, good | {"attestation": attestation | {"signature": value}}, outcome)

    r, s = raw[:32], int.from_bytes(raw[32:], "little")
    bad("E01: L added to the scalar: the same equation, not canonical", r + (s + L).to_bytes(32, "little"))
    if s + 8 * L < 2**256:
        bad("8 L added to the scalar", r + (s + 8 * L).to_bytes(32, "little"))
    bad("the negative scalar", r + (L - s).to_bytes(32, "little"))
    bad("the scalar 0", r + bytes(32))
    bad("the scalar L", r + L.to_bytes(32, "little"))
    bad("a scalar of ones", r + b"\xff" * 32)
    bad("one bit of R changed", bytes([raw[0] ^ 1]) + raw[1:])
    bad("the sign bit of R changed", raw[:31] + bytes([raw[31] ^ 0x80]) + raw[32:])
    bad("one bit of S changed", raw[:32] + bytes([raw[32] ^ 1]) + raw[33:])
    bad("the top bit of S changed", raw[:63] + bytes([raw[63] ^ 0x80]))
    bad("halves swapped", raw[32:] + raw[:32])
    bad("64 zero bytes", bytes(64))
    bad("the identity as R and 0 as S", encode((0, 1)) + bytes(32))
    bad("bytes reversed", raw[::-1])
    bad("another receipt's signature", sign(COMPACT_PASS)["attestation"]["signature"])

    for why, signed in (
        ("the score's context", jcs.canonical(envelope(response, CURRENT, attestation["timestamp"], SCORE)).encode()),
        ("a context of another version", jcs.canonical(envelope(response, CURRENT, attestation["timestamp"], CHECK[:-1] + "2")).encode()),
        ("an empty context", jcs.canonical(envelope(response, CURRENT, attestation["timestamp"], "")).encode()),
        ("no context", jcs.canonical(without(envelope(response, CURRENT, attestation["timestamp"], CHECK), "context")).encode()),
        ("another algorithm name", jcs.canonical(envelope(response, CURRENT, attestation["timestamp"], CHECK) | {"algorithm": "ed25519"}).encode()),
        ("another key version", jcs.canonical(envelope(response, PREVIOUS, attestation["timestamp"], CHECK)).encode()),
        ("another time", jcs.canonical(envelope(response, CURRENT, "2026-10-03T08:15:30.250000Z", CHECK)).encode()),
        ("six members", jcs.canonical(envelope(response, CURRENT, attestation["timestamp"], CHECK) | {"nonce": "1"}).encode()),
        ("the response alone", jcs.canonical(response).encode()),
        ("the response as text inside the envelope", jcs.canonical(envelope(jcs.canonical(response), CURRENT, attestation["timestamp"], CHECK)).encode()),
        ("an envelope that is not canonical", text_of(envelope(response, CURRENT, attestation["timestamp"], CHECK)).encode()),
        ("a line end after the canonical text", message + b"\n"),
        ("SHA-256 of the message", hashlib.sha256(message).digest()),
        ("the hexadecimal SHA-256 of the message", hashlib.sha256(message).hexdigest().encode()),
    ):
        case("signatures", f"20: what was signed has {why}" if "context" in why or "name" in why or "version" in why or "time" in why or "members" in why
             else f"20: what was signed is {why}", sign(response, message=signed), "bad_signature")
    case("signatures", "20 (step 2): a score signed with the context of checks", sign(SCORED, context=CHECK), "bad_signature")

    text = attestation["signature"]
    last = text[85]
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    loose = text[:85] + alphabet[alphabet.index(last) ^ 1] + "=="
    assert base64.b64decode(loose) == raw
    bad("E05: base64 with an unused bit set: it decodes to the same bytes", loose, either)
    bad("base64 without padding", text[:86], either)
    bad("base64 with half its padding", text[:87], either)
    bad("base64 with too much padding", text + "=", either)
    url = text.replace("+", "-").replace("/", "_")
    assert url != text
    bad("E05: base64url", url, either)
    bad("a line end inside", text[:64] + "\n" + text[64:], either)
    bad("a line end after it", text + "\n", either)
    bad("a space before it", " " + text, either)
    bad("junk after the padding", text + "AAAA", either)
    bad("padding inside", text[:4] + "=" + text[5:], either)
    bad("a letter outside the alphabet", "!" + text[1:], either)
    bad("hexadecimal", raw.hex(), either)
    bad("63 bytes", raw[:63], either)
    bad("65 bytes", raw + b"\0", either)
    bad("the signature twice", raw + raw, either)
    bad("no bytes", "", either)
    for name in ("ed25519", "EdDSA", "ES256", "none", ""):
        case("signatures", "20: attestation.algorithm is Ed25519 and nothing else", changed(good, name, "attestation", "algorithm"), either)


def keys():
    good = sign(FULL_PASS)

    def case_of(why, receipt, outcome, expect=None, listed="key-list.json", **inputs):
        case("keys", "20: " + why, receipt, outcome, expect, listed, **inputs)

    output = REQUEST["submitted_output"]
    for version, word in ((PREVIOUS, "previous: old receipts stay true (E09)"), (NEXT, "next: listed, not yet in use")):
        body = full(REQUEST, (16, 16), (7, 7), version=version)
        case_of(f"a key whose status is {word}", sign(body, version), "valid", hashes())
    broken = sign(full(REQUEST, (16, 16), (7, 7), version=COMPROMISED), COMPROMISED)
    case_of("a compromised key, in place of valid", broken, "key_compromised", hashes())
    case_of("a compromised key and a hash that matches", broken, "key_compromised", hashes(output="match"), submitted_output=output)
    case_of("a compromised key and a hash that does not match", broken, "hash_mismatch", hashes(output="mismatch"), submitted_output=1)
    case_of("a compromised key and a bad signature", changed(broken, "fail", "result"), "bad_signature")
    case_of("a compromised key and a score", sign(SCORED | {"verify": VERIFY | {"key_version": COMPROMISED}}, COMPROMISED), "key_compromised")
    case_of("a key that is not listed", sign(full(REQUEST, (16, 16), (7, 7), version=UNLISTED), UNLISTED), "unknown_key")
    case_of("an unknown key, also when the response was changed", changed(sign(FULL_PASS, UNLISTED), "fail", "result"), "unknown_key")
    case_of("a key version in capitals is another one", changed(good, CURRENT.upper(), "attestation", "key_version"), "unknown_key")
    case_of("a key version that is a prefix", changed(good, CURRENT[:-1], "attestation", "key_version"), "unknown_key")
    case_of("a key version with a space", changed(good, CURRENT + " ", "attestation", "key_version"), "unknown_key")
    case_of("an empty key version", changed(good, "", "attestation", "key_version"), ["unknown_key", "malformed"])
    case_of("an empty list", good, "unknown_key", None, [])
    case_of("a list without the key", good, "unknown_key", None, [e for e in KEYS if e["keyVersion"] != CURRENT])
    case_of("the key is in the list under another version only", good, "unknown_key", None, [entry(NEXT, public_key(CURRENT), "next")])
    case_of("another listed key: chosen by keyVersion, not by trial", changed(good, PREVIOUS, "attestation", "key_version"), "bad_signature")
    case_of("signed by another listed key than it names", good | {"attestation": sign(FULL_PASS, PREVIOUS)["attestation"] | {"key_version": CURRENT}}, "bad_signature")
    case_of("the listed key of that version is another one", good, "bad_signature", None, [entry(CURRENT, public_key(NEXT), "current")])
    known = {"key_version": CURRENT, "key_status": "current"} | hashes()
    case_of("the list in reverse order", good, "valid", known, KEYS[::-1])
    case_of("a list of this key alone", good, "valid", known, [entry(CURRENT, status="current")])
    case_of("the same key, superseded since", good, "valid", known | {"key_status": "previous"}, [entry(CURRENT, status="previous")])
    case_of("the same key, compromised since", good, "key_compromised", known | {"key_status": "compromised"}, [entry(CURRENT, status="compromised")])
    case_of("a list of an older service, without status", good, "valid", {"key_version": CURRENT} | hashes(), [entry(CURRENT)])
    case_of("a key inside the receipt proves nothing", good | {"publicKeys": [entry(CURRENT, public_key(UNLISTED))]}, ["unknown_key", "bad_signature", "malformed"], None, [])
    small_order(case_of)


def small_order(case_of):
    """E03: keys under which one signature fits many messages. A lax verifier accepts each of these."""
    # An order-8 point from any curve point: multiply by L until the result has full order 8.
    y = 2
    while True:
        try:
            point = multiply(L, (recover_x(y, 0), y))
            if multiply(4, point) != (0, 1):
                break
        except AssertionError:
            pass
        y += 1
    torsion = [multiply(k, point) for k in range(8)]
    order = [1, 8, 4, 8, 2, 8, 4, 8]
    encodings = [(f"order {order[k]}, canonical", encode(t), t) for k, t in enumerate(torsion)]
    encodings += [
        ("y = p, not canonical", P.to_bytes(32, "little"), (recover_x(0, 0), 0)),
        ("y = p + 1, not canonical", (P + 1).to_bytes(32, "little"), (0, 1)),
        ("y = 1 with the sign bit, not canonical", (1 | 1 << 255).to_bytes(32, "little"), (0, 1)),
    ]
    seen = set()
    for how, raw, key in sorted(encodings, key=lambda e: ("not" in e[0], e[0], e[1])):
        if raw in seen:
            continue
        seen.add(raw)
        at = FULL_PASS["verified_at"]
        message = jcs.canonical(envelope(FULL_PASS, CURRENT, at, CHECK)).encode()
        scalar = 1
        while True:
            # R = S·B - h·A, where h hashes R itself: try until the guess of h·A fits.
            for guess in torsion:
                r = encode(add(multiply(scalar, BASE), negative(guess)))
                h = int.from_bytes(hashlib.sha512(r + raw + message).digest(), "little") % L
                if multiply(h % 8, key) == guess:
                    break
            else:
                scalar += 1
                continue
            break
        signature = b64(r + scalar.to_bytes(32, "little"))
        attestation = {"algorithm": "Ed25519", "key_version": CURRENT, "timestamp": at, "signature": signature}
        case_of(f"a small-order key ({how}) and a signature that fits its equation",
                FULL_PASS | {"attestation": attestation}, "bad_signature", None, [entry(CURRENT, raw, "current")])


def malformed():
    good = sign(FULL_PASS)
    text = text_of(good)

    def bad(why, receipt):
        case("malformed", "20: " + why, receipt, "malformed")

    bad("C13: two result members", text.replace('"result":"pass","verification_id"', '"result":"pass","result":"pass","verification_id"'))
    bad("two result members, one of them false", '{"result":"fail",' + text[1:])
    bad("two attestations", text[:-1] + ',"attestation":{}}')
    bad("two signatures", text.replace('"signature":', '"signature":"","signature":'))
    bad("two members of one name after unescaping", '{"res\\u0075lt":"fail",' + text[1:])
    bad("a duplicate inside an inner object", text.replace('"passed":16,', '"passed":16,"passed":16,'))
    bad("no text at all", "")
    bad("white space", " \n")
    bad("not JSON", "pass")
    bad("the text cut short", text[:-1])
    bad("the text cut in the middle", text[: len(text) // 2])
    bad("something after it", text + " {}")
    bad("two receipts", text + "\n" + text)
    bad("a byte order mark", "\ufeff" + text)
    bad("a trailing comma", text[:-1] + ",}")
    bad("single quotes", text.replace('"', "'"))
    bad("an array", "[" + text + "]")
    bad("a string", json.dumps(text))
    for value in ("null", "true", "0", "[]", "{}"):
        bad(f"the value {value}", value)
    bad("a receipt inside another object", '{"receipt":' + text + "}")
    bad("a lone surrogate", text.replace('"task_id":"', '"task_id":"\\ud800'))
    bad("an integer that is not exact", text.replace('"errors_total":0', '"errors_total":9007199254740993'))
    bad("a number that overflows", text.replace('"errors_total":0', '"errors_total":1e400'))
    bad("NaN", text.replace('"ratio":1.0', '"ratio":NaN'))
    bad("no attestation", without(good, "attestation"))
    for value in (None, "x", [], {}):
        bad(f"an attestation that is {json.dumps(value)}", good | {"attestation": value})
    for name in ("key_version", "timestamp", "signature"):
        bad(f"no attestation.{name}", without(good, "attestation", name))
        for value in (None, 7, ["x"]):
            bad(f"attestation.{name} is {json.dumps(value)}", changed(good, value, "attestation", name))
    bad("neither verification_id nor trust_score: no context can be chosen", without(good, "verification_id"))
    bad("a score without trust_score", without(sign(SCORED), "trust_score"))
    bad("an unknown key does not excuse a duplicate", text_of(sign(FULL_PASS, UNLISTED)).replace('{"summary"', '{"result":"pass","summary"', 1))


CHAIN = ["v1-2026-06a", "v1-2026-07a", "v1-2026-08b", "v1-2026-09d"]


def word(by, heir, at, by_raw=None, heir_raw=None, context=SUCCESSION, message=None):
    """The word of one key for another; `message` replaces what is signed."""
    names = {
        "key_version": heir,
        "public_key": b64(heir_raw or public_key(heir)),
        "endorser_public_key": b64(by_raw or public_key(by)),
    }
    if message is None:
        message = jcs.canonical(envelope(names, by, at, context)).encode()
    return {"keyVersion": by, "attestedAt": at, "signature": b64(private_key(by).sign(message))}


def day(number):
    return f"2026-{6 + number:02}-01T00:00:00.000000+00:00"


def chain():
    """Four keys, each endorsed by the one before it; the last one signs."""
    listed = []
    for number, version in enumerate(CHAIN):
        listed.append(entry(version, status="current" if version == CHAIN[-1] else "previous"))
        if number:
            listed[-1]["endorsement"] = word(CHAIN[number - 1], version, day(number))
    return listed


def succession():
    first, second, third, last = CHAIN
    receipt = sign(full(REQUEST, (16, 16), (7, 7), version=last), last)

    def case_of(why, outcome, listed, expect=None, of=receipt, root=public_key(first)):
        case("succession", "20: " + why, of, outcome, expect, listed)
        FILES["succession"][-1]["input"]["root_key"] = b64(root)

    def after(change):
        listed = chain()
        change(listed)
        return listed

    def put(number, **members):
        return after(lambda listed: listed[number].update(members))

    def bad(why, listed, **more):
        case_of(why, "unknown_key", listed, **more)

    def told(version, status):
        return {"key_version": version, "key_status": status} | hashes()

    case_of("from the first key over two others to the one that signs", "valid", chain(), told(last, "current"))
    case_of("the list in another order", "valid", chain()[::-1], told(last, "current"))
    case_of("from a key in the middle", "valid", chain(), told(last, "current"), root=public_key(third))
    case_of("the root itself", "valid", chain(), told(last, "current"), root=public_key(last))
    for version in CHAIN[:3]:
        old = sign(full(REQUEST, (16, 16), (7, 7), version=version), version)
        case_of(f"a superseded key, {CHAIN.index(version)} after the root", "valid", chain(), told(version, "previous"), of=old)
    case_of("a key that waits is led to", "valid", put(3, status="next"), told(last, "next"))
    fork = put(3, endorsement=word(second, last, day(4)))
    case_of("two keys endorsed by one", "valid", fork, told(last, "current"))
    case_of("a compromised key is led to, and is compromised", "key_compromised", put(3, status="compromised"), told(last, "compromised"))
    own = sign(full(REQUEST, (16, 16), (7, 7), version=first), first)
    case_of("the root, compromised", "key_compromised", put(0, status="compromised"), told(first, "compromised"), of=own)
    old = sign(full(REQUEST, (16, 16), (7, 7), version=second), second)
    case_of("a key before the compromised one", "valid", put(2, status="compromised"), told(second, "previous"), of=old)
    case_of("a member more in an entry", "valid", put(3, note="x"), told(last, "current"))
    case_of("a receipt that was changed", "bad_signature", chain(), of=changed(receipt, "fail", "result"))

    bad("a root that is not listed", chain(), root=public_key(UNLISTED + "x"))
    bad("a later root than the receipt's key", chain(), root=public_key(last), of=own)
    bad("a gap", after(lambda listed: listed.pop(1)))
    bad("the root left out", after(lambda listed: listed.pop(0)))
    bad("no endorsement", after(lambda listed: listed[3].pop("endorsement")))
    for value in (None, "x", [], {}):
        bad(f"an endorsement that is {json.dumps(value)}", put(3, endorsement=value))
    honest = chain()[3]["endorsement"]
    for name in honest:
        bad(f"an endorsement without {name}", put(3, endorsement=without(honest, name)))
        bad(f"an endorsement whose {name} is null", put(3, endorsement=honest | {name: None}))
    bad("a member more in an endorsement: nobody signed it", put(3, endorsement=honest | {"note": "x"}))
    bad("a compromised root", put(0, status="compromised"))
    bad("a compromised endorser", put(2, status="compromised"))
    bad("a compromised key in between", put(1, status="compromised"))
    bad("an endorser that was never in use", put(2, status="next"))
    bad("an endorsement moved to another key", put(3, endorsement=chain()[2]["endorsement"]))
    bad("another endorser named", put(3, endorsement=honest | {"keyVersion": second}))
    bad("another time", put(3, endorsement=honest | {"attestedAt": day(4)}))
    bad("another spelling of the time", put(3, endorsement=word(third, last, "2026-09-01T00:00:00Z")))
    bad("a day that is none", put(3, endorsement=word(third, last, "2026-09-31T00:00:00.000000+00:00")))
    bad("dated before the endorser's own", put(3, endorsement=word(third, last, day(1))))
    bad("dated like the endorser's own", put(3, endorsement=word(third, last, day(2))))
    bad("by a later key", put(1, endorsement=word(last, second, day(1))))
    bad("by itself", put(3, endorsement=word(last, last, day(3))))
    bad("by a key that is not listed", put(3, endorsement=word(UNLISTED + "x", last, day(3))))
    ring = after(lambda listed: (listed[2].update(endorsement=word(last, third, day(3))), listed[3].update(endorsement=word(third, last, day(4)))))
    bad("two keys that endorse each other", ring)
    bad("another key in the place of the endorsed", put(3, publicKey=b64(public_key(UNLISTED + "x"))))
    bad("another key in the place of the endorser", put(2, publicKey=b64(public_key(UNLISTED + "x"))))
    bad("another key in the place of the root", put(0, publicKey=b64(public_key(UNLISTED + "x"))))
    bad("signed under the context of checks", put(3, endorsement=word(third, last, day(3), context=CHECK)))
    bad("signed for another public key", put(3, endorsement=word(third, last, day(3), heir_raw=public_key(second))))
    bad("signed in the name of another public key", put(3, endorsement=word(third, last, day(3), by_raw=public_key(second))))
    bad("signed for another version", put(3, endorsement=word(third, "v1-2026-09e", day(3), heir_raw=public_key(last))))
    text = honest["signature"]
    for why, spoiled in (("cut", text[:-4]), ("without padding", text.rstrip("=")), ("empty", ""), ("with a line end", text + "\n")):
        bad(f"a signature {why}", put(3, endorsement=honest | {"signature": spoiled}))


def layout(value, indent):
    """One line where it fits; escapes only, so that invisible characters stay visible."""
    line = json.dumps(value)
    if len(line) + indent <= 150 or not isinstance(value, (dict, list)) or not value:
        return line
    pad = "\n" + " " * (indent + 2)
    if isinstance(value, dict):
        inner = ("," + pad).join(json.dumps(k) + ": " + layout(v, indent + 2) for k, v in value.items())
        return "{" + pad + inner + "\n" + " " * indent + "}"
    return "[" + pad + ("," + pad).join(layout(v, indent + 2) for v in value) + "\n" + " " * indent + "]"


def main():
    golden(), valid(), with_inputs(), tampered(), signatures(), keys(), succession(), malformed()
    (HERE / "key-list.json").write_text(layout({"keys": KEYS}, 0) + "\n")
    for topic, cases in FILES.items():
        (HERE / f"{topic}.json").write_text(layout(cases, 0) + "\n")


if __name__ == "__main__":
    main()
