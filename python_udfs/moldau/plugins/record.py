"""Record plugin calls that Spark did not make, in history.plugin_calls."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from moldau.plugins.outcomes import Call, Outcome, call_row
from moldau.warehouse.append import append


def record_calls(warehouse: Path, run_id: str, made: Iterable[tuple[Call, Outcome]]) -> None:
    """One commit, none for no calls."""
    import pyarrow as pa

    rows = [call_row(call, run_id, outcome) for call, outcome in made]
    if rows:
        append(warehouse, "history.plugin_calls", [pa.RecordBatch.from_pylist(rows)])
