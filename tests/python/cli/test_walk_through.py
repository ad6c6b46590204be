"""docs/mirrors.md says what happens: its commands as they are typed, in one process.

`python tests/python/cli/test_walk_through.py` writes the answers into the page anew.
"""

from __future__ import annotations

import contextlib
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1]))
from shell_support import Shell

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


def answers_of(shell: Shell, warehouse: Path) -> dict[str, list[str]]:
    """What each line of the file of verbs prints, in order."""
    told = shell("exec", "verbs.txt", folder=FOLDER, MOLDAU_WAREHOUSE=str(warehouse))
    assert told.code == 0, told.out + told.err
    found: dict[str, list[str]] = {}
    for one in map(json.loads, told.out.splitlines()):
        found.setdefault(one["command"], []).append(one["output"] + one["errors"])
    return found


def test_the_file_of_verbs_has_the_commands_of_the_page() -> None:
    verbs = [line for line in (FOLDER / "verbs.txt").read_text().splitlines() if line[0] != "#"]
    assert verbs == commands(PAGE.read_text())


def test_each_command_answers_as_the_page_says(shell: Shell, tmp_path: Path) -> None:
    page = PAGE.read_text()
    assert answered(page, answers_of(shell, tmp_path / "w")).splitlines() == page.splitlines()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, contextlib.closing(Shell()) as opened:
        PAGE.write_text(answered(PAGE.read_text(), answers_of(opened, Path(folder) / "w")))
