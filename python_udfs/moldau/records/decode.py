"""Decode the records of one internal topic, column-wise.

``decode(family, keys, values)`` sorts the rows by record type and value version, walks each group
at once and returns *blocks*: row numbers and columns of positions, from which Arrow arrays or flat
columns are made on demand. One outcome (``statuses``) for every record; nothing raises for one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from moldau.records import statuses
from moldau.records.arrow_values import struct_to_arrow
from moldau.records.buffers import RecordBytes
from moldau.records.columns import Bools, Bytes, Ints, StructColumn
from moldau.records.cursors import Cursors
from moldau.records.families import FAMILIES, Family, RecordType
from moldau.records.layout import layout_of
from moldau.records.walk import UnknownTags, Walker
from moldau.records.walk_long import walk_rows

FRAME_VERSION = 1
NO_VERSION = -32769
"""In ``Decoded.value_version`` and ``record_type``: not read (outside the range of an int16)."""

Status = npt.NDArray[np.int8]


@dataclass(slots=True)
class Block:
    """One message of many records: the rows that hold it and where its fields stand.

    ``good`` are the slots whose bytes were right (None: all); ``rows`` has one entry a slot.
    """

    record: RecordType
    version: int
    rows: Ints
    column: StructColumn
    good: Ints | None
    buffer: Bytes

    def good_rows(self) -> Ints:
        return self.rows if self.good is None else self.rows[self.good]

    def to_arrow(self) -> pa.StructArray:
        """The message as a struct with Kafka's field names, one entry for each of good_rows()."""
        array = struct_to_arrow(self.buffer, self.column)
        return array if self.good is None else array.take(pa.array(self.good))


@dataclass(slots=True)
class Decoded:
    """What came out of one batch of records."""

    family: Family
    status: Status
    record_type: Ints
    value_version: Ints
    key_blocks: list[Block] = field(default_factory=list)
    value_blocks: list[Block] = field(default_factory=list)
    unknown: UnknownTags = field(default_factory=UnknownTags)
    value_buffer: Bytes = field(default_factory=lambda: np.zeros(0, np.uint8))

    def record_names(self) -> dict[int, str]:
        """Names of the types known, by number; the one untyped record stands at NO_VERSION."""
        return {
            NO_VERSION if number is None else number: record.name
            for number, record in self.family.types.items()
        }

    def unknown_tags(self) -> dict[int, dict[str, str]]:
        """By row: tag (with the path of its struct, if nested) to the payload's bytes in hex."""
        tags: dict[int, dict[str, str]] = {}
        for path, rows, numbers, at, size in self.unknown.found:
            prefix = _path_text(path)
            for row, number, start, length in zip(
                rows.tolist(), numbers.tolist(), at.tolist(), size.tolist(), strict=True
            ):
                if self.status[row] in (statuses.OK, statuses.OK_TRAILING):
                    payload = self.value_buffer[start : start + length].tobytes()
                    tags.setdefault(row, {})[f"{prefix}{number & 0xFFFFFFFF}"] = payload.hex()
        return tags


def _path_text(path: tuple[str | int, ...]) -> str:
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return f"{text}." if text else ""


def decode(family_name: str, keys: pa.Array, values: pa.Array) -> Decoded:
    """Decode records given as two binary arrays of one length."""
    family = FAMILIES[family_name]
    key_bytes, value_bytes = RecordBytes.of(keys), RecordBytes.of(values)
    n = len(value_bytes)
    out = Decoded(
        family,
        np.full(n, statuses.TOMBSTONE, np.int8),
        np.full(n, NO_VERSION, np.int64),
        np.full(n, NO_VERSION, np.int64),
        value_buffer=value_bytes.buffer,
    )
    if family.framed_value:
        _decode_framed(out, value_bytes)
    else:
        for record, rows, trailing in _keys(out, key_bytes):
            _values(out, record, rows, trailing, value_bytes)
    return out


def _groups(numbers: Ints) -> Iterator[tuple[int, Ints | None]]:
    """The distinct numbers (int16 or smaller) and where each stands; None = everywhere."""
    if not len(numbers):
        return
    first = int(numbers[0])
    if (numbers == first).all():
        yield first, None
        return
    seen = np.flatnonzero(np.bincount(numbers + 32768, minlength=1))
    for number in seen.tolist():
        yield number - 32768, np.flatnonzero(numbers == number - 32768)


