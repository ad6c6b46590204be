"""What both engines write, each about clusters of its own names, in a form that is the same."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from moldau.reading.tables.query import query
from moldau.warehouse.contracts import tables

# instants and ids that no rule decides on: every run has its own
OF_THE_RUN = (
    "run_id", "_run_id", "started_at_ms", "finished_at_ms", "valid_from_ms", "valid_to_ms",
    "emitted_at_ms", "deleted_at_ms", "removed_at_ms", "written_at_ms", "call_id",
    "settings_hash", "settings",
)  # fmt: skip


def tables_in(*databases: str) -> list[str]:
    return [name for name in tables() if name.split(".")[0] in databases]


def written(warehouse: Path, table: str, pattern: str, named: str) -> list[str]:
    """Its rows of clusters and flows like this, without what every run has of its own.

    `named`: the part of their names that is the engine's, which is left out."""
    names = [column.name for column in tables()[table].columns]
    of_engine = [f"{one} like '{pattern}'" for one in ("cluster_id", "flow") if one in names]
    if not of_engine:
        return []
    kept = [name for name in names if not name.endswith(OF_THE_RUN)]
    sql = f"select {', '.join(kept)} from {table} where {' or '.join(of_engine)}"
    rows: Sequence[tuple[Any, ...]] = list(query(warehouse, sql).rows)
    return sorted(repr(row).replace(named, "") for row in rows)
