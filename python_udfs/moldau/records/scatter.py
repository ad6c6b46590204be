"""Bring fields of many blocks into flat columns in input order.

Numbers are written straight into full-length arrays; strings and uuids stay positions until every
block has had its say, so that a column is materialised once for the whole batch, whatever mix of
record types it holds. Rows that no block names are null.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from moldau.records.arrow_values import fixed, spans
from moldau.records.columns import (
    Bytes,
    Column,
    FixedColumn,
    Ints,
    SpanColumn,
    SparseColumn,
    StructColumn,
    gather,
)
from moldau.records.decode import Block
from moldau.records.printed_records import to_text, uuid_text

ZERO_UUID = bytes(16)


def field_at(column: StructColumn, path: str) -> Column | None:
    """The column at a dotted path of structs; None when this version has no such field."""
    found: Column | None = column
    for name in path.split("."):
        assert isinstance(found, StructColumn)
        found = found.fields.get(name)
        if found is None:
            return None
    return found


class Scatter:
    """Full-length columns under construction, by name."""

    def __init__(self, size: int, is_zero_uuid_null: bool = False) -> None:
        """`is_zero_uuid_null`: where Kafka writes the zero uuid for "there is none"."""
        self.size = size
        self._is_zero_uuid_null = is_zero_uuid_null
        self._numbers: dict[str, tuple[Ints, npt.NDArray[np.bool_]]] = {}
        self._spans: dict[str, tuple[Bytes, Ints, Ints]] = {}
        self._uuids: dict[str, tuple[Bytes, Ints]] = {}

    def add(self, name: str, block: Block, path: str) -> None:
        """Put the field at ``path`` of the block's right records into column ``name``."""
        column = field_at(block.column, path)
        if column is None:
            return
        self._put(name, block.buffer, block.good_rows(), column, block.good)

    def _put(
        self, name: str, buffer: Bytes, rows: Ints, column: Column, slots: Ints | None
    ) -> None:
        """``slots``: which entries of the column belong to ``rows`` (None: all, in order)."""
        if isinstance(column, SparseColumn):
            self._put_sparse(name, buffer, rows, column, slots)
        elif isinstance(column, SpanColumn):
            _, all_at, all_size = self._span(name, buffer)
            all_at[rows] = column.at if slots is None else column.at[slots]
            all_size[rows] = column.size if slots is None else column.size[slots]
        elif isinstance(column, FixedColumn):
            base = column.base if slots is None else column.base[slots]
            if column.kind == "uuid":
                self._uuid(name, buffer)[rows] = base + column.offset
            else:
                self.numbers(name, rows, gather(buffer, column.kind, base + column.offset))
        else:
            raise TypeError(f"{name}: a nested field cannot be a flat column")

    def _put_sparse(
        self, name: str, buffer: Bytes, rows: Ints, column: SparseColumn, slots: Ints | None
    ) -> None:
        if isinstance(column.default, int):
            self.numbers(name, rows, np.full(len(rows), column.default, np.int64))
        row_of = rows
        if slots is not None:
            row_of = np.full(column.size, -1, np.int64)
            row_of[slots] = rows
        for part_slots, part in column.parts:
            part_rows = row_of[part_slots]
            good = part_rows >= 0
            if good.all():
                self._put(name, buffer, part_rows, part, None)
            else:
                self._put(name, buffer, part_rows[good], part, np.flatnonzero(good))

    def numbers(self, name: str, rows: Ints, values: npt.NDArray[Any]) -> None:
        if name not in self._numbers:
            self._numbers[name] = (np.zeros(self.size, np.int64), np.zeros(self.size, np.bool_))
        all_values, there = self._numbers[name]
        all_values[rows] = values
        there[rows] = True

    def number_column(self, name: str) -> tuple[Ints, npt.NDArray[np.bool_]] | None:
        """Values and presence, for rules that look at a column before it is finished."""
        return self._numbers.get(name)

    def _span(self, name: str, buffer: Bytes) -> tuple[Bytes, Ints, Ints]:
        if name not in self._spans:
            at = np.zeros(self.size, np.int64)
            self._spans[name] = (buffer, at, np.full(self.size, -1, np.int64))
        return self._spans[name]

    def _uuid(self, name: str, buffer: Bytes) -> Ints:
        if name not in self._uuids:
            self._uuids[name] = (buffer, np.full(self.size, -1, np.int64))
        return self._uuids[name][1]

    def finish(self, name: str, arrow: pa.DataType) -> pa.Array:
        """The finished column, all null if nothing was put into it."""
        if name in self._numbers:
            values, there = self._numbers[name]
            mask = None if there.all() else ~there
            if arrow == pa.bool_():
                return pa.array(values != 0, arrow, mask=mask)
            return pa.array(values, pa.int64(), mask=mask).cast(arrow)
        if name in self._spans:
            data = spans(*self._spans[name])
            return to_text(data) if arrow == pa.string() else data
        if name in self._uuids:
            return _uuid_column(*self._uuids[name], self._is_zero_uuid_null)
        return pa.nulls(self.size, arrow)


def _uuid_column(buffer: Bytes, at: Ints, is_zero_null: bool) -> pa.Array:
    """Kafka's text form. Ids repeat, so each is converted once."""
    missing = at < 0
    data = fixed(buffer, "uuid", np.maximum(at, 0)).dictionary_encode()
    none = ZERO_UUID if is_zero_null else None
    texts = [None if b == none else uuid_text(b) for b in data.dictionary.to_pylist()]
    codes = data.indices
    if missing.any():
        codes = pa.array(codes.to_numpy(), mask=missing)
    return pa.array(texts, pa.string()).take(codes)
