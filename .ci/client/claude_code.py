"""Claude Code, told of the service and asked whether it is there. It has no login and no model here."""

import subprocess

from expected import MCP


def claude(*words):
    done = subprocess.run(["claude", *words], capture_output=True, text=True)
    assert done.returncode == 0, f"{words}: {done.returncode}: {done.stdout}{done.stderr}"
    return done.stdout


claude("mcp", "add", "--transport", "http", "countersign", MCP)
listed = claude("mcp", "list")
[line] = [line for line in listed.splitlines() if line.startswith("countersign:")]
assert "Connected" in line and "auth" not in line.lower(), listed
