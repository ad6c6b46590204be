"""Records of batches of magic 2, column by column.

Where each record begins is walked, for its length stands in it; everything else is read of all
records at once. Keys and values are slices of the bytes that hold the records.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from moldau.loading.segments.batches import Ints
from moldau.loading.shapes import RECORDS
from moldau.records.around import NO_TIMESTAMP, Header, headers_text, timestamp_types

_LONGEST = 10  # bytes of a number
_LEAST = 7  # bytes of a record
_MANY = 256


@dataclass
class Bodies:
    """Batches whose records lie in `content`, each from `start` to below `end`; PADDING follows."""

    content: bytes
    start: Ints
    end: Ints
    count: Ints
    base_offset: Ints
    base_ms: Ints
    max_ms: Ints
    is_append_time: npt.NDArray[np.bool_]


@dataclass
class Read:
    """Rows of RECORDS; batches that could not be read, and why."""

    table: pa.Table
    bad: dict[int, str] = field(default_factory=dict)


def read(bodies: Bodies, topic: str, partition: int) -> Read:
    """All records, in the order of the batches; of a batch with a bad one, none."""
    starts, batch, bad = _walk(bodies)
    columns, wrong = _columns(bodies, starts, batch)
    if wrong.any():
        bad |= dict.fromkeys(np.unique(batch[wrong]).tolist(), "one of its records is malformed")
        kept = ~np.isin(batch, list(bad))
        starts, batch = starts[kept], batch[kept]
        columns, _ = _columns(bodies, starts, batch)
    n = len(starts)
    table = pa.table(
        {
            "topic_name": pa.DictionaryArray.from_arrays(
                pa.array(np.zeros(n, np.int32)), [topic]
            ).cast(pa.string()),
            "partition_index": pa.array(np.full(n, partition, np.int32)),
            **columns,
        }
    )
    return Read(table.select(RECORDS.schema.names).cast(RECORDS.schema), bad)


def _walk(bodies: Bodies) -> tuple[Ints, Ints, dict[int, str]]:
    """Where the records of every batch begin, and their batches.

    Side by side in all batches, record by record, as long as that is many; then batch by batch.
    """
    size = bodies.end - bodies.start
    count = np.where((bodies.count < 0) | (bodies.count > size // _LEAST), 0, bodies.count)
    first = np.cumsum(count) - count
    starts = np.zeros(int(count.sum()), np.int64)
    at, content, walked = bodies.start.copy(), np.frombuffer(bodies.content, np.uint8), 0
    lanes = np.flatnonzero(count > 0)
    while len(lanes) >= _MANY:
        here = at[lanes]
        starts[first[lanes] + walked] = here
        cursor = _Cursor(content, here, bodies.end[lanes])
        cursor.skip(cursor.number())
        at[lanes] = cursor.at
        walked += 1
        lanes = lanes[(walked < count[lanes]) & (at[lanes] < bodies.end[lanes]) & ~cursor.wrong]
    for lane in lanes.tolist():
        begin = first[lane] + walked
        rest = int(count[lane]) - walked
        found, at[lane] = _walk_on(bodies.content, int(at[lane]), int(bodies.end[lane]), rest)
        starts[begin : begin + len(found)] = found
    wrong = (at != bodies.end) | (count != bodies.count)
    told = "it does not hold the {} records that its header tells"
    bad = {row: told.format(bodies.count[row]) for row in np.flatnonzero(wrong).tolist()}
    batch = np.repeat(np.arange(len(count)), count)
    if bad:
        kept = ~wrong[batch]
        starts, batch = starts[kept], batch[kept]
    return starts, batch, bad


def _walk_on(content: bytes, at: int, end: int, count: int) -> tuple[list[int], int]:
    """Where so many records begin, from one on, and where the last one ends; -1 = nowhere."""
    starts: list[int] = []
    begin = starts.append
    for _ in range(count):
        if at >= end:
            return starts, -1
        begin(at)
        size = content[at]
        if size < 0x80:
            at += 1
        else:
            more = content[at + 1]
            if more < 0x80:
                size, at = size & 0x7F | more << 7, at + 2
            else:
                size, at = _long(content, at)
        if size & 1:  # zigzag: an odd one is negative
            return starts, -1
        at += size >> 1
    return starts, at


def _long(content: bytes, at: int) -> tuple[int, int]:
    number = 0
    for place in range(5):
        byte = content[at + place]
        number |= (byte & 0x7F) << 7 * place
        if byte < 0x80:
            return number, at + place + 1
    return 1, at  # a negative length: there is none of that many bytes


def _columns(
    bodies: Bodies, starts: Ints, batch: Ints
) -> tuple[dict[str, pa.Array], npt.NDArray[np.bool_]]:
    """Columns of RECORDS but for topic and partition, and which records are malformed."""
    cursor = _Cursor(np.frombuffer(bodies.content, np.uint8), starts, bodies.end[batch])
    size = cursor.number()
    ends = cursor.begin(size)
    cursor.skip(np.ones_like(size))  # attributes
    ms = bodies.base_ms[batch] + cursor.number()
    offset = bodies.base_offset[batch] + cursor.number()
    key_size = cursor.number()
    key_at = cursor.at
    cursor.skip(np.maximum(key_size, 0))
    key_end = cursor.at
    value_size = cursor.number()
    value_at = cursor.at
    cursor.skip(np.maximum(value_size, 0))
    value_end = cursor.at
    header_count = cursor.number()
    has_headers = header_count > 0
    is_append_time = bodies.is_append_time[batch]
    ms = np.where(is_append_time, bodies.max_ms[batch], ms)
    wrong = cursor.wrong | (key_size < -1) | (value_size < -1) | (header_count < 0)
    wrong |= ((cursor.at != ends) & ~has_headers) | (ms < -1) | (offset < 0)
    headers: list[str | None] | None = None
    if has_headers.any():
        headers = [None] * len(starts)
        for row in np.flatnonzero(has_headers & ~wrong).tolist():
            try:
                places = int(cursor.at[row]), int(ends[row]), int(header_count[row])
                headers[row] = _headers(bodies.content, *places)
            except (IndexError, UnicodeDecodeError):
                wrong[row] = True
    if wrong.any():
        return {}, wrong
    # every other slice of the bytes, from the end of one to the start of the next, is none of ours
    bounds = np.stack([key_at, key_end, value_at, value_end], 1).astype(np.int32).ravel()
    slices = pa.Array.from_buffers(
        pa.binary(), max(len(bounds) - 1, 0),
        [None, pa.py_buffer(bounds if len(bounds) else np.zeros(1, np.int32)),
         pa.py_buffer(bodies.content)],
    )  # fmt: skip
    first = np.arange(len(starts), dtype=np.int64) * 4
    return {
        "log_offset": pa.array(offset),
        "recorded_at_ms": pa.array(ms),
        "timestamp_type": _types(is_append_time, ms),
        "record_key": slices.take(pa.array(first, mask=key_size < 0)),
        "record_value": slices.take(pa.array(first + 2, mask=value_size < 0)),
        "headers": pa.nulls(len(starts), pa.string())
        if headers is None
        else pa.array(headers, pa.string()),
    }, wrong


def _types(is_append_time: npt.NDArray[np.bool_], ms: Ints) -> pa.Array:
    """Without a time there is no type of it."""
    return timestamp_types(pa.array(is_append_time.astype(np.int8), mask=ms == NO_TIMESTAMP))


class _Cursor:
    """A place in each record; what lies outside of its record is `wrong`."""

    def __init__(self, content: npt.NDArray[np.uint8], at: Ints, ends: Ints) -> None:
        self._content, self.at, self._ends = content, at, ends
        self.wrong = at > ends

    def number(self) -> Ints:
        """A zigzag varint of at most 64 bits each, and behind it."""
        at = np.minimum(self.at, self._ends)
        byte = self._content[at]
        told = (byte & 0x7F).astype(np.int64)
        at = at + 1
        more = np.flatnonzero(byte > 0x7F)
        for place in range(1, _LONGEST):
            if not len(more):
                break
            byte = self._content[np.minimum(at[more], self._ends[more])]
            told[more] |= (byte & 0x7F).astype(np.int64) << 7 * place
            at[more] += 1
            more = more[byte > 0x7F]
        self.wrong[more] = True
        self.at = at
        self.wrong |= at > self._ends
        return (told >> 1 & 0x7FFFFFFFFFFFFFFF) ^ -(told & 1)

    def begin(self, sizes: Ints) -> Ints:
        """Nothing after this is outside of so many bytes from here on; gives where they end."""
        self.skip(sizes)
        ends, self.at, self._ends = self.at, self.at - sizes, np.minimum(self.at, self._ends)
        return ends

    def skip(self, sizes: Ints) -> None:
        is_far = (sizes < 0) | (sizes > self._ends)
        self.at = self.at + np.where(is_far, 0, sizes)
        self.wrong |= is_far | (self.at > self._ends)


def _headers(content: bytes, at: int, end: int, count: int) -> str | None:
    """As a line of a file has them; IndexError if they do not fill the bytes."""
    found: list[Header] = []
    for _ in range(count):
        key, at = _counted(content, at, end)
        value, at = _counted(content, at, end)
        if key is None:
            raise IndexError
        found.append((key.decode(), value))
    if at != end:
        raise IndexError
    return headers_text(found)


def _counted(content: bytes, at: int, end: int) -> tuple[bytes | None, int]:
    number, at = _long(content, at)
    size = -1 if number & 1 else number >> 1
    if at + max(size, 0) > end:
        raise IndexError
    return (None, at) if size < 0 else (content[at : at + size], at + size)
