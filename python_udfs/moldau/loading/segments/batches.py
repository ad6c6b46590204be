"""Batches of a segment, from their headers: where each lies, and whether it is whole.

`DefaultRecordBatch` (magic 2) and `LegacyRecord` (magic 0 and 1) of Kafka say where the fields are.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from moldau.sessions.brought import Refusal
from moldau.settings.limits import Limits

CHUNK_BYTES = 8 * 1024 * 1024  # what is made of them fits into a processor's cache
Ints = npt.NDArray[np.int64]
CODEC, LOG_APPEND_TIME, TRANSACTIONAL, CONTROL = 0x07, 0x08, 0x10, 0x20  # of attributes
OVERHEAD = 12  # base offset, and the length of what follows
BODY, OLD_BODY = 61, 16  # where records of magic 2 begin; magic, attributes, ... of a message
PADDING = bytes(64)  # behind the bytes, so that what is read at their end is there
_LEAST = 14  # bytes that any message has behind its length
_CRC_FROM, _OLD_CRC_AT, _OLD_CRC_FROM = 21, 12, 16
_LENGTH = struct.Struct(">i").unpack_from
HEADER = np.dtype(
    [
        ("base_offset", ">i8"), ("length", ">i4"), ("leader_epoch", ">i4"), ("magic", "i1"),
        ("crc", ">u4"), ("attributes", ">i2"), ("last_delta", ">i4"), ("base_ms", ">i8"),
        ("max_ms", ">i8"), ("producer_id", ">i8"), ("producer_epoch", ">i2"),
        ("base_sequence", ">i4"), ("count", ">i4"),
    ]
)  # fmt: skip
NEWEST = 2


@dataclass(frozen=True)
class Batches:
    """Whole batches of a stretch of a file; one entry of `header` and of the others each.

    `content` are the bytes and PADDING, with the first at `position` of the file; batch i has those
    from `at[i]` to below `end[i]`. Only `base_offset` and `magic` hold for magic 0 and 1.
    """

    content: bytes
    position: int
    at: Ints
    end: Ints
    header: npt.NDArray[np.void]

    def __len__(self) -> int:
        return len(self.at)

    def field(self, name: str) -> Ints:
        return self.header[name].astype(np.int64)

    def attributes(self) -> Ints:
        """Of magic 2; 0 for others."""
        return np.where(self.is_new(), self.field("attributes"), 0)

    def is_new(self) -> npt.NDArray[np.bool_]:
        return np.asarray(self.header["magic"] == NEWEST)

    def are_whole(self, rows: npt.NDArray[np.intp]) -> npt.NDArray[np.bool_]:
        """Of each of these batches whether the checksum is that of the bytes."""
        from google_crc32c import value as crc32c  # no other file that is loaded needs it

        is_new = self.is_new()[rows].tolist()
        told = self.header["crc"][rows].tolist()
        places = zip(self.at[rows].tolist(), self.end[rows].tolist(), told, is_new, strict=True)
        content = self.content
        return np.array(
            [
                crc32c(content[at + _CRC_FROM : end]) == crc if new else self._is_whole(at, end)
                for at, end, crc, new in places
            ],
            np.bool_,
        )

    def _is_whole(self, at: int, end: int) -> bool:
        told = int.from_bytes(self.content[at + _OLD_CRC_AT : at + _OLD_CRC_FROM], "big")
        return zlib.crc32(self.content[at + _OLD_CRC_FROM : end]) == told


def batches_of(
    file: Path, size: int, limits: Limits, chunk_bytes: int = CHUNK_BYTES
) -> Iterator[Batches | Refusal]:
    """The batches of a segment in stretches, and what of it cannot be read; `line` is 0 there.

    `size`: so many bytes of it are looked at, whatever a broker adds meanwhile. A tail of zeros is
    none: a file that was made larger beforehand.
    """
    position = 0
    with file.open("rb", buffering=0) as segment:
        while position < size:
            segment.seek(position)
            content = segment.read(min(chunk_bytes, size - position))
            if not content:
                break  # cut off meanwhile
            ends = _walk(content)
            if ends:
                yield _batches(content, position, ends)
                position += ends[-1]
                continue
            length = _LENGTH(content, 8)[0] if len(content) >= OVERHEAD else None
            if length is None or position + OVERHEAD + length > size or length < _LEAST:
                if not (length in (0, None) and _is_zero(file, position, size)):
                    yield Refusal(str(file), 0, _torn(position, size, length))
                return
            whole = OVERHEAD + length
            if whole > limits.batch_bytes:
                told = f"the batch at byte {position} has {whole} bytes (`limits: batch_bytes`)"
                yield Refusal(str(file), 0, told)
            else:
                segment.seek(position)
                content = segment.read(whole)
                if len(content) == whole:
                    yield _batches(content, position, [whole])
            position += whole


def _torn(position: int, size: int, length: int | None) -> str:
    rest = f"the {size - position} bytes from byte {position} on"
    if length is None or length >= _LEAST:
        return f"{rest} are a batch that is cut off: a torn tail"
    return f"{rest} are no batch (its length would be {length})"


def _is_zero(file: Path, position: int, size: int) -> bool:
    with file.open("rb") as segment:
        segment.seek(position)
        while block := segment.read(min(CHUNK_BYTES, size - position)):
            if block.count(0) != len(block):
                return False
            position += len(block)
    return True


def _walk(content: bytes) -> list[int]:
    """Where batches end that lie within these bytes, one behind the other."""
    ends = []
    at, last = 0, len(content) - OVERHEAD
    while at <= last:
        (length,) = _LENGTH(content, at + 8)
        if length < _LEAST:
            break
        at += OVERHEAD + length
        ends.append(at)
    while ends and ends[-1] > len(content):
        ends.pop()
    return ends


def _batches(content: bytes, position: int, ends: list[int]) -> Batches:
    end = np.array(ends, np.int64)
    at = np.concatenate(([0], end[:-1]))
    padded = b"".join((memoryview(content)[: ends[-1]], PADDING))
    headers = np.frombuffer(padded, np.uint8)[at[:, None] + np.arange(HEADER.itemsize)]
    return Batches(padded, position, at, end, headers.view(HEADER)[:, 0])
