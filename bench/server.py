"""The servers that the benchmarks start on the loopback, and what Linux tells about their processes."""

import http.client
import os
import re
import socket
import subprocess
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
VECTORS = HERE.parent / "vectors"
READY = re.compile(rb"listening on http://([0-9.]+):([0-9]+)")
START_SECONDS_MAX = 60
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


class Server:
    """One started server and all its processes; stops them on leaving the `with`."""

    def __init__(self, name, command, port=None, cwd=None):
        self.name, self.command, self.port, self.cwd = name, command, port, cwd

    def __enter__(self):
        self.log = tempfile.NamedTemporaryFile(prefix="bench-", suffix=".log")
        started = time.monotonic()
        self.process = subprocess.Popen(self.command, stdout=self.log, stderr=self.log, cwd=self.cwd)
        try:
            while not self._answers():
                if self.process.poll() is not None or time.monotonic() - started > START_SECONDS_MAX:
                    raise SystemExit(f"{self.name} did not start:\n{self.told()}")
                time.sleep(0.001)
        except BaseException:
            self.__exit__()
            raise
        self.start_ms = (time.monotonic() - started) * 1000
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()

    def told(self):
        return Path(self.log.name).read_text(errors="replace")

    def _answers(self):
        if self.port is None:
            found = READY.search(Path(self.log.name).read_bytes())
            if not found:
                return False
            self.port = int(found[2])
        try:
            return self.request("GET", "/health")[0] == 200
        except OSError:
            return False

    def request(self, method, path, body=None, timeout=120):
        """Status and body of the answer to one request on a connection of its own."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request(method, path, body, {"Content-Type": "application/json"} if body else {})
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def pids(self):
        """The process and all that it started."""
        found, waiting = [], [self.process.pid]
        while waiting:
            pid = waiting.pop()
            found.append(pid)
            for task in Path(f"/proc/{pid}/task").glob("*/children"):
                waiting += map(int, task.read_text().split())
        return found

    def cpu_seconds(self):
        """User and system time of all processes so far."""
        ticks = 0
        for pid in self.pids():
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
        return ticks / TICKS_PER_SECOND

    def memory_mib(self, field="VmRSS"):
        """Resident memory of all processes; pages that they share count once each. `VmHWM` is the peak."""
        kib = 0
        for pid in self.pids():
            status = Path(f"/proc/{pid}/status").read_text()
            kib += int(re.search(rf"^{field}:\s+(\d+) kB", status, re.MULTILINE)[1])
        return kib / 1024

    def forget_peak(self):
        """Sets the peak of every process back to what it uses now."""
        for pid in self.pids():
            Path(f"/proc/{pid}/clear_refs").write_text("5")


def countersign(binary, data, config=None):
    extra = ["--config", str(config)] if config else ["--data", str(data)]
    return Server("countersign", [str(binary), "serve", "--listen", "127.0.0.1:0", *extra])


def baseline(name, python, workers):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [python, "-m", "uvicorn", f"{name}:app", "--host", "127.0.0.1", "--port", str(port), "--loop", "uvloop"]
    command += ["--http", "httptools", "--workers", str(workers), "--no-access-log", "--log-level", "warning"]
    return Server(name, command, port, HERE / "baseline")
