"""What a run decided, by cluster."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from moldau.declared import kinds
from moldau.literals import literal
from moldau.runs.known import DecidedOn, counted, note_decided
from moldau.runs.standstill import Decided
from moldau.sessions.run import Run
from moldau.warehouse.contracts import tables
from moldau.warehouse.tallied import Tallied

if TYPE_CHECKING:
    from moldau.sessions.session import Session


def count_decided(
    session: Session, run: Run, decided_on: DecidedOn | None = None
) -> dict[str, Decided]:
    """Its decisions are made, and counted by the run: no command makes them again.

    `decided_on`: where that is told, it is noted for the next run."""
    found = defaultdict(Decided, {name: Decided() for name in run.cluster_ids})
    tallied: dict[str, list[Tallied]] = {}
    for model in filter(lambda model: model.decides, session.models("decide", run.kind)):
        known = counted(session, run, model.table)
        tallied[model.table] = _counted_anew(session, run, model.table) if known is None else known
        counted_as = model.meta.get("counted_as", "")
        for one in tallied[model.table]:
            found[one.cluster_id].add(counted_as + one.decision, one.rows, one.next_due_at_ms)
    if decided_on:
        note_decided(session, run, decided_on, tallied)
    decided_now = sum(one.of_run for told in tallied.values() for one in told)
    counts = sum((one.counts for one in found.values()), Counter[str]())
    run.counts = {"decided": decided_now, **counts}
    run.is_decided = True
    return found


def _counted_anew(session: Session, run: Run, table: str) -> list[Tallied]:
    scope = f"cluster_id in ({', '.join(map(literal, run.cluster_ids))})"
    if in_scope := kinds()[run.kind].in_scope:
        scope = in_scope(session.settings, run.cluster_ids)
    if kinds()[run.kind].decides_once:
        scope += f" and run_id = {literal(run.run_id)}"
    comes_due = "next_due_at_ms" in {c.name for c in tables()[table].columns}
    due = "min(next_due_at_ms)" if comes_due else "null"
    rows = session.sql(
        f"select cluster_id, decision, count(*), count_if(run_id = {literal(run.run_id)}), "
        f"{due} from {table} where {scope} group by cluster_id, decision order by decision"
    )
    return [Tallied(*row) for row in rows]
