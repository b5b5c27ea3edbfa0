#!/usr/bin/env python3
"""Compares the server with the Python baselines on this machine: throughput, latency, CPU, memory, start.

    load.py [--binary FILE] [--python FILE] [--rounds N] [--seconds N] [--connections N]

Every server answers the golden draft invoice on the loopback, in turns, `rounds` times; wrk (Debian's package)
asks with one thread over keep-alive connections. The medians of the rounds are printed. The server keeps each
receipt durably, the baselines keep nothing. CPU per request is user and system time of all processes of a server;
wrk shares the cores, so requests per second depend on the machine and its mood, and CPU per request much less.

`python` is the interpreter of an environment with requirements.txt in it. Without a binary, the baselines run alone.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import server

DRAFT = server.VECTORS / "invoice-draft.request.json"
STARTS = 5
BIG_REQUESTS = 9
BODY_BYTES_MAX = 1 << 20


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    default = server.HERE.parent / "target/release/countersign"
    options.add_argument("--binary", type=Path, default=default, help="default: %(default)s")
    options.add_argument("--python", default=sys.executable, help="the baselines' interpreter")
    options.add_argument("--workers", type=int, default=2, help="worker processes of a baseline")
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--seconds", type=int, default=6, help="of one run of wrk")
    options.add_argument("--connections", type=int, default=64)
    options.add_argument("--only", nargs="+", metavar="NAME", help="of countersign, tuned_canonical, tuned and plain")
    options = options.parse_args()
    names = ["countersign", "tuned_canonical", "tuned", "plain"]
    names = [name for name in names if not options.only or name in options.only]
    if "countersign" in names and not options.binary.exists():
        print(f"{options.binary} does not exist: the baselines run alone", file=sys.stderr)
        names.remove("countersign")
    runs = {name: [] for name in names}
    for number in range(options.rounds):
        for name in names:
            print(f"round {number + 1}: {name}", file=sys.stderr)
            with tempfile.TemporaryDirectory() as data, start(name, options, data) as running:
                check_answer(running)
                runs[name].append(load(running, options))
    print_load(runs, options)
    print_rest({name: rest(name, options) for name in names})


def start(name, options, data):
    if name == "countersign":
        return server.countersign(options.binary, Path(data) / "data")
    return server.baseline(name, options.python, options.workers)


def check_answer(running):
    """A server that gives wrong answers fast is of no interest."""
    status, body = running.request("POST", "/verify/schema", DRAFT.read_bytes())
    golden = json.loads(DRAFT.with_name("invoice-draft.response.json").read_text())
    answer = json.loads(body)
    for member in ["result", "output_hash", "schema_hash", "rules_hash", "request_hash", "errors", "overall"]:
        if status != 200 or answer[member] != golden[member]:
            raise SystemExit(f"{running.name} does not give the golden {member}")


def load(running, options):
    command = ["wrk", "-t1", f"-c{options.connections}", f"-d{options.seconds}s", "--timeout", "10s", "-s"]
    command += [str(server.HERE / "post.lua"), f"http://127.0.0.1:{running.port}/verify/schema"]
    subprocess.run([*command[:3], "-d1s", *command[4:]], env=body(), check=True, capture_output=True)
    before = running.cpu_seconds()
    done = subprocess.run(command, env=body(), check=True, capture_output=True, text=True)
    cpu = running.cpu_seconds() - before
    requests, micros, p50, p99, errors = map(float, done.stdout.splitlines()[-1].split())
    return {
        "req/s": requests / micros * 1e6,
        "p50 ms": p50 / 1000,
        "p99 ms": p99 / 1000,
        "CPU us/req": cpu / requests * 1e6,
        "errors": errors,
        "loaded MiB": running.memory_mib(),
    }


def body():
    return os.environ | {"BENCH_BODY": str(DRAFT)}


def print_load(runs, options):
    load_average = os.getloadavg()[1]
    print(f"\n{options.rounds} rounds of {options.seconds} s, {options.connections} connections, medians; ", end="")
    print(f"{os.cpu_count()} cores, load average {load_average:.1f}\n")
    columns = ["req/s", "p50 ms", "p99 ms", "CPU us/req", "errors", "loaded MiB"]
    rows = {name: {c: statistics.median(run[c] for run in results) for c in columns} for name, results in runs.items()}
    ours = rows.get("countersign")
    print(f"{'server':<16}" + "".join(f"{column:>12}" for column in columns) + f"{'x req/s':>10}{'x CPU':>8}")
    for name, row in rows.items():
        ratios = ""
        if ours:
            ratios = f"{ours['req/s'] / row['req/s']:>10.1f}{row['CPU us/req'] / ours['CPU us/req']:>8.1f}"
        print(f"{name:<16}" + "".join(f"{row[column]:>12.1f}" for column in columns) + ratios)
    print("x: how many times the server's figure is better than this row's")


def big_body():
    """An invoice with 10,000 line items, padded to just under the body limit."""
    request = json.loads(DRAFT.read_text())
    output = request["submitted_output"]
    items = [{"sku": f"CRWL-{number:05}", "qty": 1, "line_total": 0.25} for number in range(10_000)]
    output["line_items"], output["total"] = items, 2500.0
    room = BODY_BYTES_MAX - len(json.dumps(request))
    for item in items:
        item["sku"] += "x" * (room // len(items))
    return json.dumps(request).encode()


def rest(name, options):
    starts, row = [], {}
    for _ in range(STARTS):
        with tempfile.TemporaryDirectory() as data, start(name, options, data) as running:
            starts.append(running.start_ms)
            time.sleep(0.5)
            row["idle MiB"] = running.memory_mib()
    row["start ms"], row["start max"] = statistics.median(starts), max(starts)
    with tempfile.TemporaryDirectory() as data, start(name, options, data) as running:
        big, times = big_body(), []
        before = running.cpu_seconds()
        for _ in range(BIG_REQUESTS):
            began = time.monotonic()
            status, answer = running.request("POST", "/verify/schema", big)
            times.append((time.monotonic() - began) * 1000)
            if status != 200 or json.loads(answer)["result"] != "pass":
                raise SystemExit(f"{name}: {status} for the large invoice")
        row["1 MiB ms"], row["1 MiB max"] = statistics.median(times), max(times)
        row["1 MiB CPU ms"] = (running.cpu_seconds() - before) / BIG_REQUESTS * 1000
        row["peak MiB"] = running.memory_mib("VmHWM")
    return row


def print_rest(rows):
    columns = ["start ms", "start max", "idle MiB", "1 MiB ms", "1 MiB max", "1 MiB CPU ms", "peak MiB"]
    print(f"\nfrom start to the first answer of /health ({STARTS} starts on empty data); memory at rest, all processes;")
    print(f"one request of 1 MiB with 10,000 line items at a time ({BIG_REQUESTS} of them)\n")
    print(f"{'server':<16}" + "".join(f"{column:>14}" for column in columns))
    for name, row in rows.items():
        print(f"{name:<16}" + "".join(f"{row[column]:>14.1f}" for column in columns))


if __name__ == "__main__":
    main()
