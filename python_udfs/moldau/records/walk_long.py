"""Walk long records one after the other.

Moving all rows by one array element at a time is fast when many rows have few elements. A record
with a hundred thousand elements would make it a hundred thousand rounds for one row, so records
above ``LONG`` bytes are walked here with plain numbers. The rules are those of ``walk.py`` and so
are the columns that come out, except that an array's elements come as one chunk.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

import numpy as np

from moldau.records.columns import (
    Column,
    FixedColumn,
    FixedListColumn,
    Ints,
    ListColumn,
    SpanColumn,
    SparseColumn,
    StructColumn,
)
from moldau.records.cursors import Cursors
from moldau.records.layout import FixedRun, Slot, StructLayout
from moldau.records.walk import LONGEST_STRING, Path, UnknownTags, Walker
from moldau.records.wire_schema import FIXED_WIDTHS

LONG = 4096


class _Broken(Exception):
    """This record cannot be read on."""


def _ints(numbers: list[int]) -> Ints:
    return np.array(numbers, np.int64)


class _Source:
    """The bytes, the record being read, and every list that must shrink if it turns out broken."""

    def __init__(self, data: memoryview, unknown: UnknownTags) -> None:
        self.data = data
        self.end = 0
        self.row = 0
        self.unknown = unknown
        self.lists: list[list[int]] = []
        self.tags: dict[Path, list[tuple[int, int, int, int]]] = {}

    def new_list(self) -> list[int]:
        numbers: list[int] = []
        self.lists.append(numbers)
        return numbers

    def forward(self, pos: int, width: int) -> int:
        if pos + width > self.end:
            raise _Broken
        return pos + width

    def uvarint(self, pos: int) -> tuple[int, int]:
        value = 0
        for shift in (0, 7, 14, 21, 28):
            if pos >= self.end:
                raise _Broken
            byte = self.data[pos]
            pos += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                value &= 0xFFFFFFFF
                return value - (1 << 32) if value >> 31 else value, pos
        raise _Broken

    def length(self, pos: int, flexible: bool, short: bool) -> tuple[int, int]:
        """The number in front of a string (short), bytes or an array; negative is null."""
        if flexible:
            value, pos = self.uvarint(pos)
            return value - 1, pos
        after = self.forward(pos, 2 if short else 4)
        return struct.unpack_from(">h" if short else ">i", self.data, pos)[0], after

    def note_tags(self) -> None:
        for path, found in self.tags.items():
            rows, tags, starts, sizes = (_ints(list(part)) for part in zip(*found, strict=True))
            self.unknown.note(path, rows, tags, starts, sizes)


class _Run:
    def __init__(self, source: _Source, run: FixedRun) -> None:
        self.source, self.run = source, run
        self.base = source.new_list()

    def read(self, pos: int, path: Path) -> int:
        after = self.source.forward(pos, self.run.width)
        self.base.append(pos)
        return after

    def columns(self) -> dict[str, Column]:
        base = _ints(self.base)
        return {name: FixedColumn(kind, base, offset) for name, kind, offset in self.run.fields}


class _Value:
    """A field, or an array's element (``element``), of any type."""

    def __init__(
        self, source: _Source, slot: Slot, element: bool = False, tagged: bool = False
    ) -> None:
        self.source, self.slot, self.tagged = source, slot, tagged
        self.at, self.size = source.new_list(), source.new_list()
        self.is_array = slot.is_array and not element
        self.nullable = slot.nullable and not element
        self.inner: _Value | None = None
        self.struct: _Struct | None = None
        if self.is_array and slot.kind not in FIXED_WIDTHS:
            self.inner = _Value(source, slot, element=True)
        elif slot.struct is not None:
            self.struct = _Struct(source, slot.struct)

    def read(self, pos: int, path: Path) -> int:
        if self.is_array:
            return self._array(pos, path)
        if self.struct is not None:
            return self._struct(self.struct, pos, path)
        if self.slot.kind in FIXED_WIDTHS:
            self.at.append(pos)
            return self.source.forward(pos, FIXED_WIDTHS[self.slot.kind])
        is_text = self.slot.kind == "string"
        size, pos = self.source.length(pos, self.slot.flexible, is_text)
        if size < 0:
            self._null()
        elif is_text and size > LONGEST_STRING:
            raise _Broken
        self.at.append(pos)
        self.size.append(max(size, -1))
        return self.source.forward(pos, max(size, 0))

    def _null(self) -> None:
        if not self.nullable:
            raise _Broken

    def _array(self, pos: int, path: Path) -> int:
        count, pos = self.source.length(pos, self.slot.flexible, False)
        if count < 0:
            self._null()
        if count * self.slot.min_width > self.source.end - pos:
            raise _Broken
        owner = len(self.size)
        self.size.append(max(count, -1))
        if self.inner is None:
            self.at.append(pos)
            return pos + max(count, 0) * FIXED_WIDTHS[self.slot.kind]
        for ordinal in range(count):
            self.at.append(owner)
            pos = self.inner.read(pos, (*path, ordinal))
        return pos

    def _struct(self, reader: _Struct, pos: int, path: Path) -> int:
        if not self.nullable:
            return reader.read(pos, path)
        if self.tagged:
            marker, pos = self.source.uvarint(pos)
            there = marker > 0
        else:
            there = self.source.data[pos] < 0x80 if pos < self.source.end else False
            pos = self.source.forward(pos, 1)
        if there:
            self.at.append(len(self.size))
            pos = reader.read(pos, path)
        self.size.append(0)
        return pos

    def column(self) -> Column:
        kind = self.slot.kind
        if self.inner is not None:
            chunk = (_ints(self.at), self.inner.column())
            return ListColumn(_ints(self.size), [chunk] if self.at else [])
        if self.is_array:
            return FixedListColumn(kind, _ints(self.at), _ints(self.size))
        if self.struct is not None:
            inner = self.struct.column()
            if not self.nullable:
                return inner
            return SparseColumn(len(self.size), [(_ints(self.at), inner)], None)
        if kind in FIXED_WIDTHS:
            return FixedColumn(kind, _ints(self.at))
        return SpanColumn(kind, _ints(self.at), _ints(self.size))


