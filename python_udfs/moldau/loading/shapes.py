"""What a line of each kind of file has to look like.

A field is said once; from it follow the Arrow schema that a good chunk is read with, and the check
of a single line that says what is wrong with a bad one.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

INT32_MAX, INT64_MAX = 2**31 - 1, 2**63 - 1
Check = Callable[[str, Any], Any]


@dataclass(frozen=True)
class Field:
    """`name` in the file becomes `column`; `file_type` is what JSON and Parquet hold."""

    name: str
    column: str
    file_type: pa.DataType
    type: pa.DataType
    check: Check
    is_required: bool = True
    is_nullable: bool = False
    minimum: int | None = None
    maximum: int | None = None


@dataclass(frozen=True)
class Shape:
    kind: str
    members: tuple[Field, ...]

    @cached_property
    def fields(self) -> tuple[str, ...]:
        return tuple(field.name for field in self.members)

    @cached_property
    def required_fields(self) -> tuple[str, ...]:
        return tuple(field.name for field in self.members if field.is_required)

    @cached_property
    def required(self) -> tuple[str, ...]:
        return tuple(f.name for f in self.members if f.is_required and not f.is_nullable)

    @cached_property
    def told_apart(self) -> tuple[str, ...]:
        """Fields of which a missing one is an error, and null is not: Arrow reads both as null."""
        return tuple(f.name for f in self.members if f.is_required and f.is_nullable)

    @cached_property
    def file_schema(self) -> pa.Schema:
        return pa.schema([(f.name, f.file_type) for f in self.members if f.check is not _headers])

    @cached_property
    def schema(self) -> pa.Schema:
        return pa.schema([(f.column, f.type) for f in self.members])

    def is_plain(self, chunk: bytes, rows: int) -> bool:
        """Arrow reads this chunk as `check` would, as far as the bytes tell."""
        filled = chunk.count(b'"headers"') - chunk.count(b'"headers":[]')
        return not filled and all(
            chunk.count(b'"%s"' % name.encode()) == rows for name in self.told_apart
        )

    def convert(self, table: pa.Table) -> pa.Table | None:
        """The whole table in `schema`; None when a row of it is bad."""
        columns = [_convert(field, table) for field in self.members]
        if any(column is None for column in columns):
            return None
        return pa.table(columns, schema=self.schema)

    def check(self, row: dict[str, Any]) -> dict[str, Any]:
        """One line in `schema`; ValueError says what is wrong with it."""
        checked: dict[str, Any] = {}
        for field in self.members:
            if field.name not in row:
                if field.is_required:
                    raise ValueError(f"{field.name} is missing")
                checked[field.column] = None
                continue
            value = row[field.name]
            if value is None:
                if not field.is_nullable:
                    raise ValueError(f"{field.name} is null")
                checked[field.column] = None
                continue
            value = checked[field.column] = field.check(field.name, value)
            if field.minimum is not None and value < field.minimum:
                raise ValueError(f"{field.name} is {value}, less than {field.minimum}")
            if field.maximum is not None and value > field.maximum:
                raise ValueError(f"{field.name} is {value}, more than {field.maximum}")
        return checked


def _convert(field: Field, table: pa.Table) -> pa.ChunkedArray | pa.Array | None:
    if field.name not in table.column_names:
        return pa.nulls(table.num_rows, field.type)
    column = table[field.name]
    if field.check is _base64:
        decoded = pl.from_arrow(column.combine_chunks()).str.decode("base64", strict=False)  # type: ignore[union-attr]
        if decoded.null_count() != column.null_count:
            return None
        return decoded.to_arrow().cast(field.type)
    if field.minimum is not None and table.num_rows:
        limits = pc.min_max(column)
        if limits["min"].is_valid and not (
            field.minimum <= limits["min"].as_py() <= limits["max"].as_py() <= (field.maximum or 0)
        ):
            return None
    if field.check is _name and pc.any(pc.equal(pc.binary_length(column), 0)).as_py():
        return None
    return column.cast(field.type)


def _name(name: str, value: Any) -> str:
    if _string(name, value) == "":
        raise ValueError(f"{name} is empty")
    return str(value)


def _string(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{name} is {_shown(value)}, not a string")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{name} holds half a surrogate pair") from None
    return value


def _integer(name: str, value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f"{name} is {_shown(value)}, not a whole number")
    return value


def _boolean(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{name} is {_shown(value)}, not true or false")
    return value


def _base64(name: str, value: Any) -> bytes:
    try:
        return base64.b64decode(_string(name, value), validate=True)
    except binascii.Error:
        raise ValueError(f"{name} is {_shown(value)}, not base64") from None


def _headers(name: str, value: Any) -> str | None:
    if not isinstance(value, list):
        raise ValueError(f"{name} is {_shown(value)}, not a list")
    return json.dumps(value, ensure_ascii=False) if value else None


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else text[:57] + "..."


def _text(name: str, column: str | None = None, check: Check = _name, **more: Any) -> Field:
    return Field(name, column or name, pa.string(), pa.string(), check, **more)


def _int32(name: str, column: str | None = None, minimum: int = 0, **more: Any) -> Field:
    return Field(
        name, column or name, pa.int64(), pa.int32(), _integer,
        minimum=minimum, maximum=INT32_MAX, **more,
    )  # fmt: skip


def _int64(name: str, column: str | None = None, minimum: int = 0, **more: Any) -> Field:
    return Field(
        name, column or name, pa.int64(), pa.int64(), _integer,
        minimum=minimum, maximum=INT64_MAX, **more,
    )  # fmt: skip


_OPTIONAL: dict[str, Any] = {"is_required": False, "is_nullable": True}

RECORDS = Shape(
    "records",
    (
        _text("topic", "topic_name"),
        _int32("partition", "partition_index"),
        _int64("offset", "log_offset"),
        _int64("timestamp_ms", "recorded_at_ms", minimum=-1),  # -1: the record has none
        _text("timestamp_type", check=_string, **_OPTIONAL),
        Field("key_base64", "record_key", pa.string(), pa.binary(), _base64, is_nullable=True),
        Field("value_base64", "record_value", pa.string(), pa.binary(), _base64, is_nullable=True),
        Field("headers", "headers", pa.string(), pa.string(), _headers, **_OPTIONAL),
    ),
)

OPEN_TRANSACTIONS = Shape(
    "open_transactions",
    (
        _text("group_id", check=_string),
        _text("topic", "topic_name"),
        _int32("partition", "partition_index"),
        _int64("producer_id"),
    ),
)

PARTITION_STATES = Shape(
    "partition_states",
    (
        _text("topic_id", **_OPTIONAL),
        _text("topic", "topic_name"),
        _int32("partition", "partition_index"),
        _int32("broker_id"),
        Field("is_leader", "is_leader", pa.bool_(), pa.bool_(), _boolean),
        _int32("leader_epoch", minimum=-1, **_OPTIONAL),
        *(
            _int64(name, minimum=-1, **_OPTIONAL)
            for name in (
                "log_start_offset", "local_log_start_offset", "last_stable_offset",
                "high_watermark", "log_end_offset",
            )
        ),
        _int64("taken_at_ms"),
    ),
)  # fmt: skip

SHAPES = {shape.kind: shape for shape in (RECORDS, OPEN_TRANSACTIONS, PARTITION_STATES)}
SNAPSHOTS = ("open_transactions", "partition_states")
