"""The Python MCP SDK 1: ClientSession over streamable HTTP."""

import asyncio

from expected import CASES, MCP, check_answer, check_record, check_tools
from mcp import ClientSession
from mcp.client.streamable_http import streamablehttp_client


async def main():
    async with streamablehttp_client(MCP) as (read, write, _), ClientSession(read, write) as session:
        opened = await session.initialize()
        assert opened.protocolVersion == "2025-11-25", opened
        await session.send_ping()
        check_tools(tool.name for tool in (await session.list_tools()).tools)
        for case, request in CASES.items():
            result = await session.call_tool("verify_schema", request)
            [block] = result.content
            assert result.structuredContent is not None, case
            check_answer(case, block.text, result.isError, result.structuredContent)
        [block] = (await session.call_tool("get_verification_record", {"agent_id": "nobody"})).content
        check_record(block.text)


asyncio.run(main())
