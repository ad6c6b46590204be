"""Loads and runs that cannot be finished: set aside with the reason, so that all else goes on.

An entry is a folder `<warehouse>/_moldau/aside/<run_id>` with `reason.json` and what was moved
there: the journal of a run, and of a load its staged rows.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

from moldau.warehouse.durable import fsync
from moldau.warehouse.notes import EXACTLY, NotUnderstood, read_note, write_note
from moldau.warehouse.paths import ASIDE, LOADS

_REASON, _MOVED, _STAGED = "reason.json", "moved", "staged"


@dataclass(frozen=True)
class Aside:
    """`moved`: the journal of the run, as it was found; of a load of moldau 0.1 its folder."""

    run_id: str
    reason: str
    at_ms: int | None
    moved: Path

    @property
    def kind(self) -> str:
        return self.run_id.partition("-")[2]

    @property
    def is_load(self) -> bool:
        return self.kind.rstrip("+") == "load"

    @property
    def staged(self) -> Path:
        """The folder of the rows of a load."""
        return self.moved.with_name(_STAGED)


@dataclass(frozen=True)
class _Reason:
    __pydantic_config__ = EXACTLY

    reason: str
    at_ms: int


def set_aside(warehouse: Path, journal: Path, reason: str) -> Aside:
    """Move a journal, named by its run_id, and what the run brings out of every command's way."""
    entry = warehouse / ASIDE / journal.stem
    while (entry / _MOVED).exists():  # only what no command of moldau named comes twice
        entry = entry.with_name(f"{entry.name}+")
    told = _Reason(" ".join(reason.split())[:2000], time.time_ns() // 1_000_000)
    if not (entry / _STAGED).exists():  # else it was told before a kill in the middle
        write_note(entry / _REASON, told)
    with contextlib.suppress(FileNotFoundError):
        os.rename(warehouse / LOADS / journal.stem, entry / _STAGED)
    os.rename(journal, entry / _MOVED)
    fsync(entry, entry.parent, journal.parent)
    return Aside(entry.name, told.reason, told.at_ms, entry / _MOVED)


def read_aside(warehouse: Path) -> list[Aside]:
    """What is set aside, in the order of the runs."""
    folder = warehouse / ASIDE
    entries = sorted(folder.iterdir()) if folder.is_dir() else []
    return [_read(entry) for entry in entries if (entry / _MOVED).exists()]


def in_words(entry: Aside) -> str:
    """One line: what is set aside, why, and what can be done about it."""
    if entry.is_load:
        choice = f"`moldau load --retry {entry.run_id}` or `--drop {entry.run_id}` decides"
    else:
        choice = (
            f"the next {entry.kind} decides anew, `moldau load --drop {entry.run_id}` forgets it"
        )
    return f"{entry.run_id} could not be finished and is set aside ({entry.reason}): {choice}"


def forget(warehouse: Path, run_id: str) -> None:
    shutil.rmtree(warehouse / ASIDE / run_id)


def _read(entry: Path) -> Aside:
    told = _Reason("nobody noted why", 0)
    with contextlib.suppress(NotUnderstood, OSError):
        told = read_note(entry / _REASON, _Reason)
    return Aside(entry.name, told.reason, told.at_ms or None, entry / _MOVED)