class _Struct:
    def __init__(self, source: _Source, layout: StructLayout) -> None:
        self.source, self.layout = source, layout
        self.seen = source.new_list()
        self.steps: list[_Run | _Value] = [
            _Run(source, step) if isinstance(step, FixedRun) else _Value(source, step)
            for step in layout.steps
        ]
        self.tags = {
            tag: (source.new_list(), _Value(source, slot, tagged=True))
            for tag, slot in layout.tags.items()
        }

    def read(self, pos: int, path: Path) -> int:
        for step in self.steps:
            inner = path if isinstance(step, _Run) else (*path, step.slot.name)
            pos = step.read(pos, inner)
        if self.layout.flexible:
            pos = self._tags(pos, path)
        self.seen.append(0)
        return pos

    def _tags(self, pos: int, path: Path) -> int:
        source = self.source
        number, pos = source.uvarint(pos)
        if number < 0:
            raise _Broken
        for _ in range(number):
            tag, pos = source.uvarint(pos)
            size, pos = source.uvarint(pos)
            if size < 0 or size > source.end - pos:
                raise _Broken
            known = self.tags.get(tag)
            if known is None:
                source.tags.setdefault(path, []).append((source.row, tag, pos, size))
            else:
                slots, value = known
                slots.append(len(self.seen))
                whole, source.end = source.end, pos + size
                if value.read(pos, (*path, value.slot.name)) != source.end:
                    raise _Broken
                source.end = whole
            pos += size
        return pos

    def column(self) -> StructColumn:
        columns: dict[str, Column] = {}
        for step in self.steps:
            if isinstance(step, _Run):
                columns.update(step.columns())
            else:
                columns[step.slot.name] = step.column()
        for slots, value in self.tags.values():
            parts = [(_ints(slots), value.column())] if slots else []
            name, default = value.slot.name, value.slot.default
            columns[name] = SparseColumn(len(self.seen), parts, default)
        return StructColumn(self.layout, columns)


def _walk_long(
    layout: StructLayout, cur: Cursors, unknown: UnknownTags
) -> tuple[StructColumn, Ints]:
    """The column of the rows that are right, and where each row ended (-1: broken)."""
    source = _Source(cur.buffer.data, unknown)
    reader = _Struct(source, layout)
    stops = np.full(len(cur.pos), -1, np.int64)
    lines = zip(cur.pos.tolist(), cur.end.tolist(), cur.rows.tolist(), strict=True)
    for i, (pos, end, row) in enumerate(lines):
        source.end, source.row = end, row
        marks = [len(numbers) for numbers in source.lists]
        try:
            stops[i] = reader.read(pos, ())
        except _Broken:
            for numbers, mark in zip(source.lists, marks, strict=True):
                del numbers[mark:]
    source.note_tags()
    return reader.column(), stops


def walk_rows(
    layout: StructLayout, cur: Cursors, unknown: UnknownTags
) -> Iterator[tuple[Ints | None, Cursors, StructColumn]]:
    """Walk all rows, the long ones apart.

    Yields which rows (None: all), their moved cursors, and the column with one slot for each.
    """
    is_long = cur.end - cur.pos > LONG
    if not is_long.any():
        yield None, cur, Walker(unknown).struct(layout, cur)
        return
    short = np.flatnonzero(~is_long)
    if len(short):
        sub = cur.at(short)
        yield short, sub, Walker(unknown).struct(layout, sub)
    slots = np.flatnonzero(is_long)
    column, stops = _walk_long(layout, cur.at(slots), unknown)
    right = slots[stops >= 0]
    sub = cur.at(right)
    sub.pos = stops[stops >= 0]
    yield right, sub, column
    wrong = slots[stops < 0]
    if len(wrong):
        # Columns of the right shape for rows already given up; this reads nothing.
        sub = cur.at(wrong)
        sub.poison(np.ones(len(wrong), np.bool_))
        yield wrong, sub, Walker().struct(layout, sub)
