"""Join the small files of tables that only grow, and delete what nobody needs any more.

No command is to open a file for each run. It follows the row of a run, about once in MANY commits
of a table, the deleting once in SELDOM. Who is killed meanwhile leaves files that no commit names:
they go with the others.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING

from moldau.instants import now_ms
from moldau.warehouse.commit import cleans_up, commit_joined, is_plain
from moldau.warehouse.damage import DamagedError, UnreadableError, open_table, path_of
from moldau.warehouse.delta_log import LogDamageError, forget_before
from moldau.warehouse.files import (
    FILE_BYTES,
    indexed_columns,
    remove,
    write_file,
    write_files,
)
from moldau.warehouse.files_read import read_files
from moldau.warehouse.kept import keep_table, kept_table, take_table
from moldau.warehouse.opened import hides_rows, may_hide_rows
from moldau.warehouse.paths import REFUSED

if TYPE_CHECKING:
    import pyarrow as pa
    from deltalake import DeltaTable

MANY = 16  # commits, each of which leaves a file or a few
SELDOM = 8 * MANY  # commits: what is deleted is looked for among all files of a week
AT_ONCE_BYTES = 8 * FILE_BYTES  # at most so much is written anew by one run, of each table
# commits that the log of state.runs keeps, if a day has more: each tick writes one, and whoever
# opens or extends a table lists all of its log. Its rows never change, so a version of before says
# nothing that `where run_id <= …` does not
LOG_OF_RUNS = 1000


Retention = Callable[[str], int | None]
"""Of a table: so many hours data files stay that only earlier versions need; None = as the table
says (`delta.deletedFileRetentionDuration`, a week unless somebody has set it)."""


_RUNS, _WEEK = "state.runs", 7 * 24
_NOT_OURS = "partitions, hidden rows or features of Delta leave them to another writer"


@dataclass(frozen=True)
class Maintained:
    """What was done for a table, or would be. Joined files stay until the retention is over."""

    table: str
    files_joined: int
    files_deleted: int
    bytes_freed: int
    left: str | None = None
    """Why its small files stay as they are."""


def maintain(
    warehouse: Path, name: str, retention: Retention, is_dry_run: bool = False
) -> Maintained:
    """Do all that is due for a table. DamagedError if it cannot be read.

    The warehouse is locked by the caller.
    """
    folder = warehouse.joinpath(*name.split("."))
    opened = open_table(folder)
    joined, left = 0, None
    if _only_grows(name):
        if is_dry_run:
            joined = len(_due(opened))
        else:
            while now := join_small_files(open_table(folder)):
                joined += now
        left = None if _is_ours(opened) or len(_small(opened)) < MANY else _NOT_OURS
    opened = open_table(folder)
    deleted = _unneeded(opened, retention(name))
    freed = sum((folder / file).stat().st_size for file in deleted if (folder / file).is_file())
    if not is_dry_run:
        _delete(opened, deleted, retention(name))
    return Maintained(name, joined, len(deleted), freed, left)


def overdue(opened: DeltaTable, name: str) -> str | None:
    """What is due for a table, and why no run has done it; None = runs keep up with it."""
    small = len(_small(opened)) if _only_grows(name) else 0
    if small < 4 * MANY:
        return None
    why = "runs join them by and by" if _is_ours(opened) else _NOT_OURS
    return f"{small} small files: {why}"


def delete_unneeded(opened: DeltaTable, hours: int | None = None) -> None:
    """Delete data files, older than these hours, that no version within them needs.

    None = as the table says. Nothing is committed where there is none."""
    _delete(opened, _unneeded(opened, hours), hours)


def _delete(opened: DeltaTable, files: Sequence[str], hours: int | None) -> None:
    """Files that are unneeded beyond these hours."""
    if files and not may_hide_rows(opened):
        opened.vacuum(hours, dry_run=False, enforce_retention_duration=False, full=True)
    elif "://" not in (folder := path_of(opened.table_uri)):
        for file in files:
            Path(folder, file).unlink(missing_ok=True)


def _unneeded(opened: DeltaTable, hours: int | None) -> list[str]:
    """All of the folder is looked through: with a checkpoint the log forgets what was removed.

    But for deletion vectors: Delta's library lists those, too, that hide rows now."""
    found = opened.vacuum(hours, dry_run=True, enforce_retention_duration=False, full=True)
    return [file for file in found if not file.endswith(".bin")]


