"""docs/mirrors.md says what happens: its commands as they are typed, in one process.

`python tests/python/cli/test_walk_through.py` writes the answers into the page anew.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from moldau.engine.spark import BRIEF_OPTIONS
from moldau.project import ROOT, SAMPLES

pytestmark = pytest.mark.processes

PAGE = ROOT / "docs" / "mirrors.md"
FOLDER = SAMPLES / "mirrors"
BEGIN, END = "```console", "```"


def commands(page: str) -> list[str]:
    return [line[2:] for line in page.splitlines() if line.startswith("$ ")]


def answered(page: str, answers: dict[str, list[str]]) -> str:
    """The page with these answers below its commands; to one that is typed again, the next one."""

    def lines() -> Iterator[str]:
        is_console = False
        for line in page.splitlines():
            if line == BEGIN or (is_console and line == END):
                is_console = line == BEGIN
            elif is_console and not line.startswith("$ "):
                continue
            yield line
            if is_console and line != BEGIN:
                yield from answers[line[2:]].pop(0).splitlines()

    return "".join(line.rstrip() + "\n" for line in lines())


def answers_of(warehouse: Path) -> dict[str, list[str]]:
    """What each line of the file of verbs prints, in order."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("MOLDAU_", "DBT_"))}
    program = "from moldau.cli import main; main()"
    told = subprocess.run(
        [sys.executable, "-c", program, "exec", "verbs.txt"],
        capture_output=True,
        text=True,
        env=kept
        | {
            "MOLDAU_WAREHOUSE": str(warehouse),
            "MOLDAU_JAVA_OPTIONS": BRIEF_OPTIONS,
            "MOLDAU_DRIVER_MEMORY": "1g",
        },
        cwd=FOLDER,
        timeout=900,
    )
    assert told.returncode == 0, told.stdout + told.stderr
    found: dict[str, list[str]] = {}
    for one in map(json.loads, told.stdout.splitlines()):
        found.setdefault(one["command"], []).append(one["output"] + one["errors"])
    return found


def test_the_file_of_verbs_has_the_commands_of_the_page() -> None:
    verbs = [line for line in (FOLDER / "verbs.txt").read_text().splitlines() if line[0] != "#"]
    assert verbs == commands(PAGE.read_text())


def test_each_command_answers_as_the_page_says(tmp_path: Path) -> None:
    page = PAGE.read_text()
    assert answered(page, answers_of(tmp_path / "w")).splitlines() == page.splitlines()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        PAGE.write_text(answered(PAGE.read_text(), answers_of(Path(folder) / "w")))
