"""Rows on stdout: a table for people, JSON and CSV for programs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Literal

from moldau.cli.say import Data, console, hand_over, is_terminal, note, say
from moldau.escapes import named, visible
from moldau.reading.tables.csv_rows import SAFE_CSV, CsvRows
from moldau.reading.tables.values import object_keys, plain, to_json

TABLE_ROWS = 1_000
_CELL = 300
_NAME = 60  # a cell without spaces, on a terminal

Shape = Literal["fitted", "all", "vertical", "glance"]


def write_rows(
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
    output_format: str,
    key: Sequence[str] | None = None,
    shape: Shape | None = None,
) -> None:
    """Write rows as `table`, `json` (one array of objects) `csv` (with a header) or `safe-csv`.

    JSON and CSV are exact and stream. A table shows control characters as escapes, cuts long
    cells, and stops after 1,000 rows with a note on stderr. On a terminal it has the columns that
    fit, with instants in UTC: those of a table with this key in the order of their weight, others
    as they are. `shape`: for verbs that have `shape_options`.
    """
    match output_format:
        case "json":
            _write_json(columns, rows)
        case "csv" | "safe-csv":
            _write_csv(columns, rows, CsvRows(Data, output_format == SAFE_CSV))
        case _:
            _write_table(columns, rows, key, shape)


def write_dicts(
    rows: Sequence[Mapping[str, Any]], output_format: str, columns: Sequence[str] = ()
) -> None:
    """Likewise, of rows that name their columns; `columns`: if there is no row."""
    columns = list(dict.fromkeys(name for row in rows for name in row)) or columns
    write_rows(columns, [[row.get(name) for name in columns] for row in rows], output_format)


def _write_json(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    separator = "[\n"
    keys = object_keys(columns)
    for row in rows:
        hand_over(separator + to_json(dict(zip(keys, row, strict=True))))
        separator = ",\n"
    hand_over("[]\n" if separator == "[\n" else "\n]\n")


def _write_csv(columns: Sequence[str], rows: Iterable[Sequence[Any]], to: CsvRows) -> None:
    to.add(columns)
    for row in rows:
        to.add(row)


def _write_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
    key: Sequence[str] | None,
    shape: Shape | None,
) -> None:
    iterator = iter(rows)
    first = list(islice(iterator, TABLE_ROWS))
    if shape == "vertical":
        _write_vertical(columns, first)
    elif is_terminal():
        _write_to_fit(columns, first, key, shape)
    else:
        cells = [
            [_cell(name, value, _CELL) for name, value in zip(columns, row, strict=True)]
            for row in first
        ]
        hand_over("".join(_aligned([visible(column) for column in columns], cells)))
    if next(iterator, None) is not None:
        note(f"the first {TABLE_ROWS} rows; --format json or csv gives all")


def _write_to_fit(
    columns: Sequence[str],
    rows: list[Sequence[Any]],
    key: Sequence[str] | None,
    shape: Shape | None,
) -> None:
    from moldau.cli.fitted import (
        Column,
        by_weight,
        fit,
        is_instant,
        names_for_people,
        readable,
        write_fitted,
    )

    told, left, keys = names_for_people(columns), [], readable(key or (), columns)
    for place, name in enumerate(columns):
        values = [row[place] for row in rows]
        numbers = [isinstance(it, int | float) for it in values if it is not None]
        is_number = bool(numbers) and all(numbers) and not is_instant(name)
        cells = [_cell_for_people(name, value) for value in values]
        if name in told:
            left.append(Column(name, visible(told[name]), cells, is_number, name in keys))
    if key is not None:
        left = by_weight(left, keys)
    width = console().width
    widths = fit(left, width)
    write_fitted(widths)
    left = [column for column in left if column not in widths]
    while shape == "all" and left:
        say()
        widths = fit([*(column for column in widths if column.is_key), *left], width)
        write_fitted(widths)
        left = [column for column in left if column not in widths]
    if left and shape != "glance":
        empty = sum(column.is_empty for column in left) if rows else 0
        more = f"{len(left)} more column{'s' * (len(left) > 1)}"
        others = "--all or --vertical shows" if shape else "--format json or csv gives"
        them = "them" if len(left) > 1 else "it"
        note(f"{more}{f' ({empty} empty)' if empty else ''}: {others} {them}")


def _write_vertical(columns: Sequence[str], rows: list[Sequence[Any]]) -> None:
    """A line for each value, whole; of instants that are there twice the one in UTC."""
    from moldau.cli.fitted import names_for_people

    told = names_for_people(columns)
    longest = max(map(len, told.values()), default=0)
    for number, row in enumerate(rows, 1):
        say(f"-- {number} --")
        for name, value in zip(columns, row, strict=True):
            if name in told:
                cell = _cell_for_people(name, value, None)
                say(f"{told[name].ljust(longest)}  {cell}".rstrip(), hang=longest + 2)


def _cell_for_people(name: str, value: Any, width: int | None = _CELL) -> str:
    from moldau.cli.fitted import for_people

    text = _cell(name, for_people(name, value), width)
    is_text = width is None or " " in text
    return text if is_text else visible(text, _NAME)


def _aligned(columns: Sequence[str], cells: list[list[str]]) -> Iterator[str]:
    lines = [list(columns), *cells]
    widths = [max(len(line[index]) for line in lines) for index in range(len(columns))]
    lines.insert(1, ["-" * width for width in widths])
    for line in lines:
        padded = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        yield "  ".join(padded).rstrip() + "\n"


def _cell(column: str, value: Any, width: int | None) -> str:
    if value is None:
        return ""
    if column == "group_id" and isinstance(value, str):
        return named(value, width)
    value = plain(value)
    if not isinstance(value, str):
        value = to_json(value)
    return visible(value, width)
