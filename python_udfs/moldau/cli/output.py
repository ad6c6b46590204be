"""Rows on stdout: a table for people, JSON and CSV for programs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from moldau.cli.say import Data, console, hand_over, is_terminal, say
from moldau.escapes import visible
from moldau.reading.tables.csv_rows import SAFE_CSV, CsvRows
from moldau.reading.tables.values import plain, to_json

TABLE_ROWS = 1_000
_CELL_ON_TERMINAL = 60
_CELL_ELSEWHERE = 300


def write_rows(columns: Sequence[str], rows: Iterable[Sequence[Any]], output_format: str) -> None:
    """Write rows as `table`, `json` (one array of objects) `csv` (with a header) or `safe-csv`.

    JSON and CSV are exact and stream. A table shows control characters as escapes, cuts long
    cells, and stops after 1,000 rows with a note on stderr.
    """
    match output_format:
        case "json":
            _write_json(columns, rows)
        case "csv" | "safe-csv":
            _write_csv(columns, rows, CsvRows(Data, output_format == SAFE_CSV))
        case _:
            _write_table(columns, rows)


def write_dicts(
    rows: Sequence[Mapping[str, Any]], output_format: str, columns: Sequence[str] = ()
) -> None:
    """Likewise, of rows that name their columns; `columns`: if there is no row."""
    columns = list(dict.fromkeys(name for row in rows for name in row)) or columns
    write_rows(columns, [[row.get(name) for name in columns] for row in rows], output_format)


def _write_json(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    separator = "[\n"
    for row in rows:
        hand_over(separator + to_json(dict(zip(columns, row, strict=True))))
        separator = ",\n"
    hand_over("[]\n" if separator == "[\n" else "\n]\n")


def _write_csv(columns: Sequence[str], rows: Iterable[Sequence[Any]], to: CsvRows) -> None:
    to.add(columns)
    for row in rows:
        to.add(row)


def _write_table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    iterator, columns = iter(rows), [visible(column) for column in columns]
    width = _CELL_ON_TERMINAL if is_terminal() else _CELL_ELSEWHERE
    cells = [[_cell(value, width) for value in row] for row in islice(iterator, TABLE_ROWS)]
    if is_terminal():
        _write_rich(columns, cells)
    else:
        hand_over("".join(_aligned(columns, cells)))
    if next(iterator, None) is not None:
        say(f"the first {TABLE_ROWS} rows; --format json or csv gives all", err=True)


def _write_rich(columns: Sequence[str], cells: list[list[str]]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(Text(column), overflow="fold")
    for row in cells:
        table.add_row(*(Text(cell) for cell in row))
    console().print(table)


def _aligned(columns: Sequence[str], cells: list[list[str]]) -> Iterator[str]:
    lines = [list(columns), *cells]
    widths = [max(len(line[index]) for line in lines) for index in range(len(columns))]
    lines.insert(1, ["-" * width for width in widths])
    for line in lines:
        padded = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        yield "  ".join(padded).rstrip() + "\n"


def _cell(value: Any, width: int) -> str:
    if value is None:
        return ""
    value = plain(value)
    if not isinstance(value, str):
        value = to_json(value)
    return visible(value, width)
