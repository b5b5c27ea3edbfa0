"""What every client must get: the two tools, a pass, a fail and a problem (cases.json)."""

import json
import os
from pathlib import Path

URL = os.environ["COUNTERSIGN_URL"]
MCP = f"{URL}/mcp"
CASES = json.loads((Path(__file__).parent / "cases.json").read_text())
TOOLS = ["verify_schema", "get_verification_record"]


def check_tools(names):
    assert list(names) == TOOLS, f"the tools are {list(names)}"


def check_answer(case, text, is_error, structured=None):
    """`text` is the one text block. `structured` is compared with it where the client hands it on."""
    answer = json.loads(text)
    if structured is not None:
        assert structured == answer, f"{case}: text and structured content differ"
    assert is_error is (case == "problem"), f"{case}: isError is {is_error}"
    if case == "problem":
        assert answer["code"] == "invalid_request", answer
        assert answer["fields"][0]["field"] == "rules[0]", answer
        assert answer["charged"] is False, answer
    else:
        assert answer["result"] == case, answer
        assert answer["task_id"] == CASES[case]["task_id"], answer
        assert answer["attestation"]["signature"], answer


def check_record(text):
    """The second tool, for an agent that nobody checked."""
    answer = json.loads(text)
    assert answer["reason"] == "no_data" and answer["trust_score"] is None, answer
    assert answer["attestation"]["signature"], answer
