"""The description that is served holds against the OpenAPI specification, and is the one in docs/ but for the address."""

import json
import os
import urllib.request
from pathlib import Path

from expected import URL
from openapi_spec_validator import validate

with urllib.request.urlopen(f"{URL}/openapi.json") as answer:
    served = json.load(answer)
validate(served)
kept = json.loads((Path(os.environ["REPOSITORY"]) / "docs/openapi.json").read_text())
assert sorted(served["paths"]) == sorted(kept["paths"]), "docs/openapi.json is not what is served"
