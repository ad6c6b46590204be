"""Export a table to a file, which is complete or not there at all."""

from __future__ import annotations

import os
from pathlib import Path

from moldau.engines.duckdb.delta_types import literal
from moldau.errors import MoldauError
from moldau.reading.tables.csv_rows import CsvRows
from moldau.reading.tables.query import Rows, run, table_relation, table_rows
from moldau.reading.tables.values import to_json
from moldau.warehouse.durable import whole_file

# what stands before, between and after objects, and where there are none
_OBJECTS = {".json": ("[\n", ",\n", "\n]\n", "[]\n"), ".jsonl": ("", "\n", "\n", "")}


def export_table(
    warehouse: Path,
    name: str,
    target: Path,
    where: str | None = None,
    at_ms: int | None = None,
    is_safe: bool = False,
) -> int:
    """Write a table's rows (those for which `where` holds) to `target`; returns their number.

    The ending says how: .csv, .json, .jsonl, .parquet. The file appears when it is complete,
    and replaces one that was there. `at_ms`: the clock of a mart; None = now. `is_safe`: a
    .csv for a spreadsheet. MoldauError for another ending or a folder that is missing.
    """
    ending = target.suffix.lower()
    if ending not in (".parquet", ".csv", *_OBJECTS):
        raise MoldauError(f"{target} must end in .csv, .json, .jsonl or .parquet")
    if is_safe and ending != ".csv":
        raise MoldauError(f"--safe-csv is CSV, and {target} does not end in .csv")
    if ending == ".parquet":
        _require_unicode(target)
    with whole_file(target) as unfinished:
        if ending == ".parquet":
            return _to_parquet(warehouse, name, unfinished, where, at_ms)
        rows = table_rows(warehouse, name, where, at_ms=at_ms)
        if ending == ".csv":
            return _to_csv(rows, unfinished, is_safe)
        return _write_objects(rows, unfinished, *_OBJECTS[ending])


def _require_unicode(target: Path) -> None:
    try:
        str(target).encode()
    except UnicodeEncodeError:  # words on a command line may be any bytes
        raise MoldauError(f"{target}: DuckDB writes to names in UTF-8 only") from None


def _to_parquet(
    warehouse: Path, name: str, path: Path, where: str | None, at_ms: int | None
) -> int:
    connection, sql = table_relation(warehouse, name, where, path, at_ms)
    file = literal(os.path.abspath(path))
    # the file is unfinished as it is: DuckDB needs no other one beside it
    written = run(connection, f"copy ({sql}) to {file} (format parquet, use_tmp_file false)")
    return sum(row[0] for row in written.rows)


def _to_csv(rows: Rows, path: Path, is_safe: bool) -> int:
    count = 0
    with path.open("w", encoding="utf-8", newline="") as file:
        lines = CsvRows(file, is_safe)
        lines.add(rows.columns)
        for count, row in enumerate(rows.rows, start=1):  # noqa: B007
            lines.add(row)
    return count


def _write_objects(
    rows: Rows, path: Path, before: str, between: str, after: str, nothing: str
) -> int:
    count = 0
    with path.open("w", encoding="utf-8") as file:
        for count, row in enumerate(rows.rows, start=1):
            file.write(before if count == 1 else between)
            file.write(to_json(dict(zip(rows.columns, row, strict=True)), file))
        file.write(after if count else nothing)
    return count
