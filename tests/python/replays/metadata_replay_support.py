"""Producers as the replay takes them, and what it makes of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from moldau.replays.clock import Span
from moldau.replays.replay import NONE, PRODUCERS, Replay
from moldau.settings.rule_sets import switches_of

ALL = tuple(switches_of("producers"))
Event = tuple[int, str, str]  # instant, event, topic


@dataclass(frozen=True)
class Topic:
    """As a producer has it when the replay begins."""

    accessed: int
    refreshed: int | None = None
    has_demand: bool = False
    notified: int | None = None
    idle_since: int | None = None
    is_in_error: bool = False


@dataclass
class Producer:
    topics: Mapping[str, Topic] = field(default_factory=dict)
    events: Sequence[Event] = ()
    evict_ms: int = 300_000
    max_age_ms: int = 300_000
    backoff_ms: int = 100
    max_idle_ms: int | None = None
    failed_at_ms: int | None = None
    partitions: int = 12
    more_partitions: Mapping[str, int] = field(default_factory=dict)
    name: str = "p1"
    ruleset: str = "kip_526_draft"
    own: Mapping[str, Any] = field(default_factory=dict)

    def partitions_of(self, topic: str) -> int:
        return self.more_partitions.get(topic, self.partitions)

    def told_bytes(self, topic: str) -> int:
        return self.refused_bytes(topic) + self.partitions_of(topic) * 42

    def refused_bytes(self, topic: str) -> int:
        return 10 + len(topic)

    def row(self) -> dict[str, Any]:
        names = list({*self.topics, *(topic for _, _, topic in self.events if topic)})
        known = [self.topics.get(name) or Topic(NONE) for name in names]

        def told(value: int | None) -> int:
            return NONE if value is None else value

        return {
            "cluster_id": "east",
            "producer_id": self.name,
            "ruleset": self.ruleset,
            "target_factor": None,
            "rule_mode": None,
            "evict_strict": None,
            "pace_ms": None,
            **self.own,
            "evict_ms": self.evict_ms,
            "max_idle_ms": self.max_idle_ms,
            "max_age_ms": self.max_age_ms,
            "retry_backoff_ms": self.backoff_ms,
            "last_failure_at_ms": self.failed_at_ms,
            "last_non_urgent_at_ms": None,
            "overhead_bytes": 131,
            "topic_names": names,
            "last_access_at_ms": [one.accessed for one in known],
            "last_refresh_at_ms": [told(one.refreshed) for one in known],
            "has_demand": [one.has_demand for one in known],
            "notified_at_ms": [told(one.notified) for one in known],
            "idle_since_at_ms": [told(one.idle_since) for one in known],
            "is_in_error": [one.is_in_error for one in known],
            "partition_counts": [self.partitions_of(name) for name in names],
            "asked_bytes": [2 + len(name) for name in names],
            "told_bytes": [self.told_bytes(name) for name in names],
            "refused_bytes": [self.refused_bytes(name) for name in names],
            "event_at_ms": [at_ms for at_ms, _, _ in self.events],
            "events": [event for _, event, _ in self.events],
            "event_topics": [topic for _, _, topic in self.events],
        }


def batch_of(producers: Iterable[Producer]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([one.row() for one in producers], schema=PRODUCERS)


def replay_of(
    to_ms: int,
    tick_ms: int = 1_000,
    rulesets: Sequence[str] = ALL,
    from_ms: int = 0,
    round_trip_ms: int = 0,
    bucket_ms: int = 300_000,
) -> Replay:
    switches = {name: switches_of("producers")[name] for name in rulesets}
    return Replay(Span(from_ms, to_ms, tick_ms, round_trip_ms), switches, bucket_ms)


def buckets(replay: Replay, *producers: Producer) -> list[dict[str, Any]]:
    found = list(replay.buckets([batch_of(producers)]))
    return [row for batch in found for row in batch.to_pylist()]


def rounds(replay: Replay, *producers: Producer) -> list[dict[str, Any]]:
    found = list(replay.rounds([batch_of(producers)]))
    return [row for batch in found for row in batch.to_pylist()]


def total(rows: Sequence[Mapping[str, Any]], ruleset: str, column: str) -> int:
    return sum(row[column] for row in rows if row["ruleset"] == ruleset)
