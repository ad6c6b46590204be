"""Delete left-overs from plugins: make the calls and write the run's row, without Spark."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from moldau.instants import now_ms
from moldau.plugins.calls import Call, Outcome, make_calls
from moldau.plugins.record import record_calls
from moldau.plugins.registry import PluginSpec, make_plugin, secrets_of
from moldau.sessions.closing import close_run
from moldau.sessions.open_run import next_run_id
from moldau.sessions.run import Run

if TYPE_CHECKING:
    from moldau.reading.health.left_overs import LeftOver
    from moldau.sessions.session import Session

KIND = "leftovers"


def purge(session: Session, found: Sequence[LeftOver]) -> dict[LeftOver, Outcome]:
    """Ask the plugins to delete these, once a group; every call is in history.plugin_calls.

    Those that are kept have no outcome. The warehouse is locked by the caller.
    """
    found = [one for one in found if not one.is_kept]
    if not found:
        return {}
    clusters = sorted({one.cluster_id for one in found})
    run = Run(next_run_id(session, KIND), KIND, clusters, now_ms())
    outcomes: dict[LeftOver, Outcome] = {}
    made: list[tuple[Call, Outcome]] = []
    for cluster_id in clusters:
        spec = session.settings.plugin_spec(cluster_id)
        assert spec
        calls: dict[str, Call] = {}
        left: dict[str, list[LeftOver]] = {}
        for one in found:
            if one.cluster_id == cluster_id:
                name = _call_id(run, one)
                left.setdefault(name, []).append(one)
                calls[name] = Call(name, cluster_id, one.group_id, "delete", one.topology_epoch)
        for outcome in _calls(spec, list(calls.values())):
            made.append((calls[outcome.call_id], outcome))
            outcomes |= dict.fromkeys(left[outcome.call_id], outcome)
            count = f"deletes_{outcome.outcome}"
            run.counts[count] = run.counts.get(count, 0) + 1
    record_calls(session.warehouse, run.run_id, made)
    close_run(session, run)
    return outcomes


def _calls(spec: PluginSpec, calls: list[Call]) -> Iterator[Outcome]:
    return make_calls(
        lambda: make_plugin(spec), calls, spec.timeout_seconds, secrets=lambda: secrets_of(spec)
    )


def _call_id(run: Run, one: LeftOver) -> str:
    named = "\n".join([run.run_id, one.cluster_id, one.group_id, "delete"])
    return hashlib.sha256(named.encode()).hexdigest()[:32]
