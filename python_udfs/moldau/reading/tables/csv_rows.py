"""Rows as CSV: exact, or safe to open in a spreadsheet."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from typing import Any, Protocol

from moldau.reading.tables.values import csv_cell

SAFE_CSV = "safe-csv"
# what a spreadsheet takes a formula by, and its wide forms; it may pass over what comes before
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠", "﹢", "﹣", "﹦", "−")  # noqa: RUF001
_PASSED_OVER = " \0\v\f\u00a0\u2007\u202f\u3000\ufeff'\""


class Stream(Protocol):
    def write(self, text: str, /) -> object: ...


class CsvRows:
    """Writes to a stream; null is empty, lists and maps are JSON.

    `is_safe`: a text that a spreadsheet would take for a formula has a `'` before it, and every
    cell is quoted, so that none is split. Numbers are none: `-1` stays what it is.
    """

    def __init__(self, stream: Stream, is_safe: bool = False) -> None:
        self._is_safe = is_safe
        self._stream = stream
        # a lone \r is quoted only where it is part of a line's end
        self._writer = csv.writer(
            self, lineterminator="\r\n", quoting=csv.QUOTE_ALL if is_safe else csv.QUOTE_MINIMAL
        )

    def add(self, row: Iterable[Any]) -> None:
        self._writer.writerow([self._cell(value) for value in row])

    def write(self, line: str) -> None:
        """What the writer of csv gives, a row at a time."""
        self._stream.write(line.removesuffix("\r\n") + "\n")

    def _cell(self, value: Any) -> Any:
        cell = csv_cell(value)
        if not self._is_safe or not isinstance(value, str | bytes | bytearray | memoryview):
            return cell
        return f"'{cell}" if cell.lstrip(_PASSED_OVER).startswith(_FORMULA) else cell
