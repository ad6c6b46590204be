"""Append rows to a table, without Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from moldau.warehouse.commit import commit_added
from moldau.warehouse.damage import path_of
from moldau.warehouse.files import (
    indexed_columns,
    remove,
    rows_told,
    write_file,
    write_files,
)
from moldau.warehouse.hold import Contract
from moldau.warehouse.kept import keep_table, take_table
from moldau.warehouse.paths import NEW

if TYPE_CHECKING:
    import pyarrow as pa
    from deltalake import DeltaTable
    from deltalake.transaction import AddAction


def append(
    warehouse: Path, table: str, batches: Iterable[pa.RecordBatch], is_instead: bool = False
) -> DeltaTable:
    """One Delta commit of rows that keep the table's contract. Gives the table after it.

    `is_instead`: in the place of all rows that are there. Files that no commit names are left by
    who is killed.
    """
    opened = take_table(warehouse.joinpath(*table.split(".")))
    append_to(opened, batches, warehouse / NEW, is_instead)
    return keep_table(opened)


def append_to(
    opened: DeltaTable,
    batches: Iterable[pa.RecordBatch],
    scratch: Path,
    is_instead: bool = False,
) -> None:
    """The same to a table that is open, and at its new version then."""
    import pyarrow as pa
    from deltalake import write_deltalake

    schema = pa.schema(opened.schema().to_arrow())
    suited = (batch.select(schema.names).cast(schema) for batch in batches)
    mode: Literal["overwrite", "append"] = "overwrite" if is_instead else "append"
    if opened.metadata().partition_columns:  # by whoever made the table anew
        write_deltalake(opened, pa.RecordBatchReader.from_batches(schema, suited), mode=mode)
        return
    folder = Path(path_of(opened.table_uri))
    indexed = indexed_columns(opened, schema)
    contract = Contract(opened, scratch)

    def write(rows: pa.Table) -> AddAction:
        contract.hold(rows)
        return write_file(folder, rows, indexed)

    rows_before = 0 if is_instead else rows_told(opened)
    actions = write_files(folder, suited, write, rows_before)
    try:
        commit_added(opened, list(actions), mode)
    except BaseException:
        remove(folder, actions)
        raise


def with_rows(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch] | None:
    """The batches from the first that has a row; None if no one has."""
    following = iter(batches)
    first = next((batch for batch in following if batch.num_rows), None)
    return None if first is None else chain([first], following)
