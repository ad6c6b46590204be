"""Tables that stay open as long as the process: what an opening reads grows with all that a week
has removed, and a run asks for the same few tables some thirty times."""

from __future__ import annotations

import os
from collections import OrderedDict
from pathlib import Path
from typing import TYPE_CHECKING

from moldau.warehouse.damage import looking_at, open_table, path_of
from moldau.warehouse.delta_log import newest_version

if TYPE_CHECKING:
    from deltalake import DeltaTable

_MANY = 256  # tables
_Commit = tuple[int, int, int, int]
"""Version, inode, size and time: the same commit in the same log."""

_kept: OrderedDict[Path, tuple[DeltaTable, _Commit]] = OrderedDict()


def kept_table(folder: Path) -> DeltaTable:
    """The table at its latest version, as `open_table` gives it.

    All who only read share it, and it moves on when somebody asks later: who needs one version for
    longer than a statement opens a table of his own.
    """
    return keep_table(take_table(folder))


def take_table(folder: Path) -> DeltaTable:
    """The same for who commits to it: from now on his alone, and kept no more until he says so."""
    folder = Path(os.path.abspath(folder))
    with looking_at(folder):
        return _moved_on(folder) or open_table(folder)


def keep_table(table: DeltaTable) -> DeltaTable:
    """Keep a table that is open, and at its latest version."""
    folder = Path(path_of(table.table_uri))
    if commit := _commit(folder, table.version()):
        _kept[folder] = (table, commit)
    if len(_kept) > _MANY:
        _kept.popitem(last=False)
    return table


def is_kept(folder: Path) -> bool:
    return Path(os.path.abspath(folder)) in _kept


def _moved_on(folder: Path) -> DeltaTable | None:
    """The kept one with the commits that came since; None = there is none of this log.

    A commit that was seen and is not what it was, or gone: another table, or a lost version."""
    table, commit = _kept.pop(folder, (None, None))
    newest = newest_version(folder)
    if table is None or commit is None or commit != _commit(folder, commit[0]):
        return None
    if table.version() < newest:
        table.update_incremental()
    return table if table.version() == newest else None


def _commit(folder: Path, version: int) -> _Commit | None:
    """None = it is gone: only a checkpoint has what it said."""
    try:
        found = os.stat(folder / "_delta_log" / f"{version:020d}.json")
    except FileNotFoundError:
        return None
    return (version, found.st_ino, found.st_size, found.st_mtime_ns)
