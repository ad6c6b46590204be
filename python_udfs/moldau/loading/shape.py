"""The fields of a line, declared once.

From them follow the Arrow schema with which a good chunk is read, and the check of a single
line that says what is wrong with a bad one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from moldau.loading.checks import Check, base64_bytes, headers, name_text


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
    missing_with: tuple[str, tuple[str, ...]] | None = None
    """Another field, and its values with which this one may be missing: it is empty then."""
    values: tuple[str, ...] = ()
    """The only ones that there are; none = any."""

    @property
    def holds_headers(self) -> bool:
        """A list of anything at all, that is kept as its JSON."""
        return self.check is headers

    @property
    def holds_anything(self) -> bool:
        """Any JSON at all, of which more is made than a text."""
        return bool(pa.types.is_string(self.file_type) and pa.types.is_nested(self.type))


@dataclass(frozen=True)
class Shape:
    kind: str
    members: tuple[Field, ...]
    is_snapshot: bool = False
    """A load replaces the cluster's previous one as a whole."""
    rises: tuple[str, str] | None = None
    """A field that should not fall from line to line, of one value of the other."""

    @cached_property
    def fields(self) -> tuple[str, ...]:
        return tuple(field.name for field in self.members)

    @cached_property
    def required_fields(self) -> tuple[str, ...]:
        return tuple(field.name for field in self.members if field.is_required)

    @cached_property
    def required(self) -> tuple[str, ...]:
        return tuple(
            f.name for f in self.members if f.is_required and not (f.is_nullable or f.missing_with)
        )

    @cached_property
    def told_apart(self) -> tuple[str, ...]:
        """Fields of which a missing one is an error, and null is not: Arrow reads both as null."""
        return tuple(f.name for f in self.members if f.is_required and f.is_nullable)

    @cached_property
    def file_schema(self) -> pa.Schema:
        return pa.schema([(f.name, f.file_type) for f in self.members if not f.holds_headers])

    @cached_property
    def needs_lines(self) -> bool:
        """Lists, objects and fractions are looked at line by line: `_convert` knows no limits of
        theirs."""
        types = [field.type for field in self.members]
        return any(pa.types.is_nested(kind) or pa.types.is_floating(kind) for kind in types)

    @cached_property
    def schema(self) -> pa.Schema:
        return pa.schema([(f.column, f.type) for f in self.members])

    def is_plain(self, chunk: bytes, rows: int) -> bool:
        """Arrow reads this chunk as `check` would, as far as the bytes tell."""
        if self.needs_lines:
            return False
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
            if row.get(field.name) in (None, "") and _may_be_missing(field, row):
                checked[field.column] = ""
                continue
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
            if isinstance(value, bytes) and not pa.types.is_binary(field.file_type):
                # a text of a Parquet file
                raise ValueError(f"{field.name} is not UTF-8")
            value = checked[field.column] = field.check(field.name, value)
            if field.minimum is not None and value < field.minimum:
                raise ValueError(f"{field.name} is {value}, less than {field.minimum}")
            if field.maximum is not None and value > field.maximum:
                raise ValueError(f"{field.name} is {value}, more than {field.maximum}")
        return checked


def _may_be_missing(field: Field, row: dict[str, Any]) -> bool:
    if field.missing_with is None:
        return False
    other, values = field.missing_with
    return row.get(other) in values


def _convert(field: Field, table: pa.Table) -> pa.ChunkedArray | pa.Array | None:
    if field.name not in table.column_names:
        return pa.nulls(table.num_rows, field.type)
    column = table[field.name]
    if field.check is base64_bytes:
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
    if field.missing_with and column.null_count:
        return None
    if field.values and not pc.all(pc.is_in(column, pa.array(field.values))).as_py():
        return None
    if field.check is name_text and pc.any(pc.equal(pc.binary_length(column), 0)).as_py():
        return None
    return column.cast(field.type)
