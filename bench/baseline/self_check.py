"""Asserts that all baselines do the work of the contract: every member of the golden answers but those that
depend on time, key and host, and a signature over the right bytes."""

import base64
import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
VECTORS = HERE.parents[1] / "vectors"
sys.path.insert(0, str(HERE))

import contract  # noqa: E402
import plain  # noqa: E402
import tuned  # noqa: E402
import tuned_canonical  # noqa: E402

OWN = ["verification_id", "verified_at", "verify", "attestation"]

checked = 0
for name in ["invoice-draft", "invoice-final"]:
    body = (VECTORS / f"{name}.request.json").read_bytes()
    golden = json.loads((VECTORS / f"{name}.response.json").read_text())
    for baseline in [plain, tuned, tuned_canonical]:
        answer = json.loads(json.dumps(baseline.verify(body)))
        assert list(answer) == list(golden), (name, list(answer))
        for member in golden:
            assert member in OWN or answer[member] == golden[member], (name, member, answer[member])
        attestation = answer.pop("attestation")
        signed = {
            "context": contract.CONTEXT,
            "algorithm": "Ed25519",
            "key_version": attestation["key_version"],
            "attested_at": attestation["timestamp"],
            "response": answer,
        }
        contract.KEY.public_key().verify(base64.b64decode(attestation["signature"]), contract.canonical(signed))
        checked += 1
for vector in json.loads((VECTORS / "request-hash.json").read_text()):
    value = contract.parse(vector["canonical"].encode())
    for baseline_canonical in [contract.canonical, tuned_canonical.canonical]:
        assert baseline_canonical(value).decode() == vector["canonical"], vector["name"]
        checked += 1
print(f"{checked} passed, 0 failed")
