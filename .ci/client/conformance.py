"""One scenario of the MCP conformance suite. conformance.yml lists the single checks that need the suite's own fixture tools;
a check of the list that passes fails the row, so that the list cannot grow old."""

import subprocess
import sys
from pathlib import Path

from expected import MCP

REVISION, SCENARIO = sys.argv[1:]
BASELINE = Path(__file__).parent / "conformance.yml"

done = subprocess.run(["conformance", "server", "--url", MCP, "--scenario", SCENARIO, "--spec-version", REVISION,
                       "--expected-failures", BASELINE, "-o", "results"])
# A scenario that checked nothing has shown nothing.
assert list(Path("results").rglob("checks.json")), "the suite wrote no checks"
sys.exit(done.returncode)
