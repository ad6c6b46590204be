"""Files as rows: JSON Lines, gzip and Parquet, a chunk at a time.

A chunk of JSON Lines is read by Arrow as a whole. Only when that fails, or when the chunk has
something Arrow cannot tell apart (a field that is missing or null, say), is it read line by line,
which says for every bad line what is wrong with it.
"""

from __future__ import annotations

import gzip
import io
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.json
import pyarrow.parquet

from moldau.errors import MoldauError
from moldau.loading.refusals import Refusal
from moldau.loading.shape import Shape

CHUNK_BYTES = 32 * 1024 * 1024
BATCH_ROWS = 262_144
FORMATS = ".jsonl, .jsonl.gz or .parquet"

# rows of one chunk with their line numbers, and what was refused in it
Chunk = tuple[pa.Table, list[Refusal]]


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
            yield from _parquet_chunks(file, shape)
        else:
            raise MoldauError(f"{file} is not a file that can be loaded: {FORMATS}")
    except (OSError, EOFError, zlib.error, pa.ArrowException, UnicodeDecodeError) as error:
        raise MoldauError(f"{file} cannot be read: {_first_line(error)}") from error


def _json_chunks(stream: BinaryIO, file: str, shape: Shape) -> Iterator[Chunk]:
    line, rest = 1, b""
    while block := stream.read(CHUNK_BYTES):
        cut = block.rfind(b"\n") + 1
        if not cut:
            rest += block
            continue
        chunk, rest = rest + block[:cut], block[cut:]
        yield _json_chunk(chunk, line, file, shape)
        line += chunk.count(b"\n")
    if rest:
        yield _json_chunk(rest, line, file, shape)


def _json_chunk(chunk: bytes, line: int, file: str, shape: Shape) -> Chunk:
    table = _read_whole(chunk, shape)
    if table is None:
        return _read_by_line(chunk, line, file, shape)
    return _with_lines(table, line), []


def _read_whole(chunk: bytes, shape: Shape) -> pa.Table | None:
    """The chunk by Arrow, or None when a line must be looked at for itself."""
    rows = chunk.count(b"\n") + (not chunk.endswith(b"\n"))
    if not shape.is_plain(chunk, rows):
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


def _read_by_line(chunk: bytes, first: int, file: str, shape: Shape) -> Chunk:
    texts = chunk.split(b"\n")
    return _check_rows(texts[:-1] if texts[-1] == b"" else texts, first, file, shape)


def _check_rows(rows: list[Any], first: int, file: str, shape: Shape) -> Chunk:
    good: list[dict[str, Any]] = []
    lines: list[int] = []
    refused: list[Refusal] = []
    for number, row in enumerate(rows, first):
        if isinstance(row, bytes) and not row.strip():
            continue
        try:
            good.append(shape.check(_parse(row) if isinstance(row, bytes) else row))
            lines.append(number)
        except (ValueError, OverflowError) as error:
            refused.append(Refusal(file, number, str(error)))
    table = pa.Table.from_pylist(good, schema=shape.schema)
    return table.append_column("line", pa.array(lines, pa.int64())), refused


def _parse(text: bytes) -> dict[str, Any]:
    try:
        row = json.loads(text)
    except UnicodeDecodeError:
        raise ValueError("the line is not UTF-8") from None
    except (json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"the line is not JSON ({error})") from None
    if not isinstance(row, dict):
        raise ValueError("the line is not a JSON object")
    return row


def _parquet_chunks(file: Path, shape: Shape) -> Iterator[Chunk]:
    with pa.parquet.ParquetFile(file) as parquet:
        present = set(parquet.schema_arrow.names)
        missing = [name for name in shape.required_fields if name not in present]
        if missing:
            raise MoldauError(f"{file} has no column {', '.join(missing)}")
        line = 1
        wanted = [name for name in shape.fields if name in present]
        for batch in parquet.iter_batches(BATCH_ROWS, columns=wanted):
            table = _cast(pa.table(batch), shape)
            if table is None:
                yield _check_rows(batch.to_pylist(), line, str(file), shape)
            else:
                yield _with_lines(table, line), []
            line += batch.num_rows


def _cast(table: pa.Table, shape: Shape) -> pa.Table | None:
    """The batch as a whole, or None when a row must be looked at for itself."""
    if shape.needs_lines:
        return None
    schema = pa.schema([field for field in shape.file_schema if field.name in table.column_names])
    try:
        plain = table.select(schema.names).cast(schema)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None
    has_headers = "headers" in table.column_names and table["headers"].null_count < len(table)
    if has_headers or any(plain[name].null_count for name in shape.required):
        return None
    return shape.convert(plain)


def _with_lines(table: pa.Table, first: int) -> pa.Table:
    return table.append_column("line", pa.array(range(first, first + table.num_rows), pa.int64()))


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]
