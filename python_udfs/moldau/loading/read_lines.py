"""Files as rows: JSON Lines, JSON and Parquet, a chunk at a time.

A chunk of JSON Lines is read by Arrow as a whole. Only when that fails, or when the chunk has
something Arrow cannot tell apart (a field that is missing or null, say), is it read line by line,
which says for every bad line what is wrong with it. Text in another encoding than UTF-8 is no bad
line: the file is refused as a whole.
"""

from __future__ import annotations

import io
import json
import re
import zlib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO, cast

import pyarrow as pa
import pyarrow.json

from moldau.errors import MoldauError
from moldau.loading.checked_rows import Chunk, check_rows, check_until_broken, with_lines
from moldau.loading.encodings import (
    MARK,
    has_wide_letters,
    narrow_encoding,
    wide_encoding,
    wide_line,
)
from moldau.loading.foreign import refuse_foreign, refuse_misnamed
from moldau.loading.formats import ENDINGS, LINES, PARQUET, STDIN, ending, is_delta, is_stream
from moldau.loading.inputs import Place
from moldau.loading.json_arrays import elements
from moldau.loading.parquet import delta_chunks, parquet_chunks
from moldau.loading.shape import Shape
from moldau.loading.shapes import RECORDS
from moldau.loading.tools.output import form_of, tool_chunks
from moldau.loading.unpacking import Begun, Guarded, opened, read_twice
from moldau.sessions.brought import Refusal
from moldau.settings.limits import Limits

CHUNK_BYTES = 32 * 1024 * 1024
FORMATS = ", ".join(ENDINGS)
_STDIN_NAME = "standard input"


def read_chunks(
    file: Path,
    shape: Shape,
    limits: Limits | None = None,
    note: Callable[[str], None] = lambda _: None,
    place: Place | None = None,
) -> Iterator[Chunk]:
    """Rows of `file` as tables of `shape.schema` plus `line` (int64, from 1).

    `limits`: None = the defaults. `note` is told what a person should know, `place` whose records
    they are where the file does not say. Raises MoldauError when the file is missing, of another
    format, grows out of all proportion, or cannot be read at all.
    """
    limits = limits or Limits()
    kind, packing = ending(file)
    if not (is_stream(file) or file.is_file() or is_delta(file)):
        raise MoldauError(f"{file} is not a file")
    try:
        if is_delta(file):
            yield from delta_chunks(file, shape)
        elif kind == PARQUET and not packing:
            yield from parquet_chunks(file, shape, limits)
        elif is_stream(file) or kind not in ("", PARQUET):
            with opened(file) as (stream, packed):
                yield from _text_chunks(stream, file, shape, limits, packed, note, place)
        else:
            raise MoldauError(f"{file} is not a file that can be loaded: {FORMATS}")
    except (OSError, EOFError, zlib.error, pa.ArrowException, UnicodeDecodeError) as error:
        raise MoldauError(f"{file} cannot be read: {_first_line(error)}") from error


def _text_chunks(
    stream: BinaryIO,
    file: Path,
    shape: Shape,
    limits: Limits,
    packed: BinaryIO | None,
    note: Callable[[str], None],
    place: Place | None,
) -> Iterator[Chunk]:
    """Of JSON Lines, one array, or the output of Kafka's own tools: the beginning tells which."""
    begun = cast(BinaryIO, Begun(stream))
    beginning = cast(Begun, begun).beginning.removeprefix(MARK)
    name = _STDIN_NAME if file == STDIN else str(file)
    guarded = cast(BinaryIO, Guarded(begun, name, limits, packed))
    refuse_misnamed(beginning, name)
    if shape is RECORDS:
        refuse_foreign(beginning, name)
        if form := form_of(beginning):
            with read_twice(guarded) as again:
                yield from tool_chunks(form, again, name, limits, note, place or Place())
            return
    if beginning.lstrip()[:1] == b"[":
        yield from _array_chunks(guarded, name, shape, limits)
    else:
        yield from _json_chunks(begun, name, shape, limits, packed)


