"""Rows into a table that exists, without Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from moldau.errors import MoldauError
from moldau.warehouse.damage import open_table

if TYPE_CHECKING:
    import pyarrow as pa
    from deltalake import DeltaTable, WriterProperties

ACTION = "_action"
# a merge rewrites files and reads groups of rows that may hold a changed key: small ones are few
FILE_BYTES = 16 * 1024 * 1024
ROWS_IN_GROUP = 128 * 1024


def append(
    warehouse: Path, table: str, batches: Iterable[pa.RecordBatch], is_instead: bool = False
) -> DeltaTable:
    """One Delta commit; Delta holds the rows against the table's checks. Gives the table after it.

    `is_instead`: in the place of all rows that are there.
    """
    import pyarrow as pa
    from deltalake import write_deltalake

    opened = open_table(warehouse.joinpath(*table.split(".")))
    schema = pa.schema(opened.schema().to_arrow())
    suited = (batch.select(schema.names).cast(schema) for batch in batches)
    write_deltalake(
        opened,
        pa.RecordBatchReader.from_batches(schema, suited),
        mode="overwrite" if is_instead else "append",
        target_file_size=FILE_BYTES,
        writer_properties=_properties(),
    )
    return opened


def with_rows(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch] | None:
    """The batches from the first that has a row; None if no one has."""
    following = iter(batches)
    first = next((batch for batch in following if batch.num_rows), None)
    return None if first is None else chain([first], following)


def _properties() -> WriterProperties:
    from deltalake import WriterProperties

    return WriterProperties(compression="SNAPPY", max_row_group_size=ROWS_IN_GROUP)


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
    import pyarrow as pa
    import pyarrow.compute as pc

    batches = with_rows(rows)
    if batches is None:
        return None
    opened = open_table(warehouse.joinpath(*table.split(".")))
    if opened.version() != version:
        raise ChangedMeanwhileError
    if not opened.file_uris():
        # the same, faster, and never all rows in memory
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
    _merge(opened, key, suited.append_column(ACTION, actions))
    return opened


def _merge(opened: DeltaTable, key: Sequence[str], rows: pa.Table) -> None:
    from deltalake.exceptions import CommitFailedError

    columns = {f"`{name}`": f"s.`{name}`" for name in rows.column_names if name != ACTION}
    same = " and ".join(f"t.{name} = s.{name}" for name in key)
    try:
        (
            opened.merge(
                rows,
                same,
                source_alias="s",
                target_alias="t",
                streamed_exec=False,  # only so files without a changed key are left out
                writer_properties=_properties(),
            )
            .when_matched_delete(f"s.{ACTION} = 'delete'")
            .when_matched_update(columns, f"s.{ACTION} = 'update'")
            .when_not_matched_insert(columns, f"s.{ACTION} = 'insert'")
            .execute()
        )
    except CommitFailedError:
        raise ChangedMeanwhileError from None
