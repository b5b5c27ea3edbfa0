"""The OpenAI Agents SDK: its server object, and the tools as an agent would get them."""

import asyncio

from agents import Agent, RunContextWrapper
from agents.mcp import MCPServerStreamableHttp, MCPUtil
from expected import CASES, MCP, check_answer, check_record, check_tools


async def main():
    async with MCPServerStreamableHttp(params={"url": MCP}) as server:
        check_tools(tool.name for tool in await server.list_tools())
        for case, request in CASES.items():
            result = await server.call_tool("verify_schema", request)
            [block] = result.content
            check_answer(case, block.text, result.isError or False, result.structuredContent)
        [block] = (await server.call_tool("get_verification_record", {"agent_id": "nobody"})).content
        check_record(block.text)
        agent = Agent(name="buyer", mcp_servers=[server])
        tools = await MCPUtil.get_function_tools(server, convert_schemas_to_strict=False,
                                                 run_context=RunContextWrapper(None), agent=agent)
        check_tools(tool.name for tool in tools)


asyncio.run(main())
