"""The MCP Inspector's command line: portable schemas without a warning, and a tool's error told by its exit status."""

import json
import subprocess
import sys

from expected import CASES, MCP, check_answer, check_tools

ERA = sys.argv[1]
# What the Inspector ends with when a tool answered with an error.
TOOL_ERROR = 5


def inspector(*words):
    command = ["inspector", "--cli", MCP, "--transport", "http", "--protocol-era", ERA, *words, "--format", "json"]
    return subprocess.run(command, capture_output=True, text=True)


def result_of(printed):
    answer = json.loads(printed)
    return answer.get("result", answer)


listed = inspector("--method", "tools/list", "--strict")
assert listed.returncode == 0, f"{listed.returncode}: {listed.stdout}{listed.stderr}"
assert "warn" not in listed.stderr.lower(), listed.stderr
check_tools(tool["name"] for tool in result_of(listed.stdout)["tools"])
for case, request in CASES.items():
    called = inspector("--method", "tools/call", "--tool-name", "verify_schema", "--tool-args-json", json.dumps(request))
    wanted = TOOL_ERROR if case == "problem" else 0
    assert called.returncode == wanted, f"{case}: {called.returncode}: {called.stdout}{called.stderr}"
    result = result_of(called.stdout)
    [block] = result["content"]
    check_answer(case, block["text"], result.get("isError", False), result["structuredContent"])
