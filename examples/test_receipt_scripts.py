#!/usr/bin/env python3
"""Drives verify_receipt.py and verify_receipt.mjs over good receipts and over every way to spoil them.

    test_receipt_scripts.py [--receipts DIR [--keys FILE]]

Without arguments it takes the golden receipts of vectors/. DIR holds pairs NAME.request.json and
NAME.response.json, and public-keys.json or agent-card.json unless --keys names another list. Both scripts must
give the expected outcome and must not differ in a byte. Needs Python 3.11, `cryptography`, and Node 20.
"""

import argparse
import base64
import copy
import json
import random
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import verify_receipt as ours

HERE = Path(__file__).resolve().parent
VECTORS = HERE.parent / "vectors"
SCRIPTS = {"py": [sys.executable, str(HERE / "verify_receipt.py")], "mjs": ["node", str(HERE / "verify_receipt.mjs")]}
EXIT = {"valid": 0, "malformed": 2}
TEST_KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
OTHER_KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(1, 33)))

passed = failed = 0


def judge(name, holds, told=""):
    global passed, failed
    passed, failed = passed + holds, failed + (not holds)
    if not holds:
        print(f"FAILED {name}: {told}")


def run(texts, *options):
    """Both scripts over these receipts at once: per script its lines and its exit code."""
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for number, text in enumerate(texts):
            files.append(Path(folder) / f"{number}.json")
            files[-1].write_bytes(text if isinstance(text, bytes) else text.encode())
        answers = {}
        for script, command in SCRIPTS.items():
            done = subprocess.run([*command, *map(str, files), *map(str, options)], capture_output=True, timeout=120)
            answers[script] = (done.stdout.decode().splitlines(), done.returncode)
        return answers


def expect(cases, *options):
    """`cases` holds (name, receipt text, outcomes that are right); one run of each script for all of them."""
    answers = run([text for _, text, _ in cases], *options)
    for number, (name, _, outcomes) in enumerate(cases):
        lines = {script: answer[0][number] if number < len(answer[0]) else "" for script, answer in answers.items()}
        judge(f"{name}: both scripts agree", len(set(lines.values())) == 1, lines)
        for script, line in lines.items():
            outcome = json.loads(line)["outcome"] if line else "no answer"
            judge(f"{script}: {name}", outcome in outcomes, f"{outcome}, expected {' or '.join(outcomes)}")
    for script, (lines, code) in answers.items():
        worst = max((EXIT.get(json.loads(line)["outcome"], 1) for line in lines), default=None)
        judge(f"{script}: exit code over {cases[0][0]} and others", code == worst, f"{code}, expected {worst}")


def sign(response, key=TEST_KEY, context=ours.CHECK_CONTEXT, version="test-1", timestamp=None):
    """A receipt over `response` by a key of this test."""
    timestamp = timestamp or response.get("verified_at") or response["computed_at"]
    signed = {"context": context, "algorithm": "Ed25519", "key_version": version, "attested_at": timestamp}
    message = ours.canonical(strict(signed | {"response": response})).encode()
    signature = base64.b64encode(key.sign(message)).decode()
    attestation = {"algorithm": "Ed25519", "key_version": version, "timestamp": timestamp, "signature": signature}
    return response | {"attestation": attestation}


def strict(value):
    return ours.read_json(json.dumps(value).encode(), 100)


def raw_public(key):
    return base64.b64encode(key.public_key().public_bytes_raw()).decode()


def key_list(**statuses):
    entry = {"keyVersion": "test-1", "algorithm": "Ed25519", "publicKey": raw_public(TEST_KEY)}
    return [entry | statuses]


# Ways to spoil a receipt.


def containers(value, place="$"):
    """Every object and array with its place, the root first."""
    if isinstance(value, (dict, list)):
        yield place, value
        for step, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from containers(inner, f"{place}.{step}")


def other(value):
    if isinstance(value, bool):
        return [not value, None, int(value)]
    if isinstance(value, str):
        return [value + " ", value[:-1] if value else "x", None]
    if isinstance(value, (int, float)):
        return [value + 1, str(value), None]
    if value is None:
        return [False, "null"]
    return [None, [] if value else [0], {} if value else {"a": 0}]


