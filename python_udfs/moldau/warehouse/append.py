"""Rows into a table that exists, without Spark."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from moldau.warehouse.damage import open_table

if TYPE_CHECKING:
    import pyarrow as pa


def append(warehouse: Path, table: str, batches: Iterable[pa.RecordBatch]) -> None:
    """One Delta commit; Delta holds the rows against the table's checks."""
    import pyarrow as pa
    from deltalake import write_deltalake

    opened = open_table(warehouse.joinpath(*table.split(".")))
    schema = pa.schema(opened.schema().to_arrow())
    suited = (batch.select(schema.names).cast(schema) for batch in batches)
    write_deltalake(opened, pa.RecordBatchReader.from_batches(schema, suited), mode="append")
