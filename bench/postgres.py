"""A PostgreSQL cluster of its own in a temporary folder, on a free port of the loopback, durable as by default."""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
from pathlib import Path

# PostgreSQL refuses to run as root; then this account, which Debian's package makes, runs it.
ACCOUNT = "postgres"
START_SECONDS_MAX = 60


def programs():
    """The folder of initdb and pg_ctl."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    if found:
        return found[-1].parent
    on_path = shutil.which("initdb")
    if on_path:
        return Path(on_path).resolve().parent
    raise SystemExit("PostgreSQL is missing: apt-get install postgresql")


class Postgres:
    """Runs while the `with` lasts, with an empty database `countersign`; on a free port if none is given."""

    def __init__(self, port=None):
        self.port = port

    def __enter__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="bench-pg-"))
        account = pwd.getpwnam(ACCOUNT) if os.getuid() == 0 else None
        self.identity = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []} if account else {}
        if account:
            os.chown(self.folder, account.pw_uid, account.pw_gid)
        if self.port is None:
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                self.port = probe.getsockname()[1]
        self.data = self.folder / "data"
        self.run("initdb", "--pgdata", self.data, "--username", "countersign", "--auth", "trust", "--encoding", "UTF8")
        self.start()
        self.run("createdb", "--host", "127.0.0.1", "--port", self.port, "--username", "countersign", "countersign")
        return self

    def __exit__(self, *_):
        self.run("pg_ctl", "stop", "--pgdata", self.data, "--mode", "immediate", check=False)
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self):
        options = f"-h 127.0.0.1 -p {self.port} -k {self.folder}"
        self.run("pg_ctl", "start", "--pgdata", self.data, "--wait", "--timeout", str(START_SECONDS_MAX),
                 "--options", options, "--log", self.folder / "log")

    def kill(self):
        """The main process is gone at once, as after a power cut; its children follow."""
        main = int((self.data / "postmaster.pid").read_text().splitlines()[0])
        os.kill(main, signal.SIGKILL)

    def url(self, database="countersign"):
        return f"postgres://countersign@127.0.0.1:{self.port}/{database}"

    def run(self, program, *arguments, check=True):
        command = [programs() / program, *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=self.folder, **self.identity)
        if check and done.returncode:
            raise SystemExit(f"{program} failed:\n{done.stdout}{done.stderr}")
        return done.stdout
