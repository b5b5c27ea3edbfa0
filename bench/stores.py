#!/usr/bin/env python3
"""The server on SQLite and on PostgreSQL in turns, then two nodes on one PostgreSQL at once, and what is left of it.

    stores.py [--binary FILE] [--rounds N] [--seconds N] [--connections N]

wrk (Debian's package) asks with one thread for the golden draft invoice over keep-alive connections, as load.py does.
The medians of the rounds are printed, and how much of SQLite's requests per second PostgreSQL has. Then two nodes are
asked at the same time: afterwards the store must hold exactly one row for each answer, but for those that were under
way when wrk stopped, and `store check` must find the numbers without a gap and the sums right.
"""

import argparse
import json
import statistics
import subprocess
import tempfile
import threading
from pathlib import Path

import load
import server
from postgres import Postgres


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--binary", type=Path, default=server.HERE.parent / "target/release/countersign")
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--seconds", type=int, default=5, help="of one run of wrk")
    options.add_argument("--connections", type=int, default=64)
    options = options.parse_args()
    runs = {"sqlite": [], "postgres": []}
    for _ in range(options.rounds):
        with tempfile.TemporaryDirectory() as data, server.countersign(options.binary, Path(data) / "data") as running:
            load.check_answer(running)
            runs["sqlite"].append(load.load(running, options))
        with Postgres() as postgres, tempfile.TemporaryDirectory() as folder:
            with server.countersign(options.binary, None, configure(options.binary, postgres, folder)) as running:
                load.check_answer(running)
                runs["postgres"].append(load.load(running, options))
    columns = ["req/s", "p50 ms", "p99 ms", "CPU us/req", "errors"]
    print(f"{'store':<12}" + "".join(f"{column:>12}" for column in columns) + "   (CPU of our process alone)")
    medians = {name: {c: statistics.median(run[c] for run in found) for c in columns} for name, found in runs.items()}
    for name, row in medians.items():
        print(f"{name:<12}" + "".join(f"{row[column]:>12.1f}" for column in columns))
    print(f"postgres has {medians['postgres']['req/s'] / medians['sqlite']['req/s']:.0%} of sqlite's requests per second")
    two_nodes(options)


def configure(binary, postgres, folder):
    config = Path(folder) / "config.toml"
    config.write_text(f'data = "{folder}/data"\nstore = "{postgres.url()}"\n')
    for arguments in [["store", "create", "--config", config], ["key", "new", "--data", Path(folder) / "data"]]:
        subprocess.run([binary, *arguments], check=True, capture_output=True)
    return config


def two_nodes(options):
    with Postgres() as postgres, tempfile.TemporaryDirectory() as folder:
        config = configure(options.binary, postgres, folder)
        nodes = [server.countersign(options.binary, None, config) for _ in range(2)]
        with nodes[0], nodes[1]:
            results = []
            askers = [threading.Thread(target=lambda node=node: results.append(ask(node, options))) for node in nodes]
            for asker in askers:
                asker.start()
            for asker in askers:
                asker.join()
        answers, errors = sum(result[0] for result in results), sum(result[1] for result in results)
        report = subprocess.run(
            [options.binary, "store", "check", "--config", config], check=True, capture_output=True, text=True
        ).stdout
        rows = json.loads(report)["receipts"]
        print(f"two nodes: {answers} answers in {options.seconds} s, {errors} errors, {rows} rows\n{report.strip()}")
        # wrk stops with a request under way on each connection.
        if errors or not answers <= rows <= answers + 2 * options.connections:
            raise SystemExit("rows and answers do not agree")


def ask(node, options):
    command = ["wrk", "-t1", f"-c{options.connections}", f"-d{options.seconds}s", "--timeout", "10s", "-s"]
    command += [str(server.HERE / "post.lua"), f"http://127.0.0.1:{node.port}/verify/schema"]
    done = subprocess.run(command, env=load.body(), check=True, capture_output=True, text=True)
    requests, *_, errors = map(float, done.stdout.splitlines()[-1].split())
    return int(requests), int(errors)


if __name__ == "__main__":
    main()
