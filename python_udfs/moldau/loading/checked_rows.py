"""Check the rows of a file one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from moldau.loading.json_arrays import Broken
from moldau.loading.shape import Shape
from moldau.sessions.brought import Refusal

# rows of one chunk with their line numbers, and what was refused in it
Chunk = tuple[pa.Table, list[Refusal]]
Row = TypeVar("Row")
_AT_ONCE = 16_384  # rows as Python's objects, which take some ten times the bytes of their text


def check_rows(
    rows: Iterable[tuple[int, Row]],
    file: str,
    shape: Shape,
    check: Callable[[Row, int], dict[str, Any] | None],
) -> Iterator[Chunk]:
    """The good ones of these rows, which come with their numbers, as tables.

    `check`, of a row and its number: None = there is none here."""
    rows = iter(rows)
    while some := list(islice(rows, _AT_ONCE)):
        good: list[dict[str, Any]] = []
        lines: list[int] = []
        refused: list[Refusal] = []
        for number, row in some:
            try:
                checked = check(row, number)
            except (ValueError, OverflowError) as error:
                refused.append(Refusal(file, number, str(error)))
            else:
                if checked is not None:
                    good.append(checked)
                    lines.append(number)
        table = pa.Table.from_pylist(good, schema=shape.schema)
        yield table.append_column("line", pa.array(lines, pa.int64())), refused


def check_until_broken(
    rows: Iterable[tuple[int, Any]],
    file: str,
    shape: Shape,
    check: Callable[[Any, int], dict[str, Any]],
) -> Iterator[Chunk]:
    """The same of JSON that may be Broken: nothing behind is read, as the last chunk says."""
    broken: list[Refusal] = []

    def until_broken() -> Iterator[tuple[int, Any]]:
        try:
            yield from rows
        except Broken as error:
            told = f"{error}; nothing from here on is read"
            broken.append(Refusal(file, error.number, told))

    yield from check_rows(until_broken(), file, shape, check)
    if broken:
        yield with_lines(shape.schema.empty_table(), 1), broken


def with_lines(table: pa.Table, first: int) -> pa.Table:
    lines = np.arange(first, first + table.num_rows, dtype=np.int64)
    return table.append_column("line", pa.array(lines))
