"""The Python A2A SDK: the card read strictly, its signature verified, a pass, a fail and a problem by SendMessage."""

import asyncio
import json

import httpx
import jwt
from a2a.client import A2ACardResolver, ClientConfig, create_client
from a2a.helpers import proto_helpers
from a2a.types import AgentCard, Role, SendMessageRequest, TaskState
from a2a.utils.signing import InvalidSignaturesError, create_signature_verifier
from expected import CASES, URL, check_answer
from google.protobuf.json_format import MessageToDict, ParseDict

STATES = {
    "pass": TaskState.TASK_STATE_COMPLETED,
    "fail": TaskState.TASK_STATE_COMPLETED,
    "problem": TaskState.TASK_STATE_REJECTED,
}


async def main():
    async with httpx.AsyncClient() as http:
        served = (await http.get(f"{URL}/.well-known/agent-card.json")).json()
        # The SDK itself leaves unknown members out; a member that it does not know would not be covered by the signature.
        assert MessageToDict(ParseDict(served, AgentCard())) == served, "a member is lost on the way through the SDK"
        card = await A2ACardResolver(http, URL).get_agent_card()
        keys = {key["kid"]: key for key in (await http.get(f"{URL}/.well-known/jwks.json")).json()["keys"]}
        verify = create_signature_verifier(lambda kid, _: jwt.PyJWK(keys[kid]), ["EdDSA"])
        verify(card)
        other = AgentCard()
        other.CopyFrom(card)
        other.name += "!"
        try:
            verify(other)
            raise AssertionError("a card of another name was accepted")
        except InvalidSignaturesError:
            pass
        client = await create_client(card, ClientConfig(streaming=False, httpx_client=http))
        for case, request in CASES.items():
            parts = {
                "text": proto_helpers.new_text_part(json.dumps(request)),
                "data": proto_helpers.new_data_part(request),
            }
            for part in parts.values():
                await send(client, case, part)


async def send(client, case, part):
    message = proto_helpers.new_message([part], role=Role.ROLE_USER)
    [answer] = [answer async for answer in client.send_message(SendMessageRequest(message=message))]
    assert answer.HasField("task"), answer
    task = answer.task
    assert task.status.state == STATES[case], task
    if case == "problem":
        assert not task.artifacts, task
        [problem] = proto_helpers.get_data_parts(task.status.message.parts)
        check_answer(case, json.dumps(problem), True)
    else:
        [artifact] = task.artifacts
        [data] = proto_helpers.get_data_parts(artifact.parts)
        [text] = proto_helpers.get_text_parts(artifact.parts)
        check_answer(case, text, False, data)


asyncio.run(main())
