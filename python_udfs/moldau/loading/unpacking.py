"""Open a file that may be packed, or standard input, as a stream of its bytes."""

from __future__ import annotations

import contextlib
import gzip
import io
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

import pyarrow as pa

from moldau.loading.formats import STDIN, ending, is_stream
from moldau.settings.limits import Limits

_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"


@contextlib.contextmanager
def opened(file: Path) -> Iterator[tuple[BinaryIO, BinaryIO | None]]:
    """The bytes of a file, and the file that they come out of if it is packed.

    Standard input and pipes are looked at to know; a file has an ending that tells.
    """
    if is_stream(file):
        source = sys.stdin.buffer if file == STDIN else file.open("rb")
        stream = cast(BinaryIO, io.BufferedReader(_Counted(source), 1 << 16))
        begin = cast(io.BufferedReader, stream).peek(4)[:4]
        packing = ".gz" if begin.startswith(_GZIP) else ".zst" if begin == _ZSTD else ""
        yield from _unpacked(stream, packing)
        return
    with file.open("rb") as plain:
        yield from _unpacked(plain, ending(file)[1])


def _unpacked(stream: BinaryIO, packing: str) -> Iterator[tuple[BinaryIO, BinaryIO | None]]:
    if packing == ".gz":
        with gzip.open(stream) as unpacked:
            yield cast(BinaryIO, unpacked), stream
    elif packing == ".zst":
        with pa.CompressedInputStream(pa.PythonFile(stream, "r"), "zstd") as unpacked:
            yield cast(BinaryIO, io.BufferedReader(_Raw(unpacked), 1 << 20)), stream
    else:
        yield stream, None


@contextlib.contextmanager
def read_twice(stream: BinaryIO) -> Iterator[Callable[[], BinaryIO]]:
    """Gives what opens the rest of the stream from its beginning, as often as it is called."""
    with tempfile.TemporaryFile() as kept:
        shutil.copyfileobj(stream, kept, 1 << 20)

        def again() -> BinaryIO:
            kept.seek(0)
            return cast(BinaryIO, kept)

        yield again


class _Raw(io.RawIOBase):
    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        found = self._stream.read(len(buffer))
        buffer[: len(found)] = found
        return len(found)


class _Counted(_Raw):
    """Tells how far it was read, as a pipe does not."""

    _at = 0

    def readinto(self, buffer: Any) -> int:
        read = super().readinto(buffer)
        self._at += read
        return read

    def seekable(self) -> bool:
        return False

    def tell(self) -> int:
        return self._at


class Begun:
    """A stream of which the `beginning` is known."""

    def __init__(self, stream: BinaryIO, size: int = 4096) -> None:
        self._stream = stream
        self.beginning = self._rest = stream.read(size)

    def read(self, size: int) -> bytes:
        if not self._rest:
            return self._stream.read(size)
        found, self._rest = self._rest[:size], self._rest[size:]
        return found + self._stream.read(size - len(found)) if size > len(found) else found

    def readline(self, size: int) -> bytes:
        if not self._rest:
            return self._stream.readline(size)
        end = self._rest.find(b"\n", 0, size) + 1
        if end or len(self._rest) >= size:
            end = end or size
            found, self._rest = self._rest[:end], self._rest[end:]
            return found
        found, self._rest = self._rest, b""
        return found + self._stream.readline(size - len(found))


class Guarded:
    """Refuses a file out of which far too much comes."""

    def __init__(
        self, stream: BinaryIO, file: str, limits: Limits, packed: BinaryIO | None
    ) -> None:
        self._stream, self._file, self._limits, self._packed = stream, file, limits, packed
        self._bytes = 0

    def read(self, size: int) -> bytes:
        block = self._stream.read(size)
        self._bytes += len(block)
        if self._packed:
            self._limits.refuse_bomb(self._file, self._bytes, self._packed.tell())
        return block
