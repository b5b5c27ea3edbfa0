#!/usr/bin/env python3
"""Checks signed receipts without any code of the service that issued them.

    verify_receipt.py RECEIPT... (--keys FILE [--root-key BASE64] | --public-key BASE64)
                      [--request FILE] [--output FILE] [--schema FILE] [--rules FILE]

A receipt is an answer of the service, saved as it came; `-` is standard input. The key comes from a list that
you already trust (an agent card, or a list of keys), never from the receipt; with --root-key the list may come
from anywhere, since only what that one key leads to by endorsements counts. With the files that were checked at
hand, the hashes in the receipt are recomputed and compared. It prints one line of JSON per receipt.

Exit code: 0 valid; 1 not valid; 2 not a receipt, or a file that could not be read.
Needs Python 3.11 and the package `cryptography`. verify_receipt.mjs does the same with Node alone.
"""

import argparse
import base64
import hashlib
import json
import re
import sys
from datetime import datetime

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

CHECK_CONTEXT = "json-schema-verifier/verify-schema-attestation/v1"
SCORE_CONTEXT = "json-schema-verifier/trust-score-attestation/v1"
SUCCESSION_CONTEXT = "countersign/key-succession/v1"
CARD_EXTENSION = "urn:json-schema-verifier:extension:attestation:"
RECEIPT_LEVELS = 64  # Nesting of a receipt.
INPUT_LEVELS = 67  # Nesting of the other files: 64 for a value, and the levels of a request around it.
INTEGER_MAX = 2**53 - 1
LIST_MAX = 10_000  # Entries of a key list.
CHAIN_MAX = 1_000  # Endorsements between the root key and a receipt's key.
KEY_ENCODING = "base64 of the raw 32-byte Ed25519 public key"
STATUSES = ["next", "current", "previous", "compromised"]
HALF_PAIR = re.compile("[\ud800-\udfff]")


class Malformed(Exception):
    """The text is not what it should be; nothing can be decided about it."""


# Strict JSON: one text, one reading.


def read_json(data, levels):
    try:
        value = json.loads(
            data.decode("utf-8"),
            object_pairs_hook=members,
            parse_int=read_integer,
            parse_float=read_float,
            parse_constant=refuse_constant,
        )
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise Malformed(f"not JSON in UTF-8: {error}") from None
    check(value, levels)
    return value


def members(pairs):
    found = dict(pairs)
    if len(found) < len(pairs):
        raise Malformed("two members of one object have the same name")
    return found


def read_float(literal):
    number = float(literal)
    if number in (float("inf"), float("-inf")):
        raise Malformed("a number is too large for a double")
    return number


def read_integer(literal):
    number = read_float(literal)
    if abs(number) > INTEGER_MAX and ecmascript(number) != literal:
        raise Malformed("an integer would not keep its digits")
    return number


def refuse_constant(literal):
    raise Malformed(f"{literal} is not JSON")


def check(value, levels):
    """Refuses half surrogate pairs, and nesting over so many levels."""
    if isinstance(value, str) and HALF_PAIR.search(value):
        raise Malformed("half a surrogate pair")
    if isinstance(value, (dict, list)):
        if levels == 0:
            raise Malformed("nested too deep")
        for name in value if isinstance(value, dict) else []:
            check(name, 0)
        for inner in value.values() if isinstance(value, dict) else value:
            check(inner, levels - 1)


# RFC 8785: the canonical form. All numbers are doubles here.


def canonical(value):
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, float):
        return ecmascript(value)
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    names = sorted(value, key=lambda name: name.encode("utf-16-be"))
    return "{" + ",".join(canonical(name) + ":" + canonical(value[name]) for name in names) + "}"


