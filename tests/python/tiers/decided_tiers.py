"""What moldau decided about the topics of a cluster, in the reference's words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kafka_reference import Decision, RuleSet
from random_partitions import FOLLOWERS, LEADER
from spark_support import rows, with_clusters
from tier_support import Tiered, fold_tiers

from moldau.reading.tables.query import query
from moldau.runs.decide import decide
from moldau.sessions.session import Session

Key = tuple[str, str]  # cluster, topic


@dataclass(frozen=True)
class Decided:
    uploads: Mapping[Key, Mapping[int, Decision]]  # by base offset
    deletes: Mapping[Key, Mapping[str, Decision]]  # by segment id
    lags: Mapping[Key, Mapping[str, Any]]  # the row of marts.tier_lag by column
    partitions: Mapping[Key, Mapping[str, Any]]  # the row of marts.tier_partitions by column
    on_followers: set[tuple[str, str]]  # decision and reason of their local segments


def settings_of(rules: RuleSet) -> str:
    return f"{{ruleset: {{tiers: {rules.name}}}}}"


def decide_tiers(
    session: Session, several: Mapping[str, tuple[RuleSet, Sequence[Tiered]]], now_ms: int
) -> Decided:
    """Load these topics of each cluster and decide all in one run, each under its rule set."""
    settings = {cluster: settings_of(rules) for cluster, (rules, _) in several.items()}
    configured = with_clusters(session, settings)
    fold_tiers(configured, {cluster: topics for cluster, (_, topics) in several.items()})
    decide(configured, "tiers", list(several), now_ms, is_dry_run=False)
    return read_decided(configured, list(several), now_ms)


def read_decided(session: Session, clusters: Sequence[str], at_ms: int) -> Decided:
    names = ", ".join(f"'{cluster}'" for cluster in clusters)
    where = f"where cluster_id in ({names})"
    columns = "cluster_id, topic_name, {subject}, decision, reason_code, lag_before, lag_after"
    uploads = f"from decisions.upload_candidates {where} and"
    leads = f"(broker_id = {LEADER} or reason_code <> 'NOT_LEADER')"
    follows = f"broker_id in ({', '.join(map(str, FOLLOWERS))})"
    deletes = f"from decisions.delete_candidates {where}"
    return Decided(
        _by_topic(session, f"select {columns.format(subject='base_offset')} {uploads} {leads}"),
        _by_topic(session, f"select {columns.format(subject='segment_id')} {deletes}"),
        _row_by_topic(session, f"select * from marts.tier_lag {where}"),
        _row_by_topic(session, f"select * from marts.tier_partitions {where}", at_ms),
        {
            (decision, reason)
            for decision, reason in rows(
                session, f"select distinct decision, reason_code {uploads} {follows}"
            )
        },
    )


def _by_topic(session: Session, statement: str) -> dict[Key, dict[Any, Decision]]:
    found: dict[Key, dict[Any, Decision]] = defaultdict(dict)
    for cluster, topic, subject, decision, reason, before, after in rows(session, statement):
        assert subject not in found[cluster, topic], (topic, subject)
        lag = (None, None) if decision == "keep" else (before, after)
        found[cluster, topic][subject] = Decision(decision, reason, *lag)
    return found


def _row_by_topic(
    session: Session, statement: str, at_ms: int | None = None
) -> dict[Key, Mapping[str, Any]]:
    found: dict[Key, Mapping[str, Any]] = {}
    for row in query(session.warehouse, statement, at_ms).as_dicts():
        key = (row["cluster_id"], row["topic_name"])
        assert key not in found, key
        found[key] = row
    return found
