"""An MCP server that is a program: one JSON-RPC message a line, in on standard input, out on standard output."""

import json
import subprocess
import threading

# From the start to the last answer; after it the program is killed, and whoever waits for an answer hears so.
SECONDS_MAX = 60


class Lines:
    """The program, up inside the `with`. `logged` is what it said on standard error, whole after the `with`."""

    def __init__(self, command):
        self.command = command
        self.logged = []
        self.asked = 0

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        self.log = threading.Thread(target=lambda: self.logged.extend(self.process.stderr), daemon=True)
        self.log.start()
        self.timer = threading.Timer(SECONDS_MAX, self.process.kill)
        self.timer.start()
        return self

    def __exit__(self, kind, *_):
        self.timer.cancel()
        self.process.stdin.close()
        self.process.terminate()
        self.process.wait(SECONDS_MAX)
        self.log.join(SECONDS_MAX)
        if kind:
            print("".join(self.logged))

    def open(self):
        opened = self.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {},
                                         "clientInfo": {"name": "client-of-tests", "version": "1"}})
        self.tell({"method": "notifications/initialized"})
        return opened

    def tell(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def ask(self, method, params):
        self.asked += 1
        self.tell({"id": self.asked, "method": method, "params": params})
        for line in self.process.stdout:
            answer = json.loads(line)
            if answer.get("id") == self.asked:
                return answer["result"]
        raise AssertionError(f"no answer to {method}")
