"""Merge rows into a table (insert, update, delete) without Spark."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import CommitProperties, DeltaTable
from deltalake.exceptions import CommitFailedError

from moldau.errors import MoldauError
from moldau.warehouse.append import append, with_rows
from moldau.warehouse.kept import keep_table, take_table
from moldau.warehouse.opened import hides_rows
from moldau.warehouse.paths import NEW
from moldau.warehouse.rewrite import ACTION, rewrite


class SeveralChangesError(MoldauError):
    """Rows that are merged disagree about one row of the table."""


class ChangedMeanwhileError(Exception):
    """Another writer has committed to the table since it was read."""


def merge(
    warehouse: Path, table: str, key: Sequence[str], rows: Iterable[pa.RecordBatch], version: int
) -> DeltaTable | None:
    """Rows of a table as they are to be, by their key; nothing is committed if there are none.

    Gives the table after the commit, None = there was none.
    `_action` of each says whether it is inserted, updated or deleted. `version`: that of the table
    from which this follows. One commit; ChangedMeanwhileError if there is a later version. Into an
    empty table rows are appended: of a writer that comes during that only the lock keeps us.
    """
    batches = with_rows(rows)
    if batches is None:
        return None
    opened = take_table(warehouse.joinpath(*table.split(".")))
    if opened.version() != version:
        raise ChangedMeanwhileError
    if not opened.file_uris():
        # the same, faster, and never all rows in memory
        keep_table(opened)
        return append(warehouse, table, batches)
    fields = pa.schema(opened.schema().to_arrow())
    # of a row that is deleted only the key is known; Delta refuses others that lack a value
    schema = pa.schema([field.with_nullable(True) for field in fields])
    changes = pa.Table.from_batches(batches)
    actions = changes[ACTION]
    suited = changes.select(schema.names).cast(schema)
    changed = suited.filter(pc.not_equal(actions, "insert"))
    if changed.group_by(list(key)).aggregate([]).num_rows < changed.num_rows:
        raise SeveralChangesError(f"several rows change the same row of {table} by its key {key}")
    suited = suited.append_column(ACTION, actions)
    try:
        if opened.metadata().partition_columns or hides_rows(opened):
            _merge_by_delta(opened, key, suited)
        else:
            rewrite(opened, key, suited, warehouse / NEW)
    except CommitFailedError:
        raise ChangedMeanwhileError from None
    return keep_table(opened)


def _merge_by_delta(opened: DeltaTable, key: Sequence[str], rows: pa.Table) -> None:
    """Delta's library knows which rows a deletion vector hides, and which partition a row is of."""
    columns = {f"`{name}`": f"s.`{name}`" for name in rows.column_names if name != ACTION}
    same = " and ".join(f"t.{name} = s.{name}" for name in key)
    (
        opened.merge(
            rows,
            same,
            source_alias="s",
            target_alias="t",
            streamed_exec=False,  # only so files without a changed key are left out
            commit_properties=CommitProperties(max_commit_retries=0),
        )
        .when_matched_delete(f"s.{ACTION} = 'delete'")
        .when_matched_update(columns, f"s.{ACTION} = 'update'")
        .when_not_matched_insert(columns, f"s.{ACTION} = 'insert'")
        .execute()
    )
