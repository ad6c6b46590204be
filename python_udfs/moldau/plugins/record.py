"""Record plugin calls that Spark did not make, in history.plugin_calls."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from moldau.plugins.outcomes import Call, Outcome
from moldau.warehouse.append import append


def record_calls(warehouse: Path, run_id: str, made: Iterable[tuple[Call, Outcome]]) -> None:
    """One commit, none for no calls."""
    import pyarrow as pa

    rows = [
        {
            "call_id": call.call_id,
            "run_id": run_id,
            "cluster_id": call.cluster_id,
            "group_id": call.group_id,
            "operation": call.operation,
            "topology_epoch": call.topology_epoch,
            "outcome": outcome.outcome,
            "message": outcome.message,
            "started_at_ms": outcome.started_at_ms,
            "finished_at_ms": outcome.finished_at_ms,
            "withheld_message": outcome.withheld_message,
        }
        for call, outcome in made
    ]
    if rows:
        append(warehouse, "history.plugin_calls", [pa.RecordBatch.from_pylist(rows)])
