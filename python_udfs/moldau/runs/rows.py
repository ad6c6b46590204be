"""Rows of state.runs that are written without Spark."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from moldau.runs.run import Run, row_of, run_id_after
from moldau.warehouse.damage import open_table
from moldau.warehouse.paths import LOADS, RUNS

if TYPE_CHECKING:
    from deltalake import DeltaTable


def append_rows(warehouse: Path, runs: Sequence[Run], status: str = "succeeded") -> None:
    """Give runs the next ids, above those that were interrupted, and write their rows at once.

    Delta holds them against the table's checks. The warehouse is locked by the caller.
    """
    import pyarrow
    from deltalake import write_deltalake

    table = open_table(warehouse / "state" / "runs")
    interrupted = [entry.stem for f in (RUNS, LOADS) for entry in (warehouse / f).glob("[!.]*")]
    last = max([*_run_ids(table), *interrupted], default=None)
    rows = []
    for run in runs:
        last = run.run_id = run_id_after(last, run.kind)
        row = row_of(run, status)
        rows.append(row | {"counts": list(row["counts"].items())})
    schema = pyarrow.schema(table.schema().to_arrow())
    write_deltalake(table, pyarrow.Table.from_pylist(rows, schema), mode="append")


def _run_ids(table: DeltaTable) -> list[str]:
    """The largest run_id of every file, from the table's statistics."""
    files = table.get_add_actions(flatten=True)
    largest: list[str] = files.column("max.run_id").to_pylist() if files.num_rows else []
    return largest
