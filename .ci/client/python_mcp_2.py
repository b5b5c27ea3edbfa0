"""The Python MCP SDK 2, in the era that it is told to try first."""

import asyncio
import sys

from expected import CASES, MCP, check_answer, check_record, check_tools
from mcp import Client

MODE, REVISION = sys.argv[1:]


async def main():
    async with Client(MCP, mode=MODE) as client:
        assert client.protocol_version == REVISION, client.protocol_version
        assert client.server_info.name == "countersign", client.server_info
        check_tools(tool.name for tool in (await client.list_tools()).tools)
        for case, request in CASES.items():
            result = await client.call_tool("verify_schema", request)
            [block] = result.content
            assert result.structured_content is not None, case
            check_answer(case, block.text, result.is_error, result.structured_content)
        [block] = (await client.call_tool("get_verification_record", {"agent_id": "nobody"})).content
        check_record(block.text)


asyncio.run(main())
