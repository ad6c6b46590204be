"""Rows of a JSON array of objects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

from moldau.loading.checked_rows import Chunk, check_rows, with_lines
from moldau.loading.json_arrays import Broken, elements
from moldau.loading.shape import Shape
from moldau.sessions.brought import Refusal
from moldau.settings.limits import Limits


def array_chunks(stream: BinaryIO, file: str, shape: Shape, limits: Limits) -> Iterator[Chunk]:
    """A row is an element of the array, counted from 1."""

    def check(row: Any, _number: int) -> dict[str, Any]:
        if not isinstance(row, dict):
            raise ValueError("the element is not a JSON object")
        return shape.check(row)

    broken: list[Refusal] = []

    def rows() -> Iterator[tuple[int, Any]]:
        try:
            yield from elements(stream, limits.line_bytes)
        except Broken as error:
            told = f"{error}; nothing from here on is read"
            broken.append(Refusal(file, error.number, told))

    yield from check_rows(rows(), file, shape, check)
    if broken:
        yield with_lines(shape.schema.empty_table(), 1), broken
