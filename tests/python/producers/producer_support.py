"""Puts producers of the reference into a warehouse, as loads would bring them."""

from __future__ import annotations

import dataclasses
import json
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
from metadata_reference import Producer, Round, Rules

from moldau.loading.bring import Loaded
from moldau.reading.tables.query import query
from moldau.runs.decide import decide
from moldau.runs.load import load
from moldau.sessions.session import Session
from moldau.settings import load_settings

Key = tuple[str, str]  # cluster, producer


def with_producers(
    session: Session,
    producers: Mapping[str, Rules],
    clusters: Mapping[str, str] | None = None,
) -> Session:
    """The session under a moldau.yml that gives these producers their rules.

    `clusters`: cluster -> its settings as YAML."""
    text = json.dumps(
        {
            "clusters": {},
            "producers": {name: settings_of(rules) for name, rules in producers.items()},
        }
    )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "moldau.yml"
        lines = "".join(f"  {name}: {told}\n" for name, told in (clusters or {}).items())
        told = json.dumps(json.loads(text)["producers"])
        file.write_text(f"producers: {told}\nclusters:\n{lines}")
        settings = load_settings(file, session.warehouse)
    return dataclasses.replace(session, settings=settings)


def settings_of(rules: Rules) -> dict[str, Any]:
    found: dict[str, Any] = {
        "ruleset": rules.ruleset,
        "metadata.evict.ms": rules.evict_ms,
        "metadata.max.age.ms": rules.max_age_ms,
        "retry.backoff.ms": rules.backoff_ms,
        "evict_strict": rules.is_strict,
    }
    if rules.requests == "subset":
        found["target_factor"] = "*10" if rules.multiplies else "/10"
        found["rule_mode"] = rules.mode
    if rules.ruleset == "kafka_2_5" and rules.idle_ms != rules.evict_ms:
        found["metadata.max.idle.ms"] = rules.idle_ms
    if rules.pace_ms is not None:
        found["pace_ms"] = rules.pace_ms
    return found


@dataclass(frozen=True)
class Event:
    producer: str
    event: str
    at_ms: int
    topic: str | None = None

    def line(self) -> dict[str, Any]:
        told = {"producer_id": self.producer, "event": self.event, "at_ms": self.at_ms}
        return told if self.topic is None else told | {"topic": self.topic}


def load_lines(
    session: Session, cluster: str, kind: str, lines: Iterable[Mapping[str, Any]]
) -> Loaded:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{kind}.jsonl"
        file.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return load(session, [file], cluster, kind)


def load_events(session: Session, cluster: str, events: Iterable[Event]) -> Loaded:
    return load_lines(session, cluster, "producer_events", [event.line() for event in events])


def load_topics(session: Session, cluster: str, producers: Mapping[str, Producer]) -> Loaded:
    """Their topics as the cluster's snapshot."""
    rows = [
        (producer, name, topic)
        for producer, told in producers.items()
        for name, topic in told.topics.items()
    ]
    table = pa.table(
        {
            "producer_id": pa.array([producer for producer, _, _ in rows], pa.string()),
            "topic": pa.array([name for _, name, _ in rows], pa.string()),
            "last_access_at_ms": pa.array([t.accessed for *_, t in rows], pa.int64()),
            "last_refresh_at_ms": pa.array([t.refreshed for *_, t in rows], pa.int64()),
            "has_demand": pa.array([t.has_demand for *_, t in rows], pa.bool_()),
            "notified_at_ms": pa.array([t.notified for *_, t in rows], pa.int64()),
        }
    )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "producer_topics.parquet"
        pyarrow.parquet.write_table(table, file)
        return load(session, [file], cluster, "producer_topics")


def events_of(producers: Mapping[str, Producer]) -> list[Event]:
    """What a snapshot does not tell of them."""
    found = []
    for name, producer in producers.items():
        told = {
            "requested": producer.in_flight_since,
            "request_failed": producer.failed_at,
            "closed": producer.closed_at,
        }
        found += [Event(name, kind, at) for kind, at in told.items() if at is not None]
    return found


def rounds_of(session: Session, cluster: str) -> dict[str, Round]:
    """What is decided about each producer of the cluster, in the reference's words."""
    where = f"where cluster_id = '{cluster}'"
    found: dict[str, Round] = {}
    for producer, reason, cached, target in _rows(
        session,
        "select producer_id, reason_code, cached_topics, target_fetch_size "
        f"from decisions.metadata_rounds {where}",
    ):
        found[producer] = Round(reason, cached, target)
    ranks: dict[str, dict[str, int]] = {}
    for producer, topic, decision, reason, topic_set, rank in _rows(
        session,
        "select producer_id, topic_name, decision, reason_code, topic_set, fetch_rank "
        f"from decisions.metadata_topics {where}",
    ):
        told = found[producer]
        told.decisions[topic], told.reasons[topic] = decision, reason
        if decision.startswith("evict"):
            told.evicted.add(topic)
        if topic_set:
            (told.urgent if topic_set == "T" else told.other).add(topic)
        if rank is not None:
            ranks.setdefault(producer, {})[topic] = rank
    for producer, placed in ranks.items():
        assert sorted(placed.values()) == list(range(1, len(placed) + 1))
        found[producer].fetched = sorted(placed, key=placed.__getitem__)
    return found


def decide_rounds(
    session: Session,
    cluster: str,
    producers: Mapping[str, Producer],
    now_ms: int,
    is_dry_run: bool = True,
) -> dict[str, Round]:
    """Load them and decide their round."""
    load_topics(session, cluster, producers)
    if events := events_of(producers):
        load_events(session, cluster, events)
    decide(session, "metadata", [cluster], now_ms, is_dry_run=is_dry_run)
    return rounds_of(session, cluster)


def topics_of(session: Session, cluster: str) -> dict[str, dict[str, dict[str, Any]]]:
    """Rows of state.producer_topics by producer and topic, as the contract has them."""
    names = ("last_access_at_ms", "last_refresh_at_ms", "has_demand", "notified_at_ms")
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for producer, topic, *values in _rows(
        session,
        f"select producer_id, topic_name, {', '.join(names)} from state.producer_topics "
        f"where cluster_id = '{cluster}'",
    ):
        found.setdefault(producer, {})[topic] = dict(zip(names, values, strict=True))
    return found


def producer_of(session: Session, cluster: str, producer: str) -> dict[str, Any] | None:
    names = ("request_in_flight_since_ms", "last_failure_at_ms", "closed_at_ms")
    rows = _rows(
        session,
        f"select {', '.join(names)} from state.producers "
        f"where cluster_id = '{cluster}' and producer_id = '{producer}'",
    )
    return dict(zip(names, rows[0], strict=True)) if rows else None


def _rows(session: Session, sql: str) -> Sequence[tuple[Any, ...]]:
    return list(query(session.warehouse, sql).rows)
