"""Walk one message of many records at once: validate every byte, note where the values stand.

Each field is read for all rows before the next field. Arrays move one element of every row that
still has one; tag sections one tag. What Kafka's generated readers refuse poisons the row: a null
where none may be, an array count above the bytes left, a string over 32767 bytes, a negative number
of tags, a read past the end. One rule is stricter: a known tag must use exactly the size it
announces (Kafka reads on from wherever the field ended).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from moldau.records.columns import (
    Bools,
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
from moldau.records.wire_schema import FIXED_WIDTHS

LONGEST_STRING = 0x7FFF
Path = tuple[str | int, ...]


@dataclass(slots=True)
class UnknownTags:
    """Tags of a newer broker, found on the way: kept as positions, never an error."""

    found: list[tuple[Path, Ints, Ints, Ints, Ints]] = field(default_factory=list)

    def note(self, path: Path, rows: Ints, tag: Ints, at: Ints, size: Ints) -> None:
        self.found.append((path, rows, tag, at, size))


@dataclass(slots=True)
class Walker:
    """Reads structs off cursors; collects unknown tags."""

    unknown: UnknownTags = field(default_factory=UnknownTags)

    def struct(self, layout: StructLayout, cur: Cursors, path: Path = ()) -> StructColumn:
        columns: dict[str, Column] = {}
        for step in layout.steps:
            if isinstance(step, FixedRun):
                base = cur.skip(step.width)
                for name, kind, offset in step.fields:
                    columns[name] = FixedColumn(kind, base, offset)
            else:
                columns[step.name] = self.slot(step, cur, (*path, step.name))
        if layout.flexible:
            parts = self._tags(layout, cur, path)
            for tag, slot in layout.tags.items():
                columns[slot.name] = SparseColumn(len(cur.pos), parts.get(tag, []), slot.default)
        return StructColumn(layout, columns)

    def slot(self, slot: Slot, cur: Cursors, path: Path, tagged: bool = False) -> Column:
        if slot.is_array:
            return self._array(slot, cur, path)
        if slot.struct is None:
            return self._primitive(slot, slot.nullable, cur)
        if slot.nullable:
            return self._nullable_struct(slot.struct, cur, path, tagged)
        return self.struct(slot.struct, cur, path)

    def _primitive(self, slot: Slot, nullable: bool, cur: Cursors) -> Column:
        if slot.kind in FIXED_WIDTHS:
            return FixedColumn(slot.kind, cur.skip(FIXED_WIDTHS[slot.kind]))
        if slot.flexible:
            size = cur.uvarint() - 1
        elif slot.kind == "string":
            size = cur.number("int16", 2)
        else:
            size = cur.number("int32", 4)
        if slot.kind == "string" and slot.flexible:
            self._refuse(cur, size, size > LONGEST_STRING)
        return self._span(slot.kind, nullable, size, cur)

    def _span(self, kind: str, nullable: bool, size: Ints, cur: Cursors) -> SpanColumn:
        null = size < 0
        if null.any():
            if not nullable:
                cur.poison(null)
            size = np.where(null, -1, size)
            at = cur.skip(np.maximum(size, 0))
        else:
            at = cur.skip(size)
        return SpanColumn(kind, at, cur.zero_where_poisoned(size))

    @staticmethod
    def _refuse(cur: Cursors, size: Ints, bad: Bools) -> None:
        if bad.any():
            cur.poison(bad)
            size[bad] = 0

    def _nullable_struct(
        self, layout: StructLayout, cur: Cursors, path: Path, tagged: bool
    ) -> Column:
        # A struct in a tag is marked by an unsigned varint, elsewhere by a signed byte.
        marker = cur.uvarint() if tagged else cur.number("int8", 1)
        there = np.flatnonzero(marker > 0) if tagged else np.flatnonzero(marker >= 0)
        sub = cur.at(there)
        column = self.struct(layout, sub, path)
        cur.put(there, sub)
        return SparseColumn(len(cur.pos), [(there, column)], None)

    def _array(self, slot: Slot, cur: Cursors, path: Path) -> Column:
        count = cur.uvarint() - 1 if slot.flexible else cur.number("int32", 4)
        # Kafka compares the count with the bytes left; counting each element's least size too
        # only finds the same error earlier, before anything is allocated.
        bad = count * slot.min_width > cur.end - cur.pos
        if not slot.nullable:
            bad |= count < 0
        self._refuse(cur, count, bad)
        count = np.maximum(count, -1)
        if slot.kind in FIXED_WIDTHS:
            at = cur.skip(np.maximum(count, 0) * FIXED_WIDTHS[slot.kind])
            return FixedListColumn(slot.kind, at, count)
        return ListColumn(count, self._elements(slot, count, cur, path))

    def _elements(
        self, slot: Slot, count: Ints, cur: Cursors, path: Path
    ) -> list[tuple[Ints, Column]]:
        chunks: list[tuple[Ints, Column]] = []
        live = np.flatnonzero(count > 0)
        while len(live):
            sub = cur.at(live)
            ordinal = len(chunks)
            column: Column
            if slot.struct is not None:
                column = self.struct(slot.struct, sub, (*path, ordinal))
            else:
                column = self._primitive(slot, False, sub)
            chunks.append((live, column))
            cur.put(live, sub)
            more = count[live] > ordinal + 1
            live = live[more & sub.alive()] if sub.broken else live[more]
        return chunks

    def _tags(
        self, layout: StructLayout, cur: Cursors, path: Path
    ) -> dict[int, list[tuple[Ints, Column]]]:
        parts: dict[int, list[tuple[Ints, Column]]] = {}
        number = cur.uvarint()
        if not number.any():
            return parts
        # Each tag takes two bytes or more.
        self._refuse(cur, number, (number < 0) | (number * 2 > cur.end - cur.pos))
        live = np.flatnonzero(number)
        done = 0
        while len(live):
            sub = cur.at(live)
            self._one_tag(layout, sub, live, parts, path)
            cur.put(live, sub)
            done += 1
            live = live[(number[live] > done) & sub.alive()]
        return parts

    def _one_tag(
        self,
        layout: StructLayout,
        sub: Cursors,
        live: Ints,
        parts: dict[int, list[tuple[Ints, Column]]],
        path: Path,
    ) -> None:
        tag = sub.uvarint()
        size = sub.uvarint()
        self._refuse(sub, size, (size < 0) | (size > sub.end - sub.pos))
        start = sub.pos
        stop = start + size
        unknown = sub.alive()
        for known, slot in layout.tags.items():
            here = np.flatnonzero((tag == known) & unknown)
            if not len(here):
                continue
            unknown[here] = False
            payload = Cursors(sub.buffer, start[here], stop[here], sub.rows[here])
            column = self.slot(slot, payload, (*path, slot.name), tagged=True)
            parts.setdefault(known, []).append((live[here], column))
            wrong = payload.pos != stop[here]
            if wrong.any() or payload.broken:
                sub.end[here[wrong | ~payload.alive()]] = -1
                sub.broken = True
        if unknown.any():
            new = np.flatnonzero(unknown)
            self.unknown.note(path, sub.rows[new], tag[new], start[new], size[new])
        sub.pos = stop
        sub.poison(~sub.alive())