def keep_up(
    warehouse: Path, before: Mapping[str, int], after: Mapping[str, int], retention: Retention
) -> None:
    """Do what is due, of the tables that a run took from one version to another.

    What cannot be read, or is changed by another writer meanwhile, is left as it is.
    """
    from deltalake.exceptions import DeltaError

    def has_passed(name: str, commits: int) -> bool:
        return after.get(name, 0) // commits > before.get(name, 0) // commits

    for name in after:
        if not has_passed(name, MANY):
            continue
        # whoever needs the table, or the disk, tells
        with contextlib.suppress(DamagedError, UnreadableError, DeltaError, OSError):
            opened = take_table(warehouse.joinpath(*name.split(".")))
            if _only_grows(name):
                join_small_files(opened)
            if has_passed(name, SELDOM):
                delete_unneeded(opened, retention(name))
            keep_table(opened)
    if has_passed(_RUNS, SELDOM):
        forget_refusals(warehouse, retention)
        forget_commits(warehouse, after[_RUNS] - LOG_OF_RUNS)


def forget_refusals(warehouse: Path, retention: Retention) -> None:
    """Of loads of long ago."""
    hours = retention(_RUNS) or _WEEK
    for file in (warehouse / REFUSED).glob("*.jsonl"):
        with contextlib.suppress(OSError):
            if now_ms() - file.stat().st_mtime * 1000 > hours * 3_600_000:
                file.unlink()


def forget_commits(warehouse: Path, version: int) -> None:
    """Of state.runs, those that only versions before this one need, as far as they can be deleted.

    Delta's property `delta.enableExpiredLogCleanup` may forbid it."""
    folder = warehouse.joinpath(*_RUNS.split("."))
    if version > 0 and cleans_up(kept_table(folder)):
        with contextlib.suppress(LogDamageError, OSError):
            forget_before(folder, version)


def _only_grows(name: str) -> bool:
    return name.split(".")[0] in ("raw", "decoded", "history") or name == _RUNS


def join_small_files(opened: DeltaTable) -> int:
    """Write the rows of small files into as few as they need, in one commit; gives their number."""
    import pyarrow as pa
    from deltalake.exceptions import CommitFailedError
    from deltalake.transaction import RemoveAction

    paths = _due(opened)
    if not paths:
        return 0
    folder = Path(path_of(opened.table_uri))
    schema = pa.schema(opened.schema().to_arrow())
    indexed = indexed_columns(opened, schema)
    added = write_files(
        folder,
        _batches(folder, paths, schema),
        lambda rows: write_file(folder, rows, indexed),
    )
    gone = [RemoveAction(path, False, now_ms()) for path in paths]
    try:
        commit_joined(opened, [*added, *gone])
    except CommitFailedError:
        remove(folder, added)
        return 0
    return len(paths)


def _due(opened: DeltaTable) -> list[str]:
    """The small files that are worth a commit, where moldau may write the table's files."""
    paths = _small(opened)
    return paths if len(paths) >= MANY // 2 and _is_ours(opened) else []


def _is_ours(opened: DeltaTable) -> bool:
    """moldau may write the table's files anew: nothing is asked of them that it does not know."""
    has_parts = bool(opened.metadata().partition_columns)
    return is_plain(opened) and not has_parts and not hides_rows(opened)


def _small(opened: DeltaTable) -> list[str]:
    """The smallest of the files that are less than half full, in the order in which they came."""
    added = opened.get_add_actions()
    # only these columns: those of statistics would make pyarrow import pandas for half a second
    files = zip(
        *(added.column(n).to_pylist() for n in ("size_bytes", "modification_time", "path")),
        strict=True,
    )
    small = sorted(file for file in files if file[0] < FILE_BYTES // 2)
    sizes = accumulate(size for size, _, _ in small)
    chosen = [
        file for file, all_bytes in zip(small, sizes, strict=True) if all_bytes <= AT_ONCE_BYTES
    ]
    return [path for _, _, path in sorted(chosen, key=itemgetter(1, 2))]


def _batches(folder: Path, paths: Sequence[str], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    for path in paths:
        yield from read_files(folder, [path], schema).to_batches()
