"""Files as rows: JSON Lines, gzip and Parquet, a chunk at a time.

A chunk of JSON Lines is read by Arrow as a whole. Only when that fails, or when the chunk has
something Arrow cannot tell apart (a field that is missing or null, say), is it read line by line,
which says for every bad line what is wrong with it. Text in another encoding than UTF-8 is no bad
line: the file is refused as a whole.
"""

from __future__ import annotations

import gzip
import io
import json
import zlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.json

from moldau.errors import MoldauError
from moldau.loading.checked_rows import Chunk, check_rows, with_lines
from moldau.loading.encodings import (
    MARK,
    has_wide_letters,
    narrow_encoding,
    wide_encoding,
    wide_line,
)
from moldau.loading.parquet import parquet_chunks
from moldau.loading.shape import Shape

CHUNK_BYTES = 32 * 1024 * 1024
FORMATS = ".jsonl, .jsonl.gz or .parquet"


def read_chunks(file: Path, shape: Shape) -> Iterator[Chunk]:
    """Rows of `file` as tables of `shape.schema` plus `line` (int64, from 1).

    Raises MoldauError when the file is missing, of another format, or cannot be read at all.
    """
    name = file.name.lower()
    if not file.is_file():
        raise MoldauError(f"{file} is not a file")
    try:
        if name.endswith(".jsonl"):
            with file.open("rb") as stream:
                yield from _json_chunks(stream, str(file), shape)
        elif name.endswith(".jsonl.gz"):
            with gzip.open(file) as stream:
                yield from _json_chunks(stream, str(file), shape)  # type: ignore[arg-type]
        elif name.endswith(".parquet"):
            yield from parquet_chunks(file, shape)
        else:
            raise MoldauError(f"{file} is not a file that can be loaded: {FORMATS}")
    except (OSError, EOFError, zlib.error, pa.ArrowException, UnicodeDecodeError) as error:
        raise MoldauError(f"{file} cannot be read: {_first_line(error)}") from error


def _json_chunks(stream: BinaryIO, file: str, shape: Shape) -> Iterator[Chunk]:
    line, rest, is_first = 1, b"", True
    while block := stream.read(CHUNK_BYTES):
        if is_first:
            block, is_first = _begun(block, file), False
        cut = block.rfind(b"\n") + 1
        if not cut:
            rest += block
            continue
        chunk, rest = rest + block[:cut], block[cut:]
        yield _json_chunk(chunk, line, file, shape)
        line += chunk.count(b"\n")
    if rest:
        yield _json_chunk(rest, line, file, shape)


def _begun(block: bytes, file: str) -> bytes:
    """The first block without the mark of UTF-8."""
    if encoding := wide_encoding(block):
        raise _other_encoding(file, f"is {encoding}")
    return block.removeprefix(MARK)


def _json_chunk(chunk: bytes, line: int, file: str, shape: Shape) -> Chunk:
    table = _read_whole(chunk, shape)
    if table is None:
        return _read_by_line(chunk, line, file, shape)
    return with_lines(table, line), []


def _read_whole(chunk: bytes, shape: Shape) -> pa.Table | None:
    """The chunk by Arrow, or None when a line must be looked at for itself."""
    rows = chunk.count(b"\n") + (not chunk.endswith(b"\n"))
    if not (shape.is_plain(chunk, rows) and _is_utf8(chunk)):
        return None
    options = pa.json.ReadOptions(block_size=len(chunk) + 1)
    parsing = pa.json.ParseOptions(
        explicit_schema=shape.file_schema, unexpected_field_behavior="ignore"
    )
    try:
        table = pa.json.read_json(io.BytesIO(chunk), options, parsing)
    except pa.ArrowInvalid:
        return None
    if table.num_rows != rows or any(table[name].null_count for name in shape.required):
        return None
    return shape.convert(table)


def _is_utf8(chunk: bytes) -> bool:
    """Arrow would take in any bytes."""
    try:
        return chunk.isascii() or bool(chunk.decode())
    except UnicodeDecodeError:
        return False


def _read_by_line(chunk: bytes, first: int, file: str, shape: Shape) -> Chunk:
    texts = chunk.split(b"\n")
    if not texts[-1]:
        texts.pop()

    @cache
    def has_letters_of_utf8() -> bool:
        return any(map(has_wide_letters, texts))

    def check(text: bytes, number: int) -> dict[str, Any] | None:
        if not text.removeprefix(MARK).strip():
            return None
        try:
            return shape.check(_parse(text))
        except ValueError:
            if encoding := wide_line(text):
                raise _other_encoding(file, f"is {encoding} from line {number} on") from None
            told = _read_otherwise(text, shape)
            if told and not has_letters_of_utf8():
                what = f"is not UTF-8: line {number} reads as {told} or another 8-bit encoding"
                raise _other_encoding(file, what) from None
            raise

    return check_rows(texts, first, file, shape, check)


def _parse(text: bytes) -> dict[str, Any]:
    try:
        row = json.loads(text.removeprefix(MARK).decode())
    except UnicodeDecodeError:
        raise ValueError("the line is not UTF-8") from None
    except (json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"the line is not JSON ({error})") from None
    if not isinstance(row, dict):
        raise ValueError("the line is not a JSON object")
    return row


def _read_otherwise(text: bytes, shape: Shape) -> str | None:
    """The encoding of a byte a letter in which the line is a good one; None = in none it is."""
    if _is_utf8(text):
        return None
    encoding, read = narrow_encoding(text)
    try:
        shape.check(_parse(read.encode()))
    except ValueError:
        return None
    return encoding


def _other_encoding(file: str, what: str) -> MoldauError:
    return MoldauError(f"{file} {what}; moldau reads UTF-8, and takes nothing of such a file")


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]
