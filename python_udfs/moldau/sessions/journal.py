"""The journal of a run: what the next command needs to finish it, should this one be killed."""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path

from moldau.instants import now_ms
from moldau.sessions.brought import Brought
from moldau.sessions.run import Run
from moldau.warehouse.notes import NotUnderstood, read_note, write_note
from moldau.warehouse.paths import LOADS, RUNS

OF_A_LOAD = "load.json"  # the journal of a load of moldau 0.1, beside its rows


def journal_of(warehouse: Path, run_id: str) -> Path:
    return warehouse / RUNS / f"{run_id}.json"


def staged_folder(warehouse: Path, run_id: str) -> Path:
    """Where the rows of a load lie until its end."""
    return warehouse / LOADS / run_id


def note(warehouse: Path, run: Run) -> None:
    """Note on disk how far the run is. From here on it is finished, whatever happens."""
    write_note(journal_of(warehouse, run.run_id), run)


def forget(warehouse: Path, run_id: str) -> None:
    """The run has its row: nothing of it is left to be done."""
    # else it would become the journal again
    (staged_folder(warehouse, run_id) / OF_A_LOAD).unlink(missing_ok=True)
    journal_of(warehouse, run_id).unlink()
    shutil.rmtree(staged_folder(warehouse, run_id), ignore_errors=True)


def read(journal: Path) -> Run:
    """The run that is told there; NotUnderstood if it is of another form."""
    try:
        return read_note(journal, Run)
    except NotUnderstood:
        with contextlib.suppress(NotUnderstood):  # a load of moldau 0.1
            return run_of(read_note(journal, Brought))
        raise


def run_of(brought: Brought) -> Run:
    """The run of a load."""
    clusters = [brought.cluster_id]
    return Run(brought.run_id, "load", clusters, now_ms(), load_kind=brought.kind, brought=brought)


def interrupted(warehouse: Path) -> list[Path]:
    """The journals that killed commands left, in the order of the runs.

    Of a load that has none yet nothing was taken in: its staged rows are removed.
    """
    for folder in filter(Path.is_dir, (warehouse / LOADS).glob("*")):
        journal = journal_of(warehouse, folder.name)
        if journal.exists():
            continue  # also of a load of 0.1 that is tried again
        if (folder / OF_A_LOAD).exists():
            os.rename(folder / OF_A_LOAD, journal)
        else:
            shutil.rmtree(folder)
    return sorted((warehouse / RUNS).glob("*.json"))
