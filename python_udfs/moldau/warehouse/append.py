"""Rows that a table gains, without Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from moldau.warehouse.damage import open_table

if TYPE_CHECKING:
    import pyarrow as pa
    from deltalake import DeltaTable, WriterProperties

# whoever looks for a key reads groups of rows that may hold it, and whoever changes it a file
FILE_BYTES = 4 * 1024 * 1024
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
        writer_properties=properties(schema),
    )
    return opened


def properties(schema: pa.Schema) -> WriterProperties:
    """How files are written.

    Numbers mostly differ: to look for those that repeat takes a third of the time of a write.
    """
    from deltalake import ColumnProperties, WriterProperties

    return WriterProperties(
        compression="SNAPPY",
        max_row_group_size=ROWS_IN_GROUP,
        default_column_properties=ColumnProperties(dictionary_enabled=False),
        column_properties=dict.fromkeys(texts(schema), ColumnProperties(dictionary_enabled=True)),
    )


def texts(schema: pa.Schema) -> list[str]:
    """The columns whose values repeat: names, reasons, runs."""
    import pyarrow as pa

    return [field.name for field in schema if pa.types.is_string(field.type)]


def with_rows(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch] | None:
    """The batches from the first that has a row; None if no one has."""
    following = iter(batches)
    first = next((batch for batch in following if batch.num_rows), None)
    return None if first is None else chain([first], following)
