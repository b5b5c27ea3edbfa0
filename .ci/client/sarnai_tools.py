"""The LangChain tools of the sibling service's client. They take their addresses from the client's defaults."""

import json
import os

from sarnai import client

URL = os.environ["COUNTERSIGN_URL"]
client.SarnAIClient.__init__.__kwdefaults__.update(verify_url=URL, score_url=URL)

from sarnai.langchain import agent_score, all_tools, verify_output  # noqa: E402

assert [tool.name for tool in all_tools][-2:] == ["verify_output", "agent_score"]
schema = {"type": "object", "required": ["total"], "properties": {"total": {"type": "number"}}}

passed = json.loads(verify_output.invoke({"expected_schema": schema, "submitted_output": {"total": 42}}))
assert passed["result"] == "pass" and passed["verification_id"], passed
# Models often hand JSON over as a string.
failed = json.loads(verify_output.invoke({"expected_schema": json.dumps(schema), "submitted_output": '{"total": "x"}'}))
assert failed["result"] == "fail" and failed["hints"] and failed["next_actions"], failed
refused = json.loads(verify_output.invoke({"expected_schema": {"type": "nothing"}, "submitted_output": 1}))
assert refused["code"] == "invalid_request" and refused["guidance"] and refused["next_actions"], refused

score = json.loads(agent_score.invoke({"agent_id": "nobody"}))
assert score["has_score"] is False and score["reason"] == "no_data" and score["identity_verified"] is False, score
