#!/usr/bin/env python3
"""Two nodes on one PostgreSQL under load, while nodes and the database are killed; then counts what is left.

    soak.py [--binary FILE] [--seconds N] [--node-every N] [--database-times N] [--clients N] [--rate N]

Every client asks a node for a compact receipt, and the other one when the first gives no answer. A node is killed
(SIGKILL) every `node-every` seconds and started again; PostgreSQL's main process is killed `database-times` times.
At the end every answered id is asked for: the bytes must be those of the answer. `store check` must find the numbers
without a gap and the sums right. Fails on the first thing lost.
"""

import argparse
import hashlib
import http.client
import itertools
import json
import random
import signal
import subprocess
import tempfile
import threading
import time
from pathlib import Path

import server
from postgres import Postgres

REQUEST = json.loads((server.VECTORS / "invoice-draft.request.json").read_text()) | {"detail": "compact"}
AGENTS = 50


class Node:
    """One serving process, started again after each kill, always on a port of its own."""

    def __init__(self, binary, config):
        self.binary, self.config, self.kills = binary, config, 0
        self.begin()

    def begin(self):
        self.running = server.countersign(self.binary, None, self.config)
        self.running.__enter__()

    @property
    def port(self):
        return self.running.port

    def kill(self):
        self.running.process.send_signal(signal.SIGKILL)
        self.running.process.wait()
        self.running.log.close()
        self.kills += 1
        self.begin()

    def end(self):
        self.running.__exit__()


class Counts:
    def __init__(self):
        self.lock = threading.Lock()
        self.answered, self.refused, self.cut, self.others = {}, 0, 0, {}

    def note(self, status, body):
        with self.lock:
            if status == 200:
                receipt = json.loads(body)
                assert receipt["verification_id"] not in self.answered, "one id was given twice"
                self.answered[receipt["verification_id"]] = hashlib.sha256(body).digest()
            elif status == 503:
                self.refused += 1
                assert json.loads(body)["retry_after"] >= 1, body
            elif status is None:
                self.cut += 1
            else:
                self.others[status] = self.others.get(status, 0) + 1


def client(nodes, counts, until, pause, number):
    for turn in itertools.count(number):
        if time.monotonic() >= until:
            return
        body = json.dumps(REQUEST | {"agent_id": f"agent-{random.randrange(AGENTS)}", "task_id": f"soak-{number}-{turn}"})
        counts.note(*ask(nodes[turn % len(nodes)].port, "POST", "/verify/schema", body))
        time.sleep(pause)


def ask(port, method, path, body=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request(method, path, body)
        answer = connection.getresponse()
        return answer.status, answer.read()
    except (OSError, http.client.HTTPException):
        return None, b""
    finally:
        connection.close()


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--binary", type=Path, default=server.HERE.parent / "target/release/countersign")
    options.add_argument("--seconds", type=int, default=600)
    options.add_argument("--node-every", type=int, default=20)
    options.add_argument("--database-times", type=int, default=2)
    options.add_argument("--clients", type=int, default=16)
    options.add_argument("--rate", type=int, default=400, help="requests a second, of all clients")
    options = options.parse_args()
    with Postgres() as postgres, tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "config.toml"
        config.write_text(
            f'data = "{folder}/data"\nstore = "{postgres.url()}"\npublic_url = "https://verify.example"\n'
        )
        command(options.binary, "store", "create", "--config", config)
        command(options.binary, "key", "new", "--data", Path(folder) / "data")
        nodes = [Node(options.binary, config) for _ in range(2)]
        try:
            counts = load(nodes, postgres, options)
            recover(nodes)
            print(f"{len(counts.answered)} answered, {counts.refused} told to come again (503), {counts.cut} cut off, "
                  f"other answers: {counts.others}; kills: {sum(node.kills for node in nodes)} nodes, "
                  f"{options.database_times} databases", flush=True)
            assert not counts.others, counts.others
            compare(nodes, counts)
        finally:
            for node in nodes:
                node.end()
        report = command(options.binary, "store", "check", "--config", config)
        print(report.strip())
        print(f"all {len(counts.answered)} answered receipts are there, byte for byte")


def load(nodes, postgres, options):
    counts, until = Counts(), time.monotonic() + options.seconds
    pause = options.clients / options.rate
    threads = [
        threading.Thread(target=client, args=(nodes, counts, until, pause, number)) for number in range(options.clients)
    ]
    for thread in threads:
        thread.start()
    began = time.monotonic()
    database_at = [options.seconds * (n + 1) / (options.database_times + 1) for n in range(options.database_times)]
    for turn in itertools.count(1):
        time.sleep(max(0, min(began + turn * options.node_every, until) - time.monotonic()))
        passed = time.monotonic() - began
        if time.monotonic() + 2 >= until:
            break
        if database_at and passed >= database_at[0]:
            database_at.pop(0)
            postgres.kill()
            time.sleep(2)
            postgres.start()
            print(f"{passed:.0f} s: killed PostgreSQL; {len(counts.answered)} answered so far", flush=True)
        nodes[turn % len(nodes)].kill()
    for thread in threads:
        thread.join()
    return counts


def recover(nodes):
    """A node that lost its database comes back alone."""
    for node in nodes:
        for _ in range(60):
            if ask(node.port, "GET", "/health/ready")[0] == 200:
                break
            time.sleep(0.5)
        else:
            raise SystemExit("a node did not become ready again")


def compare(nodes, counts):
    waiting, failures = list(counts.answered.items()), []

    def work(number):
        for index in range(number, len(waiting), 4):
            id, digest = waiting[index]
            status, body = ask(nodes[index % len(nodes)].port, "GET", f"/receipts/{id}")
            if status != 200 or hashlib.sha256(body).digest() != digest:
                failures.append((id, status))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise SystemExit(f"{len(failures)} answered receipts are lost or changed: {failures[:5]}")


def command(binary, *arguments):
    done = subprocess.run([str(binary), *map(str, arguments)], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, arguments))} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    main()
