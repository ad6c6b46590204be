"""Replay what producers did under other rule sets; decide and apply nothing."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from moldau.instants import now_ms
from moldau.literals import literal
from moldau.replays.clock import Span
from moldau.replays.replay import BUCKETS, Replay
from moldau.replays.rounds import ROUNDS
from moldau.runs.compare import fresh_folder
from moldau.runs.scope import scope_of
from moldau.sessions.closing import close_run
from moldau.sessions.open_run import next_run_id, open_run
from moldau.sessions.run import Run
from moldau.settings.rule_sets import require_rule_set, switches_of
from moldau.warehouse.contracts import tables

if TYPE_CHECKING:
    from moldau.sessions.session import Session

PREPARED = "int_producers__replays_prepared"


@dataclass(frozen=True)
class Asked:
    """What is replayed, and what of it is kept."""

    span: Span
    bucket_ms: int
    rulesets: tuple[str, ...] = ()
    """Empty = every one of the domain."""
    keeps_rounds: bool = False


def replay_metadata(session: Session, clusters: Sequence[str], asked: Asked) -> Run:
    """Write what producers would have asked for to marts.metadata_replay, and rounds if wanted."""
    scope = scope_of(session, clusters)
    switches = switches_of("producers")
    for name in asked.rulesets:
        require_rule_set("producers", name)
    rulesets = {name: switches[name] for name in asked.rulesets or switches}
    replay = Replay(asked.span, rulesets, asked.bucket_ms)
    run = Run(next_run_id(session, "replay"), "replay", scope, now_ms(), is_dry_run=True)
    folder = fresh_folder(session, run)
    open_run(session, run)
    span = asked.span
    session.bring(
        "replay",
        f"select {literal(span.from_ms)} as from_at_ms, {literal(span.to_ms)} as to_at_ms",
    )
    kept = {"metadata_replay": session.map(PREPARED, replay.buckets, BUCKETS, folder / "buckets")}
    if asked.keeps_rounds:
        rounds = session.map(PREPARED, replay.rounds, ROUNDS, folder / "rounds")
        kept["metadata_replay_rounds"] = rounds
    given = {"run_id": literal(run.run_id), "bucket_ms": literal(asked.bucket_ms)}
    for name, relation in kept.items():
        columns = (column.name for column in tables()[f"state.{name}"].columns)
        wanted = (
            f"{given[column]} as {column}" if column in given else column for column in columns
        )
        session.bring(name, f"select {', '.join(wanted)} from {relation}")
    # of a replay that keeps no rounds those of the one before are not left either
    session.run_models("replace_metadata_replay", "replace_metadata_replay_rounds")
    run.counts = _counts(session, scope)
    close_run(session, run)
    shutil.rmtree(folder, ignore_errors=True)
    return run


def _counts(session: Session, scope: Sequence[str]) -> dict[str, int]:
    of = f"cluster_id in ({', '.join(map(literal, scope))})"
    [(producers, requests)] = session.sql(
        "select count(distinct producer_id), coalesce(sum(requests), 0) "
        f"from state.metadata_replay where {of}"
    )
    return {"producers": int(producers), "requests": int(requests)}