def spoiled(receipt):
    """(name, receipt) with one member or element changed, removed or added, at every depth."""
    for number, (place, container) in enumerate(containers(receipt)):

        def variant(spoil):
            twin = copy.deepcopy(receipt)
            spoil([inner for _, inner in containers(twin)][number])
            return twin

        is_object = isinstance(container, dict)
        for step in list(container) if is_object else range(len(container)):
            for value in other(container[step]):
                yield f"{place}.{step} changed", variant(lambda c: c.__setitem__(step, value))
            yield f"{place}.{step} removed", variant(lambda c: c.__delitem__(step))
        if is_object:
            yield f"{place} with a member more", variant(lambda c: c.__setitem__("zz", None))
        else:
            yield f"{place} with an element more", variant(lambda c: c.append(None))


def with_duplicates(receipt):
    """(name, text) with one member told twice, at every depth, plain and escaped."""
    for number, (place, container) in enumerate(containers(receipt)):
        for name in container if isinstance(container, dict) else []:
            twin = copy.deepcopy(receipt)
            [inner for _, inner in containers(twin)][number]["again"] = container[name]
            text = json.dumps(twin)
            for spelling in [name, f"\\u{ord(name[0]):04x}{name[1:]}"]:
                yield f"{place}.{name} twice", text.replace('"again":', f'"{spelling}":')


def bad_signatures(receipt):
    attestation = receipt["attestation"]
    raw = base64.b64decode(attestation["signature"])
    malleable = raw[:32] + (int.from_bytes(raw[32:], "little") + ours.ORDER).to_bytes(32, "little")
    response = {name: member for name, member in receipt.items() if name != "attestation"}
    version, timestamp = attestation["key_version"], attestation["timestamp"]
    stray = chr(ord(attestation["signature"][-3]) + 1)  # The last four bits of A, Q, g and w are zero and unused.
    signatures = {
        "the signature cut": base64.b64encode(raw[:-1]).decode(),
        "the signature empty": "",
        "the signature with a byte more": base64.b64encode(raw + b"\0").decode(),
        "S + L in place of S": base64.b64encode(malleable).decode(),
        "R of small order": base64.b64encode(b"\1" + bytes(31) + raw[32:]).decode(),
        "the signature without padding": attestation["signature"].rstrip("="),
        "the signature with a line end": attestation["signature"] + "\n",
        "the signature in base64url": base64.urlsafe_b64encode(b"\xff" * 64).decode(),
        "the signature with stray bits": attestation["signature"][:-3] + stray + "==",
        "the signature by another key": sign(response, OTHER_KEY, version=version, timestamp=timestamp)["attestation"]["signature"],
    }
    for name, signature in signatures.items():
        yield name, receipt | {"attestation": attestation | {"signature": signature}}


def reorder(value):
    """The same value with the members of every object the other way round."""
    if isinstance(value, dict):
        return {name: reorder(member) for name, member in reversed(value.items())}
    return [reorder(element) for element in value] if isinstance(value, list) else value


def whole_as_integers(value):
    if isinstance(value, dict):
        return {name: whole_as_integers(member) for name, member in value.items()}
    if isinstance(value, list):
        return [whole_as_integers(element) for element in value]
    return int(value) if isinstance(value, float) and value == int(value) else value


# The tests.


def test_receipt(name, response_file, request_file, keys):
    text = response_file.read_text()
    receipt = json.loads(text)
    good = [
        ("as it came", text),
        ("members reordered", json.dumps(reorder(receipt), indent=1)),
        ("1 written for 1.0", json.dumps(whole_as_integers(receipt))),
        ("without white space", json.dumps(receipt, separators=(",", ":"))),
        ("with an escape", json.dumps(receipt).replace("https", "\\u0068ttps")),
    ]
    expect([(f"{name} {how}", text, ["valid"]) for how, text in good], "--keys", keys, "--request", request_file)
    refused = ["bad_signature", "unknown_key", "malformed"]
    bad = [(f"{name}: {how}", json.dumps(twin), refused) for how, twin in spoiled(receipt)]
    bad += [(f"{name}: {how}", twin, ["malformed"]) for how, twin in with_duplicates(receipt)]
    bad += [(f"{name}: {how}", json.dumps(twin), ["bad_signature"]) for how, twin in bad_signatures(receipt)]
    bad.append((f"{name}: something behind it", text + "{}", ["malformed"]))
    bad.append((f"{name}: a byte order mark before it", "\ufeff" + text, ["malformed"]))
    expect(bad, "--keys", keys)
    whole = [(f"{name}, some other key", text, ["bad_signature"])]
    expect(whole, "--public-key", raw_public(OTHER_KEY))
    test_inputs(name, text, json.loads(request_file.read_text()), keys)