def _array_chunks(stream: BinaryIO, file: str, shape: Shape, limits: Limits) -> Iterator[Chunk]:
    """A row is an element of one array, counted from 1."""

    def check(row: Any, _number: int) -> dict[str, Any]:
        if not isinstance(row, dict):
            raise ValueError("the element is not a JSON object")
        return shape.check(row)

    yield from check_until_broken(elements(stream, limits.line_bytes), file, shape, check)


def _json_chunks(
    stream: BinaryIO, file: str, shape: Shape, limits: Limits, packed: BinaryIO | None = None
) -> Iterator[Chunk]:
    """`packed`: the file that the stream comes out of, if it is compressed."""
    line, unpacked_bytes, is_within = 1, 0, False
    while block := stream.read(CHUNK_BYTES):
        unpacked_bytes += len(block)
        if packed:
            limits.refuse_bomb(file, unpacked_bytes, packed.tell())
        if unpacked_bytes == len(block):
            block = _begun(block, file)
        if is_within:  # a line that was refused
            end = block.find(b"\n") + 1
            if not end:
                continue
            block, line = block[end:], line + 1
        # to the end of the last line, or so far that it is known to be too long
        if block and not block.endswith(b"\n"):
            block += stream.readline(limits.line_bytes + 1)
        is_within = bool(block) and not block.endswith(b"\n")
        for part, is_too_long in _parts(block, limits.line_bytes):
            if is_too_long:
                told = f"the line is longer than {limits.line_bytes} bytes (`limits: line_bytes`)"
                yield shape.schema.empty_table(), [Refusal(file, line, told)]
            elif not part.isspace():
                yield from _json_chunk(part, line, file, shape)
            line += part.count(b"\n")


def _parts(chunk: bytes, most: int) -> Iterator[tuple[bytes, bool]]:
    """The chunk in order, as lines that may be read and lines that are too long, each alone."""
    start = at = 0
    while len(chunk) - at > most:
        end = chunk.rfind(b"\n", at, at + most + 1) + 1
        if end:
            at = end
            continue
        if start < at:
            yield chunk[start:at], False
        end = chunk.find(b"\n", at + most) + 1 or len(chunk)
        yield chunk[at:end], True
        start = at = end
    if start < len(chunk):
        yield chunk[start:], False


def _begun(block: bytes, file: str) -> bytes:
    """The first block without the mark of UTF-8."""
    if encoding := wide_encoding(block):
        raise _other_encoding(file, f"is {encoding}", encoding)
    return block.removeprefix(MARK)


def _json_chunk(chunk: bytes, line: int, file: str, shape: Shape) -> Iterator[Chunk]:
    table = _read_whole(chunk, shape)
    if table is None:
        yield from _read_by_line(chunk, line, file, shape)
    else:
        yield with_lines(table, line), []


def _read_whole(chunk: bytes, shape: Shape) -> pa.Table | None:
    """The chunk by Arrow, or None when a line must be looked at for itself."""
    rows = chunk.count(b"\n") + (not chunk.endswith(b"\n"))
    # where a line is empty another may hold two objects: their sum would tell nothing
    objects = chunk.count(b"\n{") + chunk.startswith(b"{")
    if not (objects == rows and shape.is_plain(chunk, rows) and _is_utf8(chunk)):
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


def _read_by_line(chunk: bytes, first: int, file: str, shape: Shape) -> Iterator[Chunk]:
    @cache
    def has_letters_of_utf8() -> bool:
        return has_wide_letters(chunk)

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

    yield from check_rows(_numbered_lines(chunk, first), file, shape, check)


def _numbered_lines(chunk: bytes, first: int) -> Iterator[tuple[int, bytes]]:
    """Lines that are not empty: there may be millions of those."""
    at = 0
    for line in re.finditer(rb"[^\n]+", chunk):
        first += chunk.count(b"\n", at, line.start())
        at = line.start()
        yield first, line[0]


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


def _other_encoding(file: str, what: str, encoding: str = "") -> MoldauError:
    given = "FILE" if file == _STDIN_NAME else file
    new = f"NEW{ending(Path(file))[0] or LINES[0]}"
    convert = f": iconv -f {encoding} -t UTF-8 {given} > {new}" if encoding else ""
    told = f"moldau reads UTF-8, and takes nothing of such a file{convert}"
    return MoldauError(f"{file} {what}; {told}")


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]