def _keys(out: Decoded, data: RecordBytes) -> Iterator[tuple[RecordType, Ints, Bools]]:
    """Decode all keys; each known type with the rows whose key is right."""
    cur = data.cursors(np.arange(len(data), dtype=np.int64))
    cur.poison(data.null)
    if not out.family.typed_key:
        yield _key(out, out.family.types[None], cur)
        return
    numbers = cur.number("int16", 2)
    alive = cur.alive()
    out.record_type[alive] = numbers[alive]
    out.status[~alive] = statuses.BAD_KEY
    readable = np.flatnonzero(alive)
    for number, where in _groups(numbers[readable]):
        rows = readable if where is None else readable[where]
        record = out.family.types.get(number)
        if record is None:
            out.status[rows] = statuses.UNKNOWN_TYPE
        else:
            yield _key(out, record, cur if len(rows) == len(data) else cur.at(rows))


def _key(out: Decoded, record: RecordType, cur: Cursors) -> tuple[RecordType, Ints, Bools]:
    assert record.key is not None
    rows = cur.rows
    column = Walker().struct(layout_of(record.key, 0), cur)
    good, bad = _split(cur)
    out.status[rows[bad]] = statuses.BAD_KEY
    out.key_blocks.append(Block(record, 0, rows, column, good, cur.buffer))
    trailing = cur.pos < cur.end
    return (record, rows, trailing) if good is None else (record, rows[good], trailing[good])


def _split(cur: Cursors) -> tuple[Ints | None, Ints]:
    """The slots that are right (None: all) and those that are not."""
    if not cur.broken:
        return None, np.zeros(0, np.int64)
    alive = cur.alive()
    return np.flatnonzero(alive), np.flatnonzero(~alive)


def _values(
    out: Decoded, record: RecordType, rows: Ints, key_trailing: Bools, data: RecordBytes
) -> None:
    """Decode the values of one record type; null values stay tombstones."""
    if data.has_nulls:
        there = ~data.null[rows]
        rows, key_trailing = rows[there], key_trailing[there]
    cur = data.cursors(rows)
    if not out.family.versioned_value:
        _value(out, record, 0, cur, key_trailing)
        return
    versions = cur.number("int16", 2)
    if cur.broken:
        alive = cur.alive()
        out.status[rows[~alive]] = statuses.BAD_VALUE
        versions, key_trailing = versions[alive], key_trailing[alive]
        cur = cur.at(np.flatnonzero(alive))
        cur.broken = False
    _by_version(out, record, versions, cur, key_trailing)


def _by_version(
    out: Decoded, record: RecordType, versions: Ints, cur: Cursors, key_trailing: Bools
) -> None:
    out.value_version[cur.rows] = versions
    for version, where in _groups(versions):
        sub = cur if where is None else cur.at(where)
        trailing = key_trailing if where is None else key_trailing[where]
        if version in record.value.valid:
            _value(out, record, version, sub, trailing)
        else:
            out.status[sub.rows] = statuses.UNKNOWN_VERSION


def _value(
    out: Decoded, record: RecordType, version: int, cur: Cursors, key_trailing: Bools
) -> None:
    layout = layout_of(record.value, version)
    for slots, sub, column in walk_rows(layout, cur, out.unknown):
        rest = sub.pos < sub.end
        more = rest | (key_trailing if slots is None else key_trailing[slots])
        status = np.where(more, statuses.OK_TRAILING, statuses.OK).astype(np.int8)
        if out.family.trailing_is_error:
            sub.poison(rest)
        good, bad = _split(sub)
        status[bad] = statuses.BAD_VALUE
        out.status[sub.rows] = status
        out.value_blocks.append(Block(record, version, sub.rows, column, good, sub.buffer))


def _decode_framed(out: Decoded, data: RecordBytes) -> None:
    """Remote log metadata: everything stands in the value; the key is not looked at."""
    cur = data.cursors(np.flatnonzero(~data.null))
    frame, api_key, version = cur.uvarint(), cur.uvarint(), cur.uvarint()
    cur.poison(frame != FRAME_VERSION)
    alive = cur.alive()
    out.status[cur.rows[~alive]] = statuses.BAD_VALUE
    # Java casts both to short before it looks them up.
    api_key, version = (it.astype(np.int16).astype(np.int64) for it in (api_key, version))
    good = np.flatnonzero(alive)
    out.record_type[cur.rows[good]] = api_key[good]
    for number, where in _groups(api_key[good]):
        slots = good if where is None else good[where]
        record = out.family.types.get(number)
        if record is None:
            out.status[cur.rows[slots]] = statuses.UNKNOWN_TYPE
            continue
        sub = cur.at(slots)
        sub.broken = False
        _by_version(out, record, version[slots], sub, np.zeros(len(slots), np.bool_))
