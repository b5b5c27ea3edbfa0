"""What the sibling service's own software reads of an agent card and a payment manifest, and what it makes of it."""

import httpx
from expected import URL

card = httpx.get(f"{URL}/.well-known/agent-card.json").raise_for_status().json()
extensions = card["capabilities"]["extensions"]
[attestation] = [e for e in extensions if e["uri"].startswith("urn:json-schema-verifier:extension:attestation:")]
assert all(key["keyVersion"] and len(key["publicKey"]) == 44 for key in attestation["params"]["publicKeys"])
assert len(attestation["params"]["requestHashTestVectors"]) == 3
[mcp] = [e for e in extensions if e["uri"].endswith("mcp:v1")]
assert mcp["params"]["transport"] == "streamable-http" and mcp["params"]["url"].endswith("/mcp"), mcp
access = {tool["toolName"]: tool["access"] for tool in mcp["params"]["tools"]}
assert set(access) == {"verify_schema", "get_verification_record"}, access
# Free in open mode: a trial that holds the size of a body and no number of calls, and nothing after it.
assert set(access["verify_schema"]["freeTrial"]) == {"maxInputBytes"}, access
assert not any("afterFreeTrial" in each for each in access.values()), access

manifest = httpx.get(f"{URL}/.well-known/x402").raise_for_status().json()
assert manifest["x402Version"] == 2 and manifest["resources"] == [], manifest
draft = httpx.get(f"{URL}/.well-known/x402.json").raise_for_status().json()
assert draft["x402Version"] == 2 and draft["items"] == [], draft
