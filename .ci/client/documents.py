"""The pages of docs/integrations: every block with a language is run, or compared with what a block before it wrote.

    python, js     run as they are
    shell          run; `npx NAME@VERSION` takes the pinned package and refuses another version
    json, toml     equal to the file that the line before names, which a shell block of the page has written; a json that
                   names a command instead is a host's: the command is started and asked for its tools
    console        run by .ci/docs.py
    text           not run; the page says why
    yaml           linted by the rows of GitHub Actions

All blocks of a page run in one folder that has examples/ in it. The address in the pages is taken for the service's.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from expected import URL, check_tools
from lines import Lines

ROOT = Path(os.environ["REPOSITORY"])
PAGES = ROOT / "docs/integrations"
ADDRESS = "http://127.0.0.1:8402"
BLOCK = re.compile(r"^(?:`([^`\n]+)`|[^\n]*?`([^`\n]+)`):\n\n```(\w+)\n(.*?)^```$|^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LEFT_TO_OTHERS = {"console", "text", "yaml"}
# Rows of the table, and the page that the GitHub Actions rows read.
TABLE = (Path(__file__).parent / "table.py").read_text()


def main():
    if sys.argv[1] == "--complete":
        return complete()
    page = PAGES / sys.argv[1]
    shutil.copytree(ROOT / "examples", "examples")
    ran = 0
    for name, language, text in blocks(page.read_text()):
        if language in LEFT_TO_OTHERS:
            continue
        text = text.replace(ADDRESS, URL)
        if language == "json" and '"command"' in text:
            start(json.loads(text))
        elif language in ("json", "toml"):
            compare(name, text)
        else:
            {"python": python, "js": javascript, "shell": shell}[language](text)
        ran += 1
    assert ran or "```console" in page.read_text(), f"{page.name} has nothing to run"
    print(f"{page.name}: {ran} blocks as written")


def complete():
    """No page without a row, no block without a language."""
    pages = sorted(PAGES.glob("*.md"))
    assert pages
    for page in pages:
        assert f'"{page.name}"' in TABLE or page.name == "github-actions.md", f"{page.name} has no row in table.py"
        for _, language, _ in blocks(page.read_text()):
            assert language, f"{page.name}: a block has no language"


def blocks(text):
    for match in BLOCK.finditer(text):
        first, later, language, body, plain_language, plain_body = match.groups()
        if language is None:
            yield None, plain_language, plain_body
        else:
            yield first or later, language, body


def python(text):
    run(["python3", "-c", text])


def javascript(text):
    Path("block.mjs").write_text(text)
    run(["node", "block.mjs"])


def shell(text):
    run(["bash", "-euo", "pipefail", "-c", text], PATH=with_npx())


def with_npx():
    """PATH with an `npx` in front that takes pinned packages alone."""
    programs = Path("programs")
    programs.mkdir(exist_ok=True)
    npx = programs / "npx"
    npx.write_text(f"#!/bin/sh\nexec python3 {Path(__file__).parent / 'npx.py'} \"$@\"\n")
    npx.chmod(0o755)
    return f"{programs.resolve()}:{os.environ['PATH']}"


def start(configuration):
    """Each server of a host's configuration, as the host would start it."""
    for server in configuration["mcpServers"].values():
        command = shutil.which(server["command"], path=with_npx())
        with Lines([command, *server["args"]]) as lines:
            lines.open()
            check_tools(tool["name"] for tool in lines.ask("tools/list", {})["tools"])


def run(command, **more):
    done = subprocess.run(command, env={**os.environ, **more}, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, f"exit {done.returncode} of\n{command[-1]}"


def compare(name, text):
    assert name, f"no line before this block names its file:\n{text}"
    written = Path(name).read_text()
    if name.endswith("toml"):
        assert written.strip() == text.strip(), f"{name} is written as\n{written}"
    else:
        assert json.loads(written) == json.loads(text), f"{name} is written as\n{written}"


if __name__ == "__main__":
    main()
