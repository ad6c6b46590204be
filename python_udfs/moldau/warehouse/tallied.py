"""What files of a table of decisions hold, by cluster and decision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from moldau.warehouse.damage import DamagedError
from moldau.warehouse.files_read import read_files
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
    if not files:
        return []
    schema = pa.schema(open_latest(warehouse, table).schema().to_arrow())
    asked = [
        name
        for name in ("cluster_id", "decision", "run_id", "next_due_at_ms")
        if name in schema.names
    ]
    try:
        folder = warehouse.joinpath(*table.split("."))
        rows = read_files(folder, files, schema, asked, is_encoded=True).unify_dictionaries()
    except DamagedError:
        return None
    if "next_due_at_ms" not in asked:
        rows = rows.append_column("next_due_at_ms", pa.nulls(rows.num_rows, pa.int64()))
    by_run = rows.group_by(["cluster_id", "decision", "run_id"]).aggregate(
        [([], "count_all"), ("next_due_at_ms", "min")]
    )
    named = ("cluster_id", "decision", "run_id", "count_all", "next_due_at_ms_min")
    found: dict[tuple[str, str], Tallied] = {}
    for cluster, decision, run, count, due in zip(
        *(by_run[name].to_pylist() for name in named), strict=True
    ):
        of_run = count if run == run_id else 0
        one = found.get((cluster, decision), Tallied(cluster, decision, 0, 0, None))
        instants = [at for at in (one.next_due_at_ms, due) if at is not None]
        found[cluster, decision] = Tallied(
            cluster, decision, one.rows + count, one.of_run + of_run, min(instants, default=None)
        )
    return list(found.values())
