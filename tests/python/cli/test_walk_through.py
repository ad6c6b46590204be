"""Pages of docs say what happens: their commands as they are typed, in one process.

`python tests/python/cli/test_walk_through.py` writes the answers into the pages anew.
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

PAGES = ("mirrors", "timeline")
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


def page_of(name: str) -> Path:
    """Its sample is the folder of that name."""
    return ROOT / "docs" / f"{name}.md"


def answers_of(shell: Shell, name: str, warehouse: Path) -> dict[str, list[str]]:
    """What each line of the file of verbs prints, in order."""
    told = shell("exec", "verbs.txt", folder=SAMPLES / name, MOLDAU_WAREHOUSE=str(warehouse))
    assert told.code == 0, told.out + told.err
    found: dict[str, list[str]] = {}
    for one in map(json.loads, told.out.splitlines()):
        found.setdefault(one["command"], []).append(one["output"] + one["errors"])
    return found


@pytest.mark.parametrize("name", PAGES)
def test_the_file_of_verbs_has_the_commands_of_the_page(name: str) -> None:
    text = (SAMPLES / name / "verbs.txt").read_text()
    verbs = [line for line in text.splitlines() if line[0] != "#"]
    assert verbs == commands(page_of(name).read_text())


@pytest.mark.parametrize("name", PAGES)
def test_each_command_answers_as_the_page_says(shell: Shell, name: str, tmp_path: Path) -> None:
    page = page_of(name).read_text()
    found = answered(page, answers_of(shell, name, tmp_path / "w"))
    assert found.splitlines() == page.splitlines()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, contextlib.closing(Shell()) as opened:
        for name in sys.argv[1:] or PAGES:
            page = page_of(name)
            found = answers_of(opened, name, Path(folder) / name)
            page.write_text(answered(page.read_text(), found))
