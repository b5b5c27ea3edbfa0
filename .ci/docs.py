#!/usr/bin/env python3
"""Runs every ```console block of the documents and compares what it prints.

A line that begins with "$ " is a command, lines with "> " right after it continue it; what follows, up to the next
command, is what it prints on stdout and stderr together. In expected output "[..]" stands for anything within a
line and a line "..." for any number of lines. A last line "[exit 1]" expects that exit status; without one it
is 0. A command that ends in "&" is started, waited for until it prints its readiness line, and stopped by SIGTERM
when its document ends.

A document that names a database at POSTGRES_URL finds an empty one there.

All blocks of one document run in order in one scratch copy of the committed files. Every block that is marked
console, sh or bash must be runnable: there is no way to skip one.
"""

import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench"))

from postgres import Postgres  # noqa: E402

POSTGRES_PORT = 18432
POSTGRES_URL = f"postgres://countersign@127.0.0.1:{POSTGRES_PORT}/countersign"
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(text):
    for language, body in FENCE.findall(text):
        if language in ("sh", "bash"):
            raise SystemExit(f"write commands as ```console with what they print, not as ```{language}")
        if language == "console":
            yield body


def commands(body):
    command, expected = None, []
    for line in body.splitlines():
        if line.startswith("$ "):
            if command is not None:
                yield command, expected
            command, expected = line[2:], []
        elif line.startswith("> ") and command is not None and not expected:
            command += "\n" + line[2:]
        else:
            expected.append(line)
    if command is not None:
        yield command, expected


def matches(expected, actual):
    parts = []
    for line in expected:
        if line == "...":
            parts.append(r"(?:.*\n)*?")
        else:
            parts.append("".join(".*" if p == "[..]" else re.escape(p) for p in re.split(r"(\[\.\.\])", line)) + r"\n")
    return re.fullmatch("".join(parts), actual) is not None


def start(command, folder, environment):
    server = subprocess.Popen(["bash", "-c", "exec " + command], cwd=folder, env=environment, stderr=subprocess.PIPE,
                              stdout=subprocess.DEVNULL, text=True)
    seen = []
    for line in server.stderr:
        seen.append(line)
        if "listening on" in line:
            return server, "".join(seen)
    raise SystemExit(f"{command}: ended with {server.wait()} before it was ready:\n{''.join(seen)}")


def run_document(path, environment):
    passed, failed, servers = 0, 0, []
    text = path.read_text()
    database = Postgres(POSTGRES_PORT) if POSTGRES_URL in text else contextlib.nullcontext()
    with database, tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch) / "countersign"
        names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
        for name in filter(None, names.decode().split("\0")):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
        try:
            for body in blocks(text):
                for command, expected in commands(body):
                    if command.endswith("&"):
                        server, printed = start(command[:-1], folder, environment)
                        servers.append(server)
                        status = 0
                    else:
                        done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, text=True,
                                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                        printed, status = done.stdout, done.returncode
                    wanted = 0
                    if expected and (end := re.fullmatch(r"\[exit (\d+)\]", expected[-1])):
                        wanted, expected = int(end[1]), expected[:-1]
                    if printed and not printed.endswith("\n"):
                        printed += "\n"
                    if status == wanted and matches(expected, printed):
                        passed += 1
                    else:
                        failed += 1
                        print(f"{path.relative_to(ROOT)}: $ {command}\n--- expected (exit {wanted})")
                        print("\n".join(expected) + f"\n--- printed (exit {status})\n{printed}---")
        finally:
            for server in servers:
                server.send_signal(signal.SIGTERM)
            for server in servers:
                if (status := server.wait(timeout=20)) != 0:
                    failed += 1
                    print(f"{path.relative_to(ROOT)}: the server ended with {status} on SIGTERM")
    return passed, failed


def main():
    target = os.environ.get("CARGO_TARGET_DIR", str(ROOT / "target"))
    environment = dict(os.environ, CARGO_TARGET_DIR=target, CARGO_TERM_QUIET="true")
    environment["PATH"] = f"{target}/release:{environment['PATH']}"
    documents = [pathlib.Path(name).resolve() for name in sys.argv[1:]]
    if not documents:
        names = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, check=True, text=True)
        documents = [ROOT / name for name in names.stdout.split()]
    # The README comes first: its first command builds the binary that the other documents call.
    documents.sort(key=lambda path: (path != ROOT / "README.md", path))
    passed = failed = 0
    for document in documents:
        ran, broke = run_document(document, environment)
        if ran or broke:
            print(f"{document.relative_to(ROOT)}: {ran} as written, {broke} not", flush=True)
        passed, failed = passed + ran, failed + broke
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
