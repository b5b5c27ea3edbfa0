"""mcp-remote, for hosts that speak to programs only: lines in, lines out, and no try to log in."""

import json
import subprocess
import threading

from expected import CASES, MCP, check_answer, check_tools

SECONDS_MAX = 60


def main():
    process = subprocess.Popen(["mcp-remote", MCP, "--allow-http"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    logged = []
    log = threading.Thread(target=lambda: logged.extend(process.stderr), daemon=True)
    log.start()
    timer = threading.Timer(SECONDS_MAX, process.kill)
    timer.start()
    try:
        opened = ask(process, 1, "initialize", {"protocolVersion": "2025-11-25", "capabilities": {},
                                                "clientInfo": {"name": "client-of-tests", "version": "1"}})
        assert opened["serverInfo"]["name"] == "countersign", opened
        tell(process, {"method": "notifications/initialized"})
        check_tools(tool["name"] for tool in ask(process, 2, "tools/list", {})["tools"])
        for number, (case, request) in enumerate(CASES.items(), 3):
            result = ask(process, number, "tools/call", {"name": "verify_schema", "arguments": request})
            [block] = result["content"]
            check_answer(case, block["text"], result.get("isError", False), result["structuredContent"])
    except BaseException:
        print("".join(logged))
        raise
    finally:
        timer.cancel()
        process.stdin.close()
        process.terminate()
        process.wait(SECONDS_MAX)
    log.join(SECONDS_MAX)
    text = "".join(logged).lower()
    assert "authoriz" not in text and "browser" not in text, text


def tell(process, message):
    process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    process.stdin.flush()


def ask(process, number, method, params):
    tell(process, {"id": number, "method": method, "params": params})
    for line in process.stdout:
        answer = json.loads(line)
        if answer.get("id") == number:
            return answer["result"]
    raise AssertionError(f"no answer to {method}")


main()