def ecmascript(number):
    """ECMAScript's Number::toString. repr() finds the same shortest digits, but lays them out differently."""
    if number == 0:
        return "0"
    sign = "-" if number < 0 else ""
    mantissa, _, exponent = repr(abs(number)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    point = int(exponent or 0) - len(fraction) + len(digits)  # number = 0.digits * 10**point
    digits = digits.rstrip("0")
    count = len(digits)
    if count <= point <= 21:
        return sign + digits + "0" * (point - count)
    if 0 < point <= 21:
        return sign + digits[:point] + "." + digits[point:]
    if -6 < point <= 0:
        return sign + "0." + "0" * -point + digits
    fraction = "." + digits[1:] if count > 1 else ""
    return f"{sign}{digits[0]}{fraction}e{point - 1:+d}"


def sha256(value):
    return hashlib.sha256(canonical(value).encode()).hexdigest()


# What a receipt says about its inputs.


def request_hashes(request):
    if not isinstance(request, dict) or not request.keys() >= {"task_id", "expected_schema", "submitted_output"}:
        raise Malformed("the request lacks task_id, expected_schema or submitted_output")
    rule = dict.fromkeys(["equals_field", "equals", "other_field", "value", "in_field", "values"])
    rule |= {"tolerance": 1e-9, "if_present": False}
    bound = {"min": None, "max": None, "if_present": False}
    try:
        full = {"agent_id": None, "enforce_rules": False, "strict_content_check": False} | request
        full.pop("detail", None)
        full["rules"] = [rule | given for given in request.get("rules") or []] or None
        full["bounds"] = {path: bound | given for path, given in (request.get("bounds") or {}).items()} or None
    except (TypeError, AttributeError):
        raise Malformed("the rules or bounds of the request are of the wrong type") from None
    return {
        "output_hash": sha256(request["submitted_output"]),
        "schema_hash": sha256(request["expected_schema"]),
        "rules_hash": rules_hash({"rules": request.get("rules"), "bounds": request.get("bounds")}),
        "request_hash": sha256(full),
    }


def rules_hash(supplied):
    if isinstance(supplied, list):
        supplied = {"rules": supplied}
    if not isinstance(supplied, dict) or not supplied.keys() <= {"rules", "bounds"}:
        raise Malformed('the rules file holds neither an array nor {"rules": ..., "bounds": ...}')
    return sha256({"rules": None, "bounds": None} | supplied)


# Ed25519, strictly.

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
ORDER_8_Y = 0x7A03AC9277FDC74EC6CC392CFA53202A0F67100D760B3CBA4FD84D3D706A17C7
SMALL_ORDER_Y = {0, 1, P - 1, ORDER_8_Y, P - ORDER_8_Y}


def sound_point(encoded):
    y = int.from_bytes(encoded, "little") % 2**255
    return y < P and y not in SMALL_ORDER_Y


def signature_holds(key, signature, message):
    point, scalar = signature[:32], int.from_bytes(signature[32:], "little")
    if not (sound_point(key) and sound_point(point) and scalar < ORDER):
        return False
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, message)
        return True
    except (InvalidSignature, ValueError):
        return False


def read_base64(text, length):
    """The bytes, or None where the text is not the one padded base64 spelling of so many."""
    try:
        data = base64.b64decode(text, validate=True)
    except (TypeError, ValueError):
        return None
    return data if len(data) == length and base64.b64encode(data).decode() == text else None


# Keys and receipts.


def read_keys(document):
    """The entries of a key list by key version: a bare array, `keys`, `publicKeys`, or an agent card."""
    try:
        if isinstance(document, dict) and "capabilities" in document:
            extensions = document["capabilities"]["extensions"]
            document = next(e for e in extensions if e["uri"].startswith(CARD_EXTENSION))["params"]
        if isinstance(document, dict):
            document = document["keys"] if "keys" in document else document["publicKeys"]
        if len(document) > LIST_MAX:
            raise Malformed("the key file is too long for one service's keys")
        entries = [entry for entry in document if entry["algorithm"] == "Ed25519"]
        keys = {entry["keyVersion"]: entry for entry in entries}
    except (AttributeError, KeyError, StopIteration, TypeError):
        raise Malformed("the key file holds no list of keys") from None
    if len(keys) < len(entries):
        raise Malformed("the key file lists a key version twice")
    return keys


def check_whole(keys):
    """A list that is not trusted has to say everything: what an entry leaves out would be filled in with the best."""
    for entry in keys.values():
        known = entry.get("status") in STATUSES and entry.get("publicKeyEncoding") == KEY_ENCODING
        if not known or not read_base64(entry.get("publicKey"), 32):
            raise Malformed("an entry of the key file lacks a known status, publicKeyEncoding or publicKey")
    if len({entry["publicKey"] for entry in keys.values()}) < len(keys):
        raise Malformed("the key file lists a key under two versions")


def led_to(root, keys, version):
    """The entry of this version, if valid endorsements lead to it from the root key; an empty one otherwise."""
    found = heir = keys.get(version, {})
    before, steps = None, []
    while heir and heir["publicKey"] != root:
        word = heir.get("endorsement")
        if not isinstance(word, dict) or sorted(word) != ["attestedAt", "keyVersion", "signature"]:
            return {}
        endorser, time = keys.get(word["keyVersion"]) if isinstance(word["keyVersion"], str) else None, word["attestedAt"]
        # Whoever has a compromised key can make any endorsement, of any date; a key that waits made none yet.
        if not endorser or endorser["status"] not in ["current", "previous"]:
            return {}
        if not is_time(time) or (before and time >= before) or len(steps) == CHAIN_MAX:
            return {}
        steps.append((word, endorser, heir))
        heir, before = endorser, time
    return found if all(endorses(*step) for step in steps) else {}


def endorses(word, endorser, heir):
    names = {"key_version": heir["keyVersion"], "public_key": heir["publicKey"], "endorser_public_key": endorser["publicKey"]}
    signed = {
        "context": SUCCESSION_CONTEXT,
        "algorithm": "Ed25519",
        "key_version": endorser["keyVersion"],
        "attested_at": word["attestedAt"],
        "response": names,
    }
    signature = read_base64(word["signature"], 64)
    return signature is not None and signature_holds(read_base64(endorser["publicKey"], 32), signature, canonical(signed).encode())


