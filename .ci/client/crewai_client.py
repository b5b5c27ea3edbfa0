"""crewai-tools: sends null for every argument that was left out, and gives errors as plain text."""

import json

from crewai_tools import MCPServerAdapter
from expected import CASES, MCP, check_answer, check_tools

with MCPServerAdapter({"url": MCP, "transport": "streamable-http"}) as tools:
    check_tools(tool.name for tool in tools)
    for case, request in CASES.items():
        text = tools[0].run(**request)
        if case == "problem":
            assert "rules[0] must have exactly one of" in text, text
        else:
            check_answer(case, text, False)
    assert json.loads(tools[1].run(agent_id="nobody"))["reason"] == "no_data"
