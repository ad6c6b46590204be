"""Delete from plugins what was left over: calls and a run row, without Spark."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from moldau.plugins.calls import Call, Outcome, make_calls
from moldau.plugins.registry import make_plugin
from moldau.sessions.run import Run, close_run, next_run_id, now_ms
from moldau.warehouse.append import append

if TYPE_CHECKING:
    from moldau.reading.left_overs import LeftOver
    from moldau.sessions.session import Session

KIND = "leftovers"


def purge(session: Session, found: Sequence[LeftOver]) -> dict[LeftOver, Outcome]:
    """Ask the plugins to delete these, once a group; every call is in history.plugin_calls.

    Those that are kept have no outcome. The warehouse is locked by the caller.
    """
    found = [one for one in found if not one.is_kept]
    clusters = sorted({one.cluster_id for one in found})
    run = Run(next_run_id(session, KIND), KIND, clusters, now_ms())
    outcomes: dict[LeftOver, Outcome] = {}
    for cluster_id in clusters:
        spec = session.settings.plugin_spec(cluster_id)
        assert spec
        calls: dict[str, list[LeftOver]] = {}
        for one in found:
            if one.cluster_id == cluster_id:
                calls.setdefault(_call_id(run, one), []).append(one)
        for outcome in make_calls(
            lambda spec=spec: make_plugin(spec),
            [
                Call(name, cluster_id, several[-1].group_id, "delete", several[-1].topology_epoch)
                for name, several in calls.items()
            ],
            spec.timeout_seconds,
        ):
            outcomes |= dict.fromkeys(calls[outcome.call_id], outcome)
            name = f"deletes_{outcome.outcome}"
            run.counts[name] = run.counts.get(name, 0) + 1
    _record(session, run, outcomes)
    close_run(session, run)
    return outcomes


def _call_id(run: Run, one: LeftOver) -> str:
    named = "\n".join([run.run_id, one.cluster_id, one.group_id, "delete"])
    return hashlib.sha256(named.encode()).hexdigest()[:32]


def _record(session: Session, run: Run, outcomes: dict[LeftOver, Outcome]) -> None:
    import pyarrow as pa

    rows = {
        outcome.call_id: {
            "call_id": outcome.call_id,
            "run_id": run.run_id,
            "cluster_id": one.cluster_id,
            "group_id": one.group_id,
            "operation": "delete",
            "topology_epoch": one.topology_epoch,
            "outcome": outcome.outcome,
            "message": outcome.message,
            "started_at_ms": outcome.started_at_ms,
            "finished_at_ms": outcome.finished_at_ms,
            "withheld_message": outcome.withheld_message,
        }
        for one, outcome in outcomes.items()
    }
    if rows:
        batch = pa.RecordBatch.from_pylist(list(rows.values()))
        append(session.warehouse, "history.plugin_calls", [batch])
