"""A cursor a row, moved over the bytes of many records at once.

A row that cannot be read on is *poisoned*: its cursor goes to position 0 and its end to -1, so
every later read of it fails again, harmlessly. Nothing here raises for bad bytes.

Sources of the rules: Kafka's generated readers and ``ByteUtils.readUnsignedVarint`` (at most five
bytes, kept as a signed 32-bit number, so a length "above 2^31" is negative, which means null).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from moldau.records.columns import Bools, Bytes, Ints, gather

_LONGEST_VARINT = 5


@dataclass(slots=True)
class Cursors:
    """Positions and ends of n rows in one buffer; ``rows`` are the record numbers."""

    buffer: Bytes
    pos: Ints
    end: Ints
    rows: Ints
    broken: bool = False
    """Some row may be poisoned; saves a look at all of them."""

    def at(self, slots: Ints) -> Cursors:
        """Own cursors for some of the rows."""
        return Cursors(self.buffer, self.pos[slots], self.end[slots], self.rows[slots], self.broken)

    def put(self, slots: Ints, moved: Cursors) -> None:
        """Take the state of ``moved``, which came from ``at(slots)``."""
        self.pos[slots] = moved.pos
        self.end[slots] = moved.end
        self.broken = self.broken or moved.broken

    def poison(self, bad: Bools) -> None:
        """Give up the rows marked."""
        if bad.any():
            # pos may be shared with a column recorded earlier: replace it, do not write into it.
            self.pos = np.where(bad, 0, self.pos)
            self.end[bad] = -1
            self.broken = True

    def alive(self) -> Bools:
        return self.end >= 0

    def zero_where_poisoned(self, value: Ints) -> Ints:
        if self.broken:
            value[self.end < 0] = 0
        return value

    def skip(self, width: int | Ints) -> Ints:
        """Step over ``width`` bytes; the positions before the step."""
        after = self.pos + width
        bad = after > self.end
        if bad.any():
            self.poison(bad)
            after = self.pos + np.where(bad, 0, width)
        before, self.pos = self.pos, after
        return before

    def number(self, kind: str, width: int) -> Ints:
        """Read one fixed-size integer a row; 0 for poisoned rows."""
        value = gather(self.buffer, kind, self.skip(width)).astype(np.int64)
        return self.zero_where_poisoned(value)

    def uvarint(self) -> Ints:
        """Read one unsigned varint a row as Java does: a signed 32-bit number."""
        first = self.buffer.take(self.skip(1))
        value = first.astype(np.int64)
        longer = np.flatnonzero(first >= 0x80)
        if len(longer):
            value = self._longer_uvarint(longer, value & 0x7F)
        return self.zero_where_poisoned(value)

    def _longer_uvarint(self, active: Ints, value: Ints) -> Ints:
        for step in range(1, _LONGEST_VARINT):
            sub = self.at(active)
            byte = self.buffer.take(sub.skip(1)).astype(np.int64)
            self.put(active, sub)
            value[active] |= (byte & 0x7F) << (7 * step)
            active = active[(byte >= 0x80) & sub.alive()]
            if not len(active):
                return value.astype(np.int32).astype(np.int64)
        self.end[active] = -1
        self.pos[active] = 0
        self.broken = True
        return value.astype(np.int32).astype(np.int64)
