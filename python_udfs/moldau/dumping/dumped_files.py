"""Write rows to a file that appears only when it is complete."""

from __future__ import annotations

import contextlib
import gzip
import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from moldau.errors import MoldauError
from moldau.loading.shapes import RECORDS
from moldau.warehouse.durable import fsync, whole_file

FORMATS = ".jsonl, .jsonl.gz or .parquet"
Write = Callable[[Sequence[dict[str, Any]]], None]

_HEADERS = pa.list_(pa.struct([("key", pa.string()), ("value_base64", pa.string())]))
PARQUET_SCHEMA = RECORDS.file_schema.append(pa.field("headers", _HEADERS))
_PARQUET_ROWS = 50_000


def check_target(target: Path) -> None:
    """MoldauError when there can be no such file."""
    if _opener(target) is None:
        raise MoldauError(f"{target} must end in {FORMATS}")
    if target.is_dir():
        raise MoldauError(f"{target} is a folder")
    if not target.parent.is_dir():
        raise MoldauError(f"the folder {target.parent} does not exist")


@contextlib.contextmanager
def complete_file(target: Path) -> Iterator[Write]:
    """Appends rows; the file gets its name, in place of an older one, when the block ends well."""
    check_target(target)
    opener = _opener(target)
    assert opener is not None
    with whole_file(target) as unfinished:
        with opener(unfinished) as write:
            yield write
        fsync(unfinished)
    fsync(target.parent)


@contextlib.contextmanager
def _json_lines(path: Path, opener: Callable[[Path, str], Any]) -> Iterator[Write]:
    def write(rows: Sequence[dict[str, Any]]) -> None:
        # without blanks: so `load` sees at once that a chunk has no headers
        text = "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows)
        file.write(text.encode("ascii"))

    with opener(path, "wb") as file:
        yield write


@contextlib.contextmanager
def _parquet(path: Path) -> Iterator[Write]:
    waiting: list[dict[str, Any]] = []

    def write(rows: Sequence[dict[str, Any]]) -> None:
        # `load` reads a batch as a whole where no record of it has headers
        waiting.extend({**row, "headers": row["headers"] or None} for row in rows)
        if len(waiting) >= _PARQUET_ROWS:
            flush()

    def flush() -> None:
        writer.write_table(pa.Table.from_pylist(waiting, PARQUET_SCHEMA))
        waiting.clear()

    with pa.parquet.ParquetWriter(path, PARQUET_SCHEMA, compression="zstd") as writer:
        yield write
        flush()


def _opener(target: Path) -> Callable[[Path], contextlib.AbstractContextManager[Write]] | None:
    name = target.name.lower()
    return next((open_it for ending, open_it in _ENDINGS.items() if name.endswith(ending)), None)


_ENDINGS: dict[str, Callable[[Path], contextlib.AbstractContextManager[Write]]] = {
    ".jsonl": partial(_json_lines, opener=open),
    ".jsonl.gz": partial(_json_lines, opener=partial(gzip.open, compresslevel=6)),
    ".parquet": _parquet,
}
