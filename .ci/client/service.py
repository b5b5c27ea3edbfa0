"""The release binary on a free loopback port, with a key and a database of its own."""

import re
import subprocess
import threading

# From the start to the line that names the port.
START_SECONDS_MAX = 30
STOP_SECONDS_MAX = 20


class Service:
    """Up inside the `with`, stopped by SIGTERM after it; a service that does not end with 0 fails the run."""

    def __init__(self, binary, data):
        self.command = [binary, "serve", "--data", data, "--listen", "127.0.0.1:0"]
        self.url = None
        self.said = []
        self.ready = threading.Event()

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stderr=subprocess.PIPE, text=True)
        threading.Thread(target=self.read, daemon=True).start()
        if not self.ready.wait(START_SECONDS_MAX) or not self.url:
            self.process.kill()
            raise SystemExit("the service did not start:\n" + "".join(self.said))
        return self

    def read(self):
        for line in self.process.stderr:
            self.said.append(line)
            if found := re.search(r"listening on (http://127\.0\.0\.1:\d+)", line):
                self.url = found[1]
                self.ready.set()
        self.ready.set()

    def __exit__(self, *_):
        self.process.terminate()
        if (status := self.process.wait(STOP_SECONDS_MAX)) != 0:
            raise SystemExit(f"the service ended with {status} on SIGTERM:\n" + "".join(self.said[-20:]))