def test_inputs(name, text, request, keys):
    """Each hashed input as it was, then changed."""
    with tempfile.TemporaryDirectory() as folder:

        def saved(value):
            file = Path(folder) / "input.json"
            file.write_text(json.dumps(value))
            return file

        rules = {member: request[member] for member in ["rules", "bounds"] if member in request}
        inputs = [("output", request["submitted_output"], "output_hash"), ("schema", request["expected_schema"], "schema_hash")]
        for option, value, member in [*inputs, ("rules", rules, "rules_hash")]:
            expect([(f"{name}, --{option}", text, ["valid"])], "--keys", keys, f"--{option}", saved(value))
            changed = {"rules": [{"type": "unique", "field": "a"}]} if option == "rules" else [value]
            expect([(f"{name}, another --{option}", text, ["hash_mismatch"])], "--keys", keys, f"--{option}", saved(changed))
            answers = run([text], "--keys", keys, f"--{option}", saved(value))
            hashes = json.loads(answers["py"][0][0])["hashes"]
            others = {told for hashed, told in hashes.items() if hashed != member}
            judge(f"{name}, --{option} says match of {member} alone", hashes[member] == "match" and others == {"not_checked"})
        full = "request_hash" in json.loads(text)
        changes = [("submitted_output", [0]), ("expected_schema", {"type": "null"}), ("rules", None)]
        if full:
            changes += [("task_id", "other"), ("agent_id", None), ("enforce_rules", not request.get("enforce_rules", False))]
        for member, value in changes:
            twin = request | {member: value}
            if twin != request:
                expect([(f"{name}, --request with another {member}", text, ["hash_mismatch"])], "--keys", keys, "--request", saved(twin))
        twin = request | {"detail": "compact"}
        expect([(f"{name}, detail is not hashed", text, ["valid"])], "--keys", keys, "--request", saved(twin))


def test_vectors(folder):
    """The cases of vectors/receipt, which the service's own code is held to as well."""
    groups = {}
    for file in ["valid", "tampered", "malformed", "signatures", "keys", "succession", "hashes"]:
        for vector in json.loads((folder / f"{file}.json").read_text()):
            given = dict(vector["input"])
            receipt, expected = given.pop("receipt"), vector["expect"]["outcome"]
            if isinstance(given["keys"], str):
                given["keys"] = json.loads((folder / given["keys"]).read_text())
            outcomes = [expected] if isinstance(expected, str) else expected
            groups.setdefault(json.dumps(given), []).append((f"vector {file}: {vector['why']}", receipt, outcomes))
    for given, cases in groups.items():
        given = json.loads(given)
        with tempfile.TemporaryDirectory() as name:

            def saved(option, text):
                file = Path(name) / option
                file.write_text(text)
                return [f"--{option}", file]

            options = saved("keys", json.dumps(given["keys"]))
            options += ["--root-key", given["root_key"]] if "root_key" in given else []
            for option, member in [("request", "request"), ("output", "submitted_output"), ("schema", "expected_schema")]:
                options += saved(option, given[member]) if member in given else []
            rules = [f'"{member}":{given[member]}' for member in ["rules", "bounds"] if member in given]
            options += saved("rules", "{" + ",".join(rules) + "}") if rules else []
            expect(cases, *options)


