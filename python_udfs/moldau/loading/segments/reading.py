"""The records of a segment as chunks of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from moldau.loading.checked_rows import Chunk, with_lines
from moldau.loading.segments.batches import (
    BODY,
    CHUNK_BYTES,
    CODEC,
    LOG_APPEND_TIME,
    NEWEST,
    OLD_BODY,
    PADDING,
    Batches,
    Ints,
    batches_of,
)
from moldau.loading.segments.codecs import unpacked
from moldau.loading.segments.old_messages import messages_of, table_of
from moldau.loading.segments.records import Bodies, read
from moldau.loading.shapes import RECORDS
from moldau.sessions.brought import Refusal
from moldau.settings.limits import Limits

_MAGICS = [b"\0", b"\1", b"\2"]
Given = Callable[[Batches], npt.NDArray[np.bool_]]


def chunks_of(
    file: Path, size: int, topic: str, partition: int, given: Given, limits: Limits
) -> Iterator[Chunk]:
    """Rows of RECORDS plus `line`, which counts the records of the file that are given.

    `size`: so many bytes of the file are read.

    What of the file cannot be read is refused, with the number of the record that would come next.
    """
    reader = _Reader(file, topic, partition, limits)
    line = 1
    for found in batches_of(file, size, limits):
        if isinstance(found, Refusal):
            refused = [Refusal(found.file, line, found.reason)]
            yield with_lines(RECORDS.schema.empty_table(), line), refused
            continue
        for table, reasons in reader.tables(found, np.flatnonzero(given(found))):
            refused = [Refusal(str(file), line, reason) for reason in reasons]
            yield with_lines(table, line), refused
            line += table.num_rows


def is_segment_content(file: Path) -> bool:
    """Whether it begins as a batch does; so does a file that is empty, or made of zeros."""
    with file.open("rb") as segment:
        begin = segment.read(OLD_BODY + 1)
    return begin.count(0) == len(begin) or (begin[:1] == b"\0" and begin[OLD_BODY:] in _MAGICS)


@dataclass
class _Reader:
    file: Path
    topic: str
    partition: int
    limits: Limits
    packed_bytes: int = 0
    unpacked_bytes: int = 0

    def tables(self, batches: Batches, rows: npt.NDArray[np.intp]) -> Iterator[_Tables]:
        """These of the batches as tables, with a reason for each batch that cannot be read."""
        magic = batches.header["magic"]
        # stretches of one format, which is that of nearly every file
        for some in np.split(rows, np.flatnonzero(np.diff(magic[rows] == NEWEST)) + 1):
            if len(some) and magic[some[0]] == NEWEST:
                yield from self._new(batches, some)
            elif len(some):
                yield from self._old(batches, some)

    def _new(self, batches: Batches, rows: npt.NDArray[np.intp]) -> Iterator[_Tables]:
        reasons: list[str] = []
        is_whole = (batches.end[rows] - batches.at[rows] >= BODY) & batches.are_whole(rows)
        for index in rows[~is_whole].tolist():
            reasons.append(_reason(batches, index, _CHECKSUM))
        rows = rows[is_whole]
        codecs = (batches.header["attributes"][rows] & CODEC).astype(np.int64)
        if not codecs.any():
            start, end = batches.at[rows] + BODY, batches.end[rows]
            yield self._table(batches, rows, batches.content, start, end, reasons)
            return
        gathered: list[int] = []
        bodies: list[bytes] = []
        size = 0
        for index, codec in zip(rows.tolist(), codecs.tolist(), strict=True):
            try:
                body = self._unpacked(codec, batches, index)
            except ValueError as error:
                reasons.append(_reason(batches, index, str(error)))
                continue
            gathered.append(index)
            bodies.append(body)
            size += len(body)
            if size >= CHUNK_BYTES:
                yield self._joined(batches, gathered, bodies, reasons)
                gathered, bodies, reasons, size = [], [], [], 0
        yield self._joined(batches, gathered, bodies, reasons)

    def _unpacked(self, codec: int, batches: Batches, index: int) -> bytes:
        at, end = int(batches.at[index]), int(batches.end[index])
        self.packed_bytes += end - at
        body = batches.content[at + BODY : end]
        unpacked_body = unpacked(codec, body, self._seen) if codec else body
        self.unpacked_bytes += len(unpacked_body)
        return unpacked_body

    def _seen(self, size: int) -> None:
        """So much of a batch is unpacked: ValueError if that is too much of one."""
        self.limits.refuse_bomb(str(self.file), self.unpacked_bytes + size, self.packed_bytes)
        if size > (most := self.limits.batch_bytes):
            raise ValueError(f"it has more than {most} bytes, unpacked (`limits: batch_bytes`)")

    def _joined(
        self, batches: Batches, rows: list[int], bodies: list[bytes], reasons: list[str]
    ) -> _Tables:
        sizes = np.array([len(body) for body in bodies], np.int64)
        ends = np.cumsum(sizes)
        content = b"".join((*bodies, PADDING))
        return self._table(batches, np.array(rows, np.intp), content, ends - sizes, ends, reasons)

    def _table(
        self,
        batches: Batches,
        rows: npt.NDArray[np.intp],
        content: bytes,
        start: Ints,
        end: Ints,
        reasons: list[str],
    ) -> _Tables:
        header = batches.header[rows]
        count, base_offset, base_ms, max_ms = (
            header[name].astype(np.int64) for name in ("count", "base_offset", "base_ms", "max_ms")
        )
        is_append_time = (header["attributes"] & LOG_APPEND_TIME) != 0
        told = Bodies(content, start, end, count, base_offset, base_ms, max_ms, is_append_time)
        found = read(told, self.topic, self.partition)
        for index, reason in sorted(found.bad.items()):
            reasons.append(_reason(batches, int(rows[index]), reason))
        return found.table, reasons

    def _old(self, batches: Batches, rows: npt.NDArray[np.intp]) -> Iterator[_Tables]:
        reasons: list[str] = []
        tables: list[pa.Table] = []
        size = 0
        for index, is_whole in zip(rows.tolist(), batches.are_whole(rows).tolist(), strict=True):
            at, end = int(batches.at[index]), int(batches.end[index])
            magic = int(batches.header["magic"][index])
            self.packed_bytes += end - at
            try:
                if magic not in (0, 1):
                    raise ValueError(f"it is of magic {magic}, and 0, 1 and 2 are known")
                if not is_whole:
                    raise ValueError(_CHECKSUM)
                messages = messages_of(batches.content[at:end], self._seen)
            except ValueError as error:
                reasons.append(_reason(batches, index, str(error)))
                continue
            table = table_of(messages, self.topic, self.partition)
            tables.append(table)
            self.unpacked_bytes += table.nbytes
            size += table.nbytes
            if size >= CHUNK_BYTES:
                yield pa.concat_tables(tables), reasons
                tables, reasons, size = [], [], 0
        yield pa.concat_tables(tables or [RECORDS.schema.empty_table()]), reasons


def _reason(batches: Batches, index: int, reason: str) -> str:
    at = batches.position + int(batches.at[index])
    offset = int(batches.header["base_offset"][index])
    return f"the batch at byte {at}, from offset {offset} on: {reason}"


_CHECKSUM = "its checksum is not that of its bytes"
_Tables = tuple[pa.Table, list[str]]
