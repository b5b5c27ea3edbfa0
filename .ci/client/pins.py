"""The clients' packages: one place per set of pins, made anew when the pins change."""

import concurrent.futures
import hashlib
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

PINS = Path(__file__).resolve().parent / "pins"
# Scripts of packages do not run while they are installed, but for these: Claude Code puts its program, which a package of
# its own brought, into place.
INSTALLERS = ["node_modules/@anthropic-ai/claude-code/install.cjs"]


@dataclass
class Place:
    """Where a row finds its client: what stands first in PATH, and what else it must know."""

    paths: list
    environment: dict = field(default_factory=dict)


def install(names, target):
    """A `Place` for each name; those that are missing are installed, next to each other. Any fault ends the run."""
    target.mkdir(parents=True, exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        return dict(zip(names, pool.map(lambda name: place(name, target), names)))


def place(name, target):
    if name == "node" or name.startswith("node-"):
        # A script finds packages only from a folder that holds them, so rows of Node.js run from copies beside them.
        folder = once(name, target, node_sources(name), install_node)
        paths, environment = [folder / "node_modules/.bin"], {"CLIENT_SCRIPTS": str(folder)}
        for script in [*PINS.parent.glob("*.mjs"), PINS.parent / "cases.json"]:
            shutil.copy2(script, folder / script.name)
        return Place(paths, environment)
    folder = once(name, target, [PINS / f"{name}.txt"], install_python)
    return Place([folder / "bin"], {"VIRTUAL_ENV": str(folder)})


def node_sources(name):
    return [PINS / name / part for part in ["package.json", "package-lock.json", ".npmrc"]]


def once(name, target, sources, installer):
    """The folder of these pins. Its name carries their hash, and a mark in it tells that it is whole."""
    read = b"".join(source.read_bytes() for source in [*sources, Path(__file__)])
    digest = hashlib.sha256(read + sys.version.encode()).hexdigest()
    folder = target / f"{name}.{digest[:12]}"
    mark = folder / "whole"
    if not mark.exists():
        for old in target.glob(f"{name}.*"):
            shutil.rmtree(old)
        print(f"installing {name}", flush=True)
        installer(folder, sources)
        mark.touch()
    return folder


def install_python(folder, sources):
    call([sys.executable, "-m", "venv", folder])
    call([folder / "bin/pip", "install", "--quiet", "--no-deps", "--only-binary", ":all:", "-r", *sources])
    call([folder / "bin/pip", "check"])


def install_node(folder, sources):
    folder.mkdir(parents=True)
    for source in sources:
        shutil.copy2(source, folder / source.name)
    call(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], folder)
    for script in INSTALLERS:
        if (folder / script).exists():
            call(["node", script], folder)


def call(command, folder=None):
    environment = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"}
    try:
        done = subprocess.run(command, cwd=folder, env=environment, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
    except FileNotFoundError:
        raise SystemExit(f"{command[0]} is missing; the clients are installed with it") from None
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout}")
