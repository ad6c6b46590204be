"""Rows that come one by one, as lines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from moldau.cli.say import Data, hand_over, say
from moldau.reading.tables.csv_rows import SAFE_CSV, CsvRows
from moldau.reading.tables.values import to_json


class Lines:
    """A line for each row as it comes: words, a JSON object, or CSV below one header."""

    def __init__(self, output_format: str, in_words: Callable[[dict[str, Any]], str]) -> None:
        self._format, self._in_words = output_format, in_words
        self._has_header = False

    def write(self, row: dict[str, Any]) -> None:
        match self._format:
            case "json":
                hand_over(to_json(row) + "\n")
                Data.flush()
            case "csv" | "safe-csv":
                self._write_csv(row)
            case _:
                say(self._in_words(row))

    def _write_csv(self, row: dict[str, Any]) -> None:
        rows = CsvRows(Data, self._format == SAFE_CSV)
        if not self._has_header:
            rows.add(row)
            self._has_header = True
        rows.add(row.values())
        Data.flush()
