"""Rows of state.runs that are written without Spark."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from moldau.runs.run import Run, row_of, run_id_after
from moldau.warehouse.damage import open_table
from moldau.warehouse.paths import RUNS

if TYPE_CHECKING:
    from deltalake import DeltaTable


def append_row(warehouse: Path, run: Run, status: str = "succeeded") -> None:
    """Give the run the next id and write its row, which Delta holds against the table's checks.

    The warehouse is locked by the caller.
    """
    import pyarrow
    from deltalake import write_deltalake

    table = open_table(warehouse / "state" / "runs")
    open_runs = [journal.stem for journal in (warehouse / RUNS).glob("[!.]*.json")]
    run.run_id = run_id_after(max([*_run_ids(table), *open_runs], default=None), run.kind)
    row = row_of(run, status)
    row["counts"] = list(row["counts"].items())
    schema = pyarrow.schema(table.schema().to_arrow())
    write_deltalake(table, pyarrow.Table.from_pylist([row], schema), mode="append")


def _run_ids(table: DeltaTable) -> list[str]:
    """The largest run_id of every file, from the table's statistics."""
    files = table.get_add_actions(flatten=True)
    largest: list[str] = files.column("max.run_id").to_pylist() if files.num_rows else []
    return largest
