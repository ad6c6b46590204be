"""Join the small files of tables that only grow, and delete what nobody needs any more.

No command is to open a file for each run. It follows the row of a run, about once in MANY commits
of a table. Who is killed meanwhile leaves files that no commit names; `moldau maintain` finds them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from moldau.instants import now_ms
from moldau.warehouse.commit import commit_joined, is_plain
from moldau.warehouse.damage import DamagedError, UnreadableError, open_table, path_of
from moldau.warehouse.files import (
    FILE_BYTES,
    indexed_columns,
    read_files,
    remove,
    write_file,
    write_files,
)
from moldau.warehouse.opened import hides_rows

if TYPE_CHECKING:
    import pyarrow as pa
    from deltalake import DeltaTable

MANY = 64  # commits, each of which leaves a file or a few
RETENTION_HOURS = 7 * 24  # so long data files stay that only earlier versions need
AT_ONCE_BYTES = 8 * FILE_BYTES  # at most so much is written anew by one run, of each table


@dataclass(frozen=True)
class Maintained:
    """What was done for a table, or would be. Joined files stay until the retention is over."""

    table: str
    files_joined: int
    files_deleted: int
    bytes_freed: int


def maintain(warehouse: Path, name: str, is_dry_run: bool) -> Maintained:
    """Do all that is due for a table. DamagedError if it cannot be read.

    The warehouse is locked by the caller.
    """
    folder = warehouse.joinpath(*name.split("."))
    joined = 0
    if _only_grows(name):
        if is_dry_run:
            joined = len(_due(open_table(folder)))
        else:
            while now := join_small_files(open_table(folder)):
                joined += now
    opened = open_table(folder)
    deleted = _delete_unneeded(opened, is_dry_run=True)
    freed = sum((folder / file).stat().st_size for file in deleted if (folder / file).is_file())
    if deleted and not is_dry_run:
        _delete_unneeded(opened, is_dry_run=False)
    return Maintained(name, joined, len(deleted), freed)


def _delete_unneeded(opened: DeltaTable, is_dry_run: bool, is_full: bool = True) -> list[str]:
    """Files that no version of the retention names. `is_full`: also those that no commit names."""
    found: list[str] = opened.vacuum(
        RETENTION_HOURS, dry_run=is_dry_run, enforce_retention_duration=False, full=is_full
    )
    return found


def keep_up(warehouse: Path, before: Mapping[str, int], after: Mapping[str, int]) -> None:
    """Do what is due, of the tables that a run took from one version to another.

    What cannot be read, or is changed by another writer meanwhile, is left as it is.
    """
    from deltalake.exceptions import DeltaError

    for name, version in after.items():
        if version // MANY == before.get(name, 0) // MANY:
            continue
        # whoever needs the table, or the disk, tells
        with contextlib.suppress(DamagedError, UnreadableError, DeltaError, OSError):
            opened = open_table(warehouse.joinpath(*name.split(".")))
            if _only_grows(name):
                join_small_files(opened)
            if _delete_unneeded(opened, is_dry_run=True, is_full=False):
                _delete_unneeded(opened, is_dry_run=False, is_full=False)


def _only_grows(name: str) -> bool:
    return name.split(".")[0] in ("raw", "decoded", "history") or name == "state.runs"


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
    is_ours = is_plain(opened) and not opened.metadata().partition_columns
    return paths if len(paths) >= MANY // 2 and is_ours and not hides_rows(opened) else []


def _small(opened: DeltaTable) -> list[str]:
    """The smallest of the files that are less than half full, in the order in which they came."""
    import pyarrow as pa

    found = pa.table(opened.get_add_actions(flatten=True)).to_pylist()
    small = [file for file in found if file["size_bytes"] < FILE_BYTES // 2]
    small.sort(key=lambda file: file["size_bytes"])
    chosen = []
    size = 0
    for file in small:
        size += file["size_bytes"]
        if size > AT_ONCE_BYTES:
            break
        chosen.append(file)
    chosen.sort(key=lambda file: (file["modification_time"], file["path"]))
    return [file["path"] for file in chosen]


def _batches(folder: Path, paths: Sequence[str], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    for path in paths:
        yield from read_files(folder, [path], schema).to_batches()