def is_time(text):
    """Whether this is a time in its one spelling, in which earlier times sort first."""
    try:
        return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%f+00:00").strftime("%Y-%m-%dT%H:%M:%S.%f+00:00") == text
    except (TypeError, ValueError):
        return False


def read_receipt(data):
    receipt = read_json(data, RECEIPT_LEVELS)
    if not isinstance(receipt, dict) or ("verification_id" in receipt) == ("trust_score" in receipt):
        raise Malformed("neither the answer of a check nor a score")
    attestation = receipt.pop("attestation", None)
    if not isinstance(attestation, dict) or sorted(attestation) != ["algorithm", "key_version", "signature", "timestamp"]:
        raise Malformed("no attestation of the known form")
    if not all(isinstance(member, str) for member in attestation.values()) or attestation["algorithm"] != "Ed25519":
        raise Malformed("no attestation by Ed25519")
    return receipt, attestation


def verify(receipt, attestation, keys, public_key, root_key, known):
    """The answer for one receipt. `known` holds (name, hash) pairs of the inputs at hand."""
    version = attestation["key_version"]
    entry = led_to(root_key, keys, version) if root_key is not None else (keys or {}).get(version, {})
    key = public_key or read_base64(entry.get("publicKey"), 32)
    is_check = "verification_id" in receipt
    signed = {
        "context": CHECK_CONTEXT if is_check else SCORE_CONTEXT,
        "algorithm": "Ed25519",
        "key_version": attestation["key_version"],
        "attested_at": attestation["timestamp"],
        "response": receipt,
    }
    hashes = {}
    for name in ["output_hash", "schema_hash", "rules_hash", "request_hash"]:
        if name in receipt:
            same = [receipt[name] == computed for given, computed in known if given == name]
            hashes[name] = "not_checked" if not same else "match" if all(same) else "mismatch"
    signature = read_base64(attestation["signature"], 64)
    if key is None:
        outcome = "unknown_key"
    elif signature is None or not signature_holds(key, signature, canonical(signed).encode()):
        outcome = "bad_signature"
    elif "mismatch" in hashes.values():
        outcome = "hash_mismatch"
    elif entry.get("status") == "compromised":
        outcome = "key_compromised"
    else:
        outcome = "valid"
    return answer(outcome, attestation["key_version"], entry.get("status"), attestation["timestamp"], hashes)


def answer(outcome, key_version=None, key_status=None, attested_at=None, hashes=None):
    names = {"outcome": outcome, "key_version": key_version, "key_status": key_status, "attested_at": attested_at}
    return names | {"hashes": hashes or {}}


def read_file(name):
    if name == "-":
        return sys.stdin.buffer.read()
    with open(name, "rb") as file:
        return file.read()


def main():
    options = argparse.ArgumentParser(description="Checks signed receipts without the service that issued them.")
    options.add_argument("receipts", nargs="+", metavar="RECEIPT", help="a file, or - for standard input")
    trusted = options.add_mutually_exclusive_group(required=True)
    trusted.add_argument("--keys", metavar="FILE", help="an agent card or a list of keys that you trust")
    trusted.add_argument("--public-key", metavar="BASE64", help="the one key that you trust")
    options.add_argument("--root-key", metavar="BASE64", help="trust only this key of --keys, and what it leads to")
    for name in ["request", "output", "schema", "rules"]:
        options.add_argument(f"--{name}", metavar="FILE", help=f"the {name} that was checked, as JSON")
    options = options.parse_args()
    try:
        keys = options.keys and read_keys(read_json(read_file(options.keys), INPUT_LEVELS))
        public_key = options.public_key and read_base64(options.public_key, 32)
        if options.public_key and not public_key:
            raise Malformed("--public-key is not the base64 of 32 bytes")
        if options.root_key is not None:
            if not keys or not read_base64(options.root_key, 32):
                raise Malformed("--root-key is not the base64 of 32 bytes, or there is no --keys")
            check_whole(keys)
        known = []
        if options.request:
            known += request_hashes(read_json(read_file(options.request), INPUT_LEVELS)).items()
        for name, hashed in [("output", sha256), ("schema", sha256), ("rules", rules_hash)]:
            if getattr(options, name):
                known.append((f"{name}_hash", hashed(read_json(read_file(getattr(options, name)), INPUT_LEVELS))))
        texts = [read_file(name) for name in options.receipts]
    except (Malformed, OSError) as error:
        print(f"verify_receipt: {error}", file=sys.stderr)
        return 2
    worst = 0
    for text in texts:
        try:
            result = verify(*read_receipt(text), keys, public_key, options.root_key, known)
            worst = max(worst, 0 if result["outcome"] == "valid" else 1)
        except Malformed as error:
            print(f"verify_receipt: {error}", file=sys.stderr)
            result, worst = answer("malformed"), 2
        print(json.dumps(result, ensure_ascii=False, separators=(",", ":")))
    return worst


if __name__ == "__main__":
    sys.exit(main())
