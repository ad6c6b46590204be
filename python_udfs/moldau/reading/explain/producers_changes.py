"""When the decision about a producer's metadata changes next, if only time passes.

The SQL that decides is asked: each instant at which the decision may change is put to it as a
separate cluster whose clock shows that instant, with the producer as it is now.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from moldau.engines.duckdb.delta_types import literal
from moldau.engines.duckdb.translation import to_duckdb
from moldau.literals import rows_sql
from moldau.reading.tables.query import Tables
from moldau.reading.tables.views import View
from moldau.warehouse.contracts import run_views

_DUE_TIMES = "intermediate.int_producers__due_times"
_ROUNDS = "intermediate.int_producers__metadata_rounds_reasoned"
_TOPICS = "intermediate.int_producers__metadata_topics_reasoned"
_KNOWN = "staging.stg_state__producer_topics"
_CLUSTERS = "intermediate.int_producers__clusters_configured"
# of a topic, and of a round: what of its row is its answer
_ANSWERS = {
    _TOPICS: "decision, reason_code",
    _ROUNDS: "decision, reason_code, fetched_topics, evicted_topics",
}
# topics that are decided at once, and for one question: a second or two
_AT_ONCE, _AT_MOST = 250_000, 500_000


@dataclass(frozen=True)
class Change:
    """The first instant with another answer, or, if `is_found` is false, one before it."""

    at_ms: int
    answer: dict[str, Any]
    """decision and reason_code; of a round also fetched_topics and evicted_topics."""
    is_found: bool = True


def next_change(
    warehouse: Path, round_: dict[str, Any], settings: dict[str, Any], topic_name: str | None
) -> Change | None:
    """Of the answer about a topic, or, None, about the round. None = it never changes.

    `round_`: the row of decisions.metadata_rounds; `settings`: that of state.producer_settings
    by which it was decided.
    """
    asked = _Asked(warehouse, round_, settings)
    decided_at = int(round_["decided_at_ms"])
    due = asked.at(
        [decided_at],
        f"select due_at_ms, (select count(*) from {_KNOWN}) as topics from {_DUE_TIMES} "
        f"where topic_name = {literal(topic_name or '')} and due_at_ms > {decided_at} "
        "order by due_at_ms",
        [_DUE_TIMES, _KNOWN],
    )
    instants = [decided_at, *(int(row["due_at_ms"]) for row in due)]
    topics = max(int(due[0]["topics"]), 1) if due else 1
    relation = _ROUNDS if topic_name is None else _TOPICS
    sql = f"select decided_at_ms, {_ANSWERS[relation]} from {relation} "
    sql += "" if topic_name is None else f"where topic_name = {literal(topic_name)} "
    sql += "order by decided_at_ms"
    at_ms, before = decided_at, None
    for some in _portions(instants, topics):
        for answer in asked.at(some, sql, [relation]):
            at_ms = answer.pop("decided_at_ms")
            if before is not None and answer != before:
                return Change(at_ms, answer)
            before = answer
    return None if before is None or at_ms == instants[-1] else Change(at_ms, before, False)


def _portions(instants: Sequence[int], topics: int) -> Iterator[Sequence[int]]:
    """Few at first: mostly it is one of them that changes the answer."""
    start, count = 0, 8
    while start < len(instants) and (start == 0 or start * topics < _AT_MOST):
        yield instants[start : start + count]
        start += count
        count = min(8 * count, max(_AT_ONCE // topics, 1))


class _Asked:
    """A producer as it is now, at other instants."""

    def __init__(self, warehouse: Path, key: dict[str, Any], settings: dict[str, Any]) -> None:
        self._warehouse = warehouse
        columns = run_views()["producer_settings"]
        told = {name: settings.get(name) for name in columns} | {"producer_id": "default"}
        same = " and ".join(f"{n} = {literal(key[n])}" for n in ("cluster_id", "producer_id"))
        self._brought = [
            View("run.producer_settings", to_duckdb(rows_sql(columns, [told]))),
            *(_at_each(table, same) for table in ("producers", "producer_topics")),
        ]

    def at(self, instants: Sequence[int], sql: str, relations: list[str]) -> list[dict[str, Any]]:
        clusters = (
            "select at_ms::varchar as cluster_id, '~' as run_id, 'read' as run_kind, "
            f"false as is_applied, at_ms as decided_at_ms from (select unnest({list(instants)}"
            "::bigint[]) as at_ms)"
        )
        brought = [View(_CLUSTERS, clusters), *self._brought]
        tables = Tables(self._warehouse, relations, brought=brought, makes_lists=True)
        return tables.ask(sql)


def _at_each(table: str, condition: str) -> View:
    sql = (
        "select rows_now.* replace (clusters.cluster_id as cluster_id) from "
        f"(select * from state.{table} where {condition}) as rows_now cross join {_CLUSTERS} "
        "as clusters"
    )
    return View(f"staging.stg_state__{table}", sql, (_CLUSTERS, f"state.{table}"))
