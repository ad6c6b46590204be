"""What is in a compressed batch: gzip, snappy, lz4 and zstd as Kafka's producers write them."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator

import pyarrow as pa

NAMES = ("none", "gzip", "snappy", "lz4", "zstd")  # by the number in a batch's attributes
_PIECE = 1024 * 1024
# snappy-java's stream: this, two versions, then blocks behind their lengths
_XERIAL, _XERIAL_HEADER = b"\x82SNAPPY\x00", 16
_GZIP = 16 + zlib.MAX_WBITS
_P1, _P2, _P3, _P4, _P5 = 2654435761, 2246822519, 3266489917, 668265263, 374761393
_ALL = 0xFFFFFFFF

Seen = Callable[[int], None]


def unpacked(codec: int, content: bytes, seen: Seen, is_old: bool = False) -> bytes:
    """The bytes that were packed by the codec of this number; ValueError if they are none of it.

    `seen` is told how many bytes have come out so far, and may raise. `is_old`: of a message of
    magic 0 or 1, where the checksum of lz4's header is over other bytes than lz4 says (KAFKA-3160).
    """
    pieces: list[bytes] = []
    size = 0
    try:
        for piece in _pieces(codec, content, seen, is_old):
            pieces.append(piece)
            size += len(piece)
            seen(size)
    except (pa.ArrowException, OSError, zlib.error, IndexError) as error:
        said = str(error).splitlines()[0] if str(error) else "it ends too early"
        raise ValueError(f"its {NAMES[codec]} cannot be unpacked: {said}") from None
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def _pieces(codec: int, content: bytes, seen: Seen, is_old: bool) -> Iterator[bytes]:
    name = NAMES[codec] if codec < len(NAMES) else ""
    if name == "gzip":
        return _gzip(content)
    if name == "snappy":
        return _snappy(content, seen)
    if name == "lz4":
        return _streamed("lz4", _with_checksum(content) if is_old else content)
    if name == "zstd":
        return _streamed("zstd", content)
    raise ValueError(f"its codec {codec} is none of Kafka's: {', '.join(NAMES)}")


def _gzip(content: bytes) -> Iterator[bytes]:
    while content:
        reader = zlib.decompressobj(_GZIP)
        rest = content
        while not reader.eof:
            piece = reader.decompress(rest, _PIECE)
            if not (piece or reader.eof):
                raise zlib.error("it ends too early")
            yield piece
            rest = reader.unconsumed_tail
        content = reader.unused_data


def _snappy(content: bytes, seen: Seen) -> Iterator[bytes]:
    if not content.startswith(_XERIAL):
        yield _snappy_block(content, seen)
        return
    at = 0
    while at < len(content):
        if content.startswith(_XERIAL, at):  # streams may stand one behind the other
            at += _XERIAL_HEADER
            continue
        start = at + 4
        at = start + int.from_bytes(content[at:start], "big")
        if at > len(content):
            raise IndexError
        yield _snappy_block(content[start:at], seen)


def _snappy_block(block: bytes, seen: Seen) -> bytes:
    size = shift = at = 0
    while True:  # the size comes first
        byte = block[at]
        size |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            break
    seen(size)
    return bytes(pa.Codec("snappy").decompress(block, size, asbytes=True))


def _streamed(name: str, content: bytes) -> Iterator[bytes]:
    with pa.CompressedInputStream(pa.BufferReader(content), name) as stream:
        while piece := stream.read(min(_PIECE, 8 * len(content) + 1024)):
            yield piece


def _with_checksum(frame: bytes) -> bytes:
    """The frame with the checksum of its header as lz4 itself wants it."""
    end = 6 + (8 if frame[4] & 0x08 else 0)  # magic, flags, block size, maybe the content's size
    checksum = _xxh32(frame[4:end]) >> 8 & 0xFF
    return frame[:end] + bytes([checksum]) + frame[end + 1 :]


def _xxh32(content: bytes) -> int:
    """xxHash of fewer than 16 bytes, with the seed 0."""
    told = _P5 + len(content)
    words = len(content) // 4 * 4
    for at in range(0, words, 4):
        told = told + int.from_bytes(content[at : at + 4], "little") * _P3 & _ALL
        told = (told << 17 | told >> 15) * _P4 & _ALL
    for byte in content[words:]:
        told = told + byte * _P5 & _ALL
        told = (told << 11 | told >> 21) * _P1 & _ALL
    told = (told ^ told >> 15) * _P2 & _ALL
    told = (told ^ told >> 13) * _P3 & _ALL
    return told ^ told >> 16
