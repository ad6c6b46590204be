"""The lists that runs write into the warehouse: one folder per run, named by its run_id."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

from moldau.warehouse.paths import LISTS, PLAIN_LISTS

A_DAY = 86_400  # seconds: no run takes so long


def remove_lists(warehouse: Path, run_id: str, is_locked: bool) -> None:
    """Remove what other runs left, once nobody can read it any more.

    The views of a session go on reading the lists of its last run, so the next run removes them;
    who holds the lock knows that no other run is going on. A plain `dbt run` takes no lock and
    removes its own lists, so what is a day old is of one that was killed.
    """
    for folder in (*_folders(warehouse / LISTS), *_folders(warehouse / PLAIN_LISTS)):
        is_of_a_run = folder.parent.name == LISTS.name
        if folder.name != run_id and ((is_locked and is_of_a_run) or _is_old(folder)):
            shutil.rmtree(folder, ignore_errors=True)


def _folders(parent: Path) -> list[Path]:
    return [entry for entry in parent.glob("*") if entry.is_dir()]


def _is_old(folder: Path) -> bool:
    try:
        return time.time() - folder.stat().st_mtime > A_DAY
    except FileNotFoundError:  # its own run was faster
        return False
