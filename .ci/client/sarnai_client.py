"""The sibling service's own client, pointed at us."""

from expected import CASES, URL
from sarnai import client as sarnai

SCHEMA = CASES["pass"]["expected_schema"]
AGENT = "client-agent"

with sarnai.SarnAIClient(verify_url=URL, score_url=URL) as client:
    passed = client.verify_output(SCHEMA, {"total": 42}, agent_id=AGENT, task_id="client-1")
    assert passed.passed and passed.task_id == "client-1" and passed.verification_id, passed
    assert passed.errors == [] and passed.attestation["signature"], passed.raw

    failed = client.verify_output(SCHEMA, {"total": "42"}, agent_id=AGENT, task_id="client-2")
    assert not failed.passed and failed.errors and failed.hints, failed.raw
    assert failed.raw["summary"]["blocking_checks"] == ["schema:type"], failed.raw

    compact = client.verify_output(SCHEMA, {"total": 42}, compact=True)
    assert compact.passed and "errors" not in compact.raw, compact.raw

    total_of = [{"type": "sum_equals", "field": "lines[].n", "equals_field": "total"}]
    deliverable = client.verify_output({"type": "object"}, {"lines": [{"n": 1}], "total": 2}, rules=total_of,
                                       bounds={"total": {"min": 1}}, enforce_rules=True, endpoint="deliverable")
    assert deliverable.raw["summary"]["blocking_checks"] == ["consistency:sum_equals"], deliverable.raw
    assert client.verify_output({"type": "null"}, None).passed

    reputation = client.reputation(AGENT)
    assert (reputation["verified"], reputation["passed"], reputation["failed"]) == (2, 1, 1), reputation

    score = client.score(AGENT)
    assert score.has_score and score.sample_size == 2 and score.reason is None, score
    assert score.attestation["signature"], score.raw
    nothing = client.score("org/nobody:1")
    assert not nothing.has_score and nothing.reason == "no_data" and nothing.agent_id == "org/nobody:1", nothing

    try:
        client.verify_output({"type": "object"}, {}, rules=[{"type": "sum", "field": "total"}])
        raise AssertionError("an invalid request raised nothing")
    except sarnai.SarnAIError as refused:
        assert type(refused) is sarnai.SarnAIError, type(refused)
        assert (refused.status, refused.code) == (422, "invalid_request"), refused
        assert refused.next_actions and refused.guidance, refused.payload
        assert "rules[0].type" in str(refused), refused

    try:
        client.reputation("a" * 201)
        raise AssertionError("an id that is too long raised nothing")
    except sarnai.SarnAIError as refused:
        assert (refused.status, refused.code) == (422, "invalid_request"), refused
