"""What files of a table of decisions hold, by cluster and decision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from moldau.warehouse.damage import DamagedError
from moldau.warehouse.files import read_files
from moldau.warehouse.opened import open_latest


@dataclass(frozen=True)
class Tallied:
    """Decisions of one kind about a cluster. `of_run`: those of the run that was asked about;
    `next_due_at_ms`: the least; None = none of them comes due by time alone."""

    cluster_id: str
    decision: str
    rows: int
    of_run: int
    next_due_at_ms: int | None


def tally(warehouse: Path, table: str, files: Sequence[str], run_id: str) -> list[Tallied] | None:
    """Of these files, by paths below the table's folder; None = one of them is gone."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not files:
        return []
    schema = pa.schema(open_latest(warehouse, table).schema().to_arrow())
    asked = [
        name
        for name in ("cluster_id", "decision", "run_id", "next_due_at_ms")
        if name in schema.names
    ]
    try:
        rows = read_files(warehouse.joinpath(*table.split(".")), files, schema, asked)
    except DamagedError:
        return None
    if "next_due_at_ms" not in asked:
        rows = rows.append_column("next_due_at_ms", pa.nulls(rows.num_rows, pa.int64()))
    rows = rows.append_column("of_run", pc.cast(pc.equal(rows["run_id"], run_id), pa.int64()))
    found = rows.group_by(["cluster_id", "decision"]).aggregate(
        [([], "count_all"), ("of_run", "sum"), ("next_due_at_ms", "min")]
    )
    named = ("cluster_id", "decision", "count_all", "of_run_sum", "next_due_at_ms_min")
    columns = (found[name].to_pylist() for name in named)
    return [Tallied(*row) for row in zip(*columns, strict=True)]
