"""Rows written straight into small real Delta tables with the columns of the contracts."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake import write_deltalake

from moldau.warehouse.contracts import tables

_SIMPLE = {
    "string": pa.string(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "boolean": pa.bool_(),
    "double": pa.float64(),
    "binary": pa.binary(),
    "timestamp": pa.timestamp("us", tz="UTC"),
}
_DEFAULTS: dict[str, Any] = {"string": "", "int": 0, "bigint": 0, "boolean": False}

Write = Callable[..., None]


def arrow_type(name: str) -> pa.DataType:
    if match := re.fullmatch(r"array<(.*)>", name):
        return pa.list_(arrow_type(match[1]))
    if match := re.fullmatch(r"map<(\w+),\s*(\w+)>", name):
        return pa.map_(arrow_type(match[1]), arrow_type(match[2]))
    if match := re.fullmatch(r"struct<(.*)>", name):
        pairs = (field.split(":", 1) for field in match[1].split(","))
        return pa.struct([pa.field(key.strip(), arrow_type(kind.strip())) for key, kind in pairs])
    return _SIMPLE[name]


def writer(warehouse: Path) -> Write:
    """Appends rows to a table; columns that a row leaves out are null or empty."""

    def append(full_name: str, *rows: dict[str, Any]) -> None:
        table = tables()[full_name]
        schema = pa.schema([pa.field(c.name, arrow_type(c.data_type)) for c in table.columns])
        complete = [
            {
                column.name: row.get(
                    column.name,
                    None if column.is_nullable else _DEFAULTS.get(column.data_type),
                )
                for column in table.columns
            }
            for row in rows
        ]
        unknown = {key for row in rows for key in row} - {c.name for c in table.columns}
        assert not unknown, unknown
        path = warehouse / table.database / table.name
        write_deltalake(str(path), pa.Table.from_pylist(complete, schema), mode="append")

    return append
