"""Codex accepts the configuration and lists it. Whether it connects only a session with a model would show."""

import subprocess

from expected import MCP

added = subprocess.run(["codex", "mcp", "add", "countersign", "--url", MCP], capture_output=True, text=True)
assert added.returncode == 0, added.stdout + added.stderr
listed = subprocess.run(["codex", "mcp", "list"], capture_output=True, text=True)
assert listed.returncode == 0, listed.stdout + listed.stderr
[line] = [line for line in listed.stdout.splitlines() if line.startswith("countersign")]
assert MCP in line and "enabled" in line, listed.stdout
