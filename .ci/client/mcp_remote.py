"""mcp-remote, for hosts that start programs only: lines in, lines out, and no try to log in."""

from expected import CASES, MCP, check_answer, check_tools
from lines import Lines

with Lines(["mcp-remote", MCP, "--allow-http"]) as lines:
    assert lines.open()["serverInfo"]["name"] == "countersign"
    check_tools(tool["name"] for tool in lines.ask("tools/list", {})["tools"])
    for case, request in CASES.items():
        result = lines.ask("tools/call", {"name": "verify_schema", "arguments": request})
        [block] = result["content"]
        check_answer(case, block["text"], result.get("isError", False), result["structuredContent"])

# It may look whether a login is asked for; it must not find one.
log = "".join(lines.logged).lower()
assert "please authorize" not in log and "browser" not in log and "unauthorized" not in log, log
