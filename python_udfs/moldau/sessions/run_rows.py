"""Rows of state.runs that are written without Spark."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from moldau.sessions.faults import die_at
from moldau.sessions.run import Run, is_run_id, row_of, run_id_after
from moldau.settings.maintain import Maintain
from moldau.warehouse.append import append_to
from moldau.warehouse.kept import keep_table, take_table
from moldau.warehouse.left import last_run_id, note_left, versions_now
from moldau.warehouse.paths import LOADS, NEW, RUNS
from moldau.warehouse.upkeep import keep_up

if TYPE_CHECKING:
    from deltalake import DeltaTable

_DEFAULT = Maintain()


def append_rows(
    warehouse: Path,
    runs: Sequence[Run],
    status: str = "succeeded",
    maintain: Maintain = _DEFAULT,
    table: DeltaTable | None = None,
) -> None:
    """Give runs the next ids, above those that were interrupted, and write their rows at once.

    Delta holds them against the table's checks. Upkeep of the tables follows. `table`: state.runs,
    where it is open already. The warehouse is locked by the caller.
    """
    table = table or take_table(warehouse / "state" / "runs")
    interrupted = [entry.stem for f in (RUNS, LOADS) for entry in (warehouse / f).glob("[!.]*")]
    given = [*_run_ids(table), *interrupted, last_run_id(warehouse)]
    last = max(filter(is_run_id, given), default=None)
    rows = []
    for run in runs:
        last = run.run_id = run_id_after(last, run.kind)
        rows.append(row_of(run, status))
    _append(warehouse, table, rows, maintain)


def append_row(warehouse: Path, row: dict[str, Any], maintain: Maintain = _DEFAULT) -> None:
    """Write a row that has its run_id. The warehouse is locked by the caller."""
    _append(warehouse, take_table(warehouse / "state" / "runs"), [row], maintain)


def _append(
    warehouse: Path, table: DeltaTable, rows: Sequence[dict[str, Any]], maintain: Maintain
) -> None:
    import pyarrow as pa
    from deltalake import QueryBuilder

    versions = versions_now(warehouse)
    rows = [row | {"table_versions": versions} for row in rows]
    values = ", ".join(f"({', '.join(map(_literal, row.values()))})" for row in rows)
    # the engine that comes with Delta makes the rows: pyarrow would import pandas for a second
    made = QueryBuilder().execute(f"select * from (values {values}) as runs ({', '.join(rows[0])})")
    append_to(table, pa.RecordBatchReader.from_stream(made), warehouse / NEW)
    keep_table(table)
    last = max(row["run_id"] for row in rows)
    before, left = note_left(warehouse, last, versions | {"state.runs": table.version()})
    die_at("after_run_row")
    keep_up(warehouse, before.versions, left.versions, maintain.hours_of)


def _literal(value: Any) -> str:
    """A value of a row in DataFusion's SQL."""
    match value:
        case None:
            return "cast(null as bigint)"
        case list():
            return f"make_array({', '.join(map(_literal, value))})"
        case dict():
            keys, values = (", ".join(map(_literal, part)) for part in (value, value.values()))
            return (
                f"map(arrow_cast(make_array({keys}), 'List(Utf8)'), "
                f"arrow_cast(make_array({values}), 'List(Int64)'))"
            )
        case str():
            return "'" + value.replace("'", "''") + "'"
        case _:
            return str(value).lower()


def _run_ids(table: DeltaTable) -> list[str]:
    """The largest run_id of every file, from the table's statistics."""
    files = table.get_add_actions(flatten=True)
    largest: list[str] = files.column("max.run_id").to_pylist() if files.num_rows else []
    return largest
