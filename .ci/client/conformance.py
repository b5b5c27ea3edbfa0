"""One scenario of the MCP conformance suite. conformance.yml lists the single checks that need the suite's own fixture tools;
a check of the list that passes fails the row, so that the list cannot grow old."""

import json
import subprocess
import sys
from pathlib import Path

from expected import MCP

REVISION, SCENARIO = sys.argv[1:]
BASELINE = Path(__file__).parent / "conformance.yml"

done = subprocess.run(["conformance", "server", "--url", MCP, "--scenario", SCENARIO, "--spec-version", REVISION,
                       "--expected-failures", BASELINE, "-o", "results"], capture_output=True, text=True)
[results] = Path("results").rglob("checks.json")
checks = json.loads(results.read_text())
# A scenario that checked nothing has shown nothing.
assert any(check["status"] == "SUCCESS" for check in checks), checks
for check in checks:
    if check["status"] not in ("SUCCESS", "INFO"):
        print(check["status"], check["id"], check.get("errorMessage", ""))
print(done.stdout[-800:], done.stderr)
sys.exit(done.returncode)
