"""langchain-mcp-adapters: hands on text alone when a tool answers with an error, so the text must be enough to act on."""

import asyncio

from expected import CASES, MCP, check_answer, check_record, check_tools
from langchain_mcp_adapters.client import MultiServerMCPClient


async def main():
    client = MultiServerMCPClient({"countersign": {"transport": "streamable_http", "url": MCP}})
    tools = await client.get_tools()
    check_tools(tool.name for tool in tools)
    verify, record = tools
    for case, request in CASES.items():
        message = await verify.ainvoke({"type": "tool_call", "id": case, "name": verify.name, "args": request})
        check_answer(case, text_of(message), message.status == "error")
    message = await record.ainvoke({"type": "tool_call", "id": "r", "name": record.name, "args": {"agent_id": "nobody"}})
    check_record(text_of(message))


def text_of(message):
    if isinstance(message.content, str):
        return message.content
    [block] = message.content
    return block["text"]


asyncio.run(main())
