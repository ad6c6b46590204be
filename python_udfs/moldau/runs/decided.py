"""What a run decided, by cluster."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from moldau.declared import kinds
from moldau.literals import literal
from moldau.runs.standstill import Decided
from moldau.sessions.run import Run
from moldau.warehouse.contracts import tables

if TYPE_CHECKING:
    from moldau.sessions.session import Session


def count_decided(session: Session, run: Run) -> dict[str, Decided]:
    """Its decisions are made, and counted by the run: no command makes them again."""
    found, decided_now = _decided_by(session, run)
    counts = sum((one.counts for one in found.values()), Counter[str]())
    run.counts = {"decided": decided_now, **counts}
    run.is_decided = True
    return found


def _decided_by(session: Session, run: Run) -> tuple[dict[str, Decided], int]:
    """What each cluster's subjects are decided, and how many of them by this run."""
    found = defaultdict(Decided, {name: Decided() for name in run.cluster_ids})
    scope = f"cluster_id in ({', '.join(map(literal, run.cluster_ids))})"
    if in_scope := kinds()[run.kind].in_scope:
        scope = in_scope(session.settings, run.cluster_ids)
    decided_now = 0
    if kinds()[run.kind].decides_once:
        scope += f" and run_id = {literal(run.run_id)}"
    for model in filter(lambda model: model.decides, session.models("decide", run.kind)):
        comes_due = "next_due_at_ms" in {c.name for c in tables()[model.table].columns}
        due = "min(next_due_at_ms)" if comes_due else "null"
        counted_as = model.meta.get("counted_as", "")
        for cluster, decision, subjects, now, next_due_at_ms in session.sql(
            f"select cluster_id, decision, count(*), count_if(run_id = {literal(run.run_id)}), "
            f"{due} from {model.table} where {scope} "
            "group by cluster_id, decision order by decision"
        ):
            found[cluster].add(counted_as + decision, subjects, next_due_at_ms)
            decided_now += now
    return found, decided_now