def test_own_receipts():
    """What the golden receipts cannot show: other contexts, key states, numbers, texts at the edge of JSON."""
    check = json.loads((VECTORS / "invoice-final.response.json").read_text())
    check.pop("attestation")
    score = {"agent_id": "a", "trust_score": 0.9, "sample_size": 10, "computed_at": "2026-10-01T00:00:00.000000+00:00"}
    with tempfile.TemporaryDirectory() as folder:

        def saved(value, name="keys.json"):
            file = Path(folder) / name
            file.write_text(value if isinstance(value, str) else json.dumps(value))
            return file

        signed = json.dumps(sign(check))
        cases = [
            ("a check by the test key", sign(check), ["valid"]),
            ("a score by the test key", sign(score, context=ours.SCORE_CONTEXT), ["valid"]),
            ("a check under the score context", sign(check, context=ours.SCORE_CONTEXT), ["bad_signature"]),
            ("a score under the check context", sign(score), ["bad_signature"]),
            ("a check under some other context", sign(check, context="verdict/v1"), ["bad_signature"]),
            ("signed anew at a later time", sign(check, timestamp="2027-01-01T00:00:00.000000+00:00"), ["valid"]),
            ("a key version that is not listed", sign(check, version="test-2"), ["unknown_key"]),
            ("both a check and a score", sign(check | {"trust_score": 1}), ["malformed"]),
            ("neither a check nor a score", sign({"computed_at": "x"}), ["malformed"]),
            ("a list", [], ["malformed"]),
            ("names beyond the basic plane", sign(check | {"\U0001f600": 1, "\ufb33": 2, "__proto__": 3, "10": 4, "9": 5}), ["valid"]),
        ]
        cases = [(name, json.dumps(receipt), outcomes) for name, receipt, outcomes in cases]
        card = {"capabilities": {"extensions": [{"uri": "urn:x"}, {"uri": ours.CARD_EXTENSION + "v1", "params": {"publicKeys": key_list()}}]}}
        for form in [key_list(), {"keys": key_list()}, {"publicKeys": key_list()}, card]:
            expect(cases, "--keys", saved(form))
        previous, compromised = key_list(status="previous"), key_list(status="compromised")
        expect([("a previous key", signed, ["valid"])], "--keys", saved(previous))
        expect([("a compromised key", signed, ["key_compromised"])], "--keys", saved(compromised))
        small = key_list(publicKey=base64.b64encode(b"\1" + bytes(31)).decode())
        forged = json.loads(signed)
        forged["attestation"]["signature"] = base64.b64encode(b"\1" + bytes(63)).decode()
        expect([("a key of small order", json.dumps(forged), ["bad_signature"])], "--keys", saved(small))
        expect([("a listed key that is no key", signed, ["unknown_key"])], "--keys", saved(key_list(publicKey="AAAA")))

        at = signed.index("{") + 1
        texts = {
            '"n":01,': False, '"n":1.,': False, '"n":.5,': False, '"n":+1,': False, '"n":0x1,': False, '"n":NaN,': False,
            '"n":-Infinity,': False, '"n":1e400,': False, '"n":0.3e+,': False, '"n":9007199254740993,': False,
            '"n":18446744073709551615,': False, '"n":-9007199254740993,': False, '"n":"\\ud800",': False,
            '"n":"\\ude00\\ud83d",': False, '"\\ud800":1,': False, '"n":"\\x41",': False, '"n":"a\tb",': False,
            "'n':1,": False, '"n":[1,],': False, '"n":{"a":1,},': False, ",": False, '"n":tru,': False, '"n":"\\u12",': False,
            "/**/": False, "\xa0": False, '"n":[1 2],': False, '"n":{"a" 1},': False, "n:1,": False,
            '"n":' + "[" * 64 + "]" * 64 + ",": False, '"n":' + "[" * 100_000 + "]" * 100_000 + ",": False,
            '"n":' + "[" * 63 + "]" * 63 + ",": True, '"n":9007199254740991,': True, '"n":100000000000000000000,': True,
            '"n":9007199254740993.0,': True, '"n":-0,': True, '"n":1e-400,': True, '"n":"\\ud83d\\ude00\\/",': True,
            '"n":"' + "\\n" * 200_000 + "x" * 500_000 + '",': True, "\r\n\t ": True, '"n":"\x7f\u2028",': True,
        }
        # Whatever can be read is no longer what was signed, so it is told apart from what cannot be.
        cases = []
        for text, readable in texts.items():
            outcome = "valid" if not text.strip(" \r\n\t") else "bad_signature" if readable else "malformed"
            cases.append((f"a receipt with {text[:24]!r}", signed[:at] + text + signed[at:], [outcome]))
        cases.append(("bytes that are not UTF-8", signed[:at].encode() + b'"n":"\xff",' + signed[at:].encode(), ["malformed"]))
        cases += [("an empty text", "", ["malformed"]), ("half a receipt", signed[: len(signed) // 2], ["malformed"])]
        expect(cases, "--keys", saved(key_list()))

        for vector in json.loads((VECTORS / "request-hash.json").read_text()):
            hashes = ours.request_hashes(strict(vector["request"]))
            judge(f"request_hash of {vector['name']}", hashes["request_hash"] == vector["request_hash"])
            expect(
                [(f"the request of vector {vector['name']}", json.dumps(sign(check | hashes)), ["valid"])],
                "--keys", saved(key_list()), "--request", saved(vector["request"], "request.json"),
            )

        numbers = saved("[" + ",".join(many_numbers()) + "]", "numbers.json")
        digest = ours.sha256(ours.read_json(numbers.read_bytes(), 2))
        receipt = json.dumps(sign(check | {"output_hash": digest}))
        expect([("the canonical form of many numbers", receipt, ["valid"])], "--keys", saved(key_list()), "--output", numbers)
        nothing = "1f775c90569b00e3e1574c29268cbb78953b2bb264c2df9a04c41fbf555fc918"
        judge("rules_hash of nothing", ours.rules_hash({}) == nothing)
        empty = "a1d53e596bab0a8404291bb60cc7baf00371a823c2cf163a763b2b7e6bceb571"
        judge("rules_hash of empty rules and bounds", ours.rules_hash({"rules": [], "bounds": {}}) == empty)
        known = {1e-6: "0.000001", 295147905179352830000.0: "295147905179352830000", -0.0: "0", 1e21: "1e+21", 5e-324: "5e-324",
                 1e-7: "1e-7", 123e-9: "1.23e-7", 1.5: "1.5", -1e300: "-1e+300", 333333333.3333333: "333333333.3333333"}
        for number, spelling in known.items():
            judge(f"{spelling} in canonical form", ours.ecmascript(number) == spelling, ours.ecmascript(number))

        usage = [
            ("no key", []), ("two keys", ["--keys", saved(key_list()), "--public-key", raw_public(TEST_KEY)]),
            ("a public key that is none", ["--public-key", "AAAA"]), ("a key file that is missing", ["--keys", "/nonexistent"]),
            ("a key file without keys", ["--keys", saved({"a": 1}, "a.json")]),
            ("a key listed twice", ["--keys", saved(key_list() * 2, "b.json")]),
            ("a root key without a list", ["--public-key", raw_public(TEST_KEY), "--root-key", raw_public(TEST_KEY)]),
            ("an empty root key", ["--keys", saved(key_list(status="current", publicKeyEncoding=ours.KEY_ENCODING), "e.json"), "--root-key", ""]),
            ("a list to follow that tells no status", ["--keys", saved(key_list(publicKeyEncoding=ours.KEY_ENCODING), "f.json"), "--root-key", raw_public(TEST_KEY)]),
            ("a list to follow that tells no encoding", ["--keys", saved(key_list(status="current"), "g.json"), "--root-key", raw_public(TEST_KEY)]),
            ("a request that is none", ["--keys", saved(key_list()), "--request", saved([1], "c.json")]),
            ("rules that are none", ["--keys", saved(key_list()), "--rules", saved({"field": {}}, "d.json")]),
        ]
        for name, options in usage:
            for script, (lines, code) in run([signed], *options).items():
                judge(f"{script}: {name} is exit 2", (lines, code) == ([], 2), f"{code}")


def many_numbers():
    choice = random.Random(8785)
    for _ in range(3000):
        number = struct.unpack("<d", choice.randbytes(8))[0]
        if number == number and abs(number) != float("inf"):
            yield repr(number)
        yield repr(choice.randint(-(10**9), 10**9) / 100)
        yield f"1e{choice.randint(-330, 308)}"


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--receipts", type=Path, metavar="DIR", help="pairs NAME.request.json, NAME.response.json")
    options.add_argument("--keys", type=Path, metavar="FILE", help="the key list for --receipts")
    options = options.parse_args()
    folder = options.receipts or VECTORS
    lists = [options.keys] if options.keys else [folder / "public-keys.json", folder / "agent-card.json"]
    keys = next(file for file in lists if file.exists())
    responses = sorted(folder.glob("*.response.json"))
    judge(f"receipts in {folder.name}", bool(responses), "none found")
    for response in responses:
        name = response.name.removesuffix(".response.json")
        test_receipt(name, response, response.with_name(f"{name}.request.json"), keys)
    test_own_receipts()
    test_vectors(VECTORS / "receipt")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
