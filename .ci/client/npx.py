"""`npx` as the pages of docs/integrations call it: the pinned package of that name and exactly that version, not fetched."""

import json
import os
import sys
from pathlib import Path

called, *arguments = sys.argv[2:] if sys.argv[1] == "-y" else sys.argv[1:]
name, _, version = called.rpartition("@")
package = Path(os.environ["CLIENT_SCRIPTS"]) / "node_modules" / name / "package.json"
installed = json.loads(package.read_text())["version"]
if installed != version:
    raise SystemExit(f"the page says {called}, the pin is {installed}")
os.execvp(name, [name, *arguments])
