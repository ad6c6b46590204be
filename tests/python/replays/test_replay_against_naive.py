"""The replay does what a round at every tick would, on random logs, under every rule set."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest
from metadata_replay_support import ALL, Event, Producer, Topic, buckets, replay_of, rounds
from naive_replay import Naive, Row, replay

from moldau.settings.rule_sets import switches_of

NAMES = [f"t{index:02d}" for index in range(45)]
EVENTS = ("access",) * 20 + ("demand",) * 3 + ("notice",) * 2
RARE = ("demand_served", "demand_abandoned", "refreshed", "topic_error", "request_failed")
SAME = (
    "requests", "topics", "bytes", "blocking_fetches", "evictions", "wasted_refreshes",
    "idle_topic_ms", "misses", "first_misses", "regrets", "blocked_ms", "refreshes",
    "refresh_age_ms", "uses", "use_age_ms", "uses_over_max_age", "failed_requests",
    "cached_topic_ms",
)  # fmt: skip


@pytest.mark.parametrize("ruleset", ALL)
@pytest.mark.parametrize("seed", range(10))
def test_a_round_at_every_tick_does_the_same(ruleset: str, seed: int) -> None:
    chance = random.Random(f"{ruleset} {seed}")
    begin = chance.choice([20_000, 1_000_000])
    span = (begin, begin + 9_000)
    tick_ms = chance.choice([1, 7, 100, 1_000])
    round_trip_ms = chance.choice([0, 0, 20, 333])
    bucket_ms = [500, 3_000][seed % 2]
    producer = random_producer(chance, *span)
    producer.ruleset = ruleset
    if ruleset == ALL[0]:
        mode = chance.choice(["single", "independent", "sequential"])
        producer.own = {"rule_mode": mode, "evict_strict": chance.choice([False, True])}
    told = replay_of(span[1], tick_ms, [ruleset], begin, round_trip_ms, bucket_ms)
    naive = naive_of(producer, ruleset, bucket_ms)
    known = {
        name: Row(
            one.accessed, one.refreshed, one.notified, *demand(one), idle_since=one.idle_since
        )
        for name, one in producer.topics.items()
    }
    naive.failing = {name for name, one in producer.topics.items() if one.is_in_error}
    replay(naive, known, list(producer.events), span, tick_ms, round_trip_ms)

    found = rounds(told, producer)
    asked = [(row["round_at_ms"], sorted(row["fetched_topic_names"])) for row in found]
    assert [one for one in asked if one[1]] == naive.requests
    forgotten = [(row["round_at_ms"], row["evicted_topic_names"]) for row in found]
    assert [one for one in forgotten if one[1]] == merged(naive.evictions)
    measured = {row["bucket_start_ms"] // bucket_ms: row for row in buckets(told, producer)}
    for bucket in range(span[0] // bucket_ms, -(-span[1] // bucket_ms)):
        row, right = measured.get(bucket), naive.counts.get(bucket, Counter())
        for column in SAME:
            assert (row[column] if row else 0) == right[column], (bucket, column)
        if row:
            assert row["became_cached"] - row["left_cache"] == right["cached_change"]
            told_a_second = [size for (of, _), size in naive.told.items() if of == bucket]
            assert row["largest_second_bytes"] == max(told_a_second, default=0)
            assert row["largest_second_topics"] <= row["topics"]
            kept = sorted(naive.kept[bucket])
            assert row["cached_topics"] == len(kept)
            assert row["cached_partitions"] == sum(map(producer.partitions_of, kept))
            assert row["cached_bytes"] == sum(map(producer.told_bytes, kept))
            assert row["use_age_ms_max"] <= row["use_age_ms"]
            causes = ("new", "notified", "stale", "fill", "oldest")
            assert sum(row[f"{cause}_topics"] for cause in causes) == row["topics"]


def random_producer(chance: random.Random, from_ms: int, to_ms: int) -> Producer:
    names = NAMES[: chance.choice([3, 25, 45])]
    events: list[Event] = []
    for _ in range(chance.choice([0, 40, 400])):
        at_ms, topic = chance.randrange(from_ms, to_ms), chance.choice(names)
        event = chance.choice(EVENTS if chance.random() < 0.9 else RARE)
        events.append((at_ms, event, "" if event == "request_failed" else topic))
    if chance.random() < 0.2:
        events.append((chance.randrange(from_ms, to_ms), "closed", ""))
    topics = {}
    for name in chance.sample(names, chance.randrange(len(names) + 1)):
        accessed = from_ms - chance.choice([0, 500, 2_000, 9_000])
        refreshed = chance.choice([None, from_ms, from_ms - 300, from_ms - chance.randrange(4_000)])
        notified = chance.choice([None, None, None, from_ms - 10])
        is_in_error = refreshed is None and chance.random() < 0.3
        idle_since = chance.choice([None, accessed + 100])
        has_demand = chance.random() < 0.1
        topics[name] = Topic(accessed, refreshed, has_demand, notified, idle_since, is_in_error)
    return Producer(
        topics=topics,
        events=sorted(set(events)),
        evict_ms=chance.choice([1_000, 2_500, 10_000]),
        max_age_ms=chance.choice([0, 401, 1_000, 3_000]),
        backoff_ms=chance.choice([0, 100]),
        max_idle_ms=chance.choice([None, 5_000]),
        more_partitions={name: number for number, name in enumerate(names)},
    )


def naive_of(producer: Producer, ruleset: str, bucket_ms: int) -> Naive:
    own = {name: str(value).lower() for name, value in producer.own.items()}
    return Naive(
        {**switches_of("producers")[ruleset], **own},
        producer.evict_ms,
        producer.max_age_ms,
        producer.backoff_ms,
        producer.max_idle_ms,
        bucket_ms=bucket_ms,
        partitions={name: producer.partitions_of(name) for name in NAMES},
    )


def demand(topic: Topic) -> tuple[int | None, bool]:
    """Who waits for a topic that is not cached, and data for one that is."""
    if not topic.has_demand:
        return None, False
    return (topic.accessed, False) if topic.refreshed is None else (None, True)


def merged(evictions: list[tuple[int, list[str]]]) -> list[tuple[int, list[str]]]:
    """A round and its answer at one instant are one row of the rounds."""
    found: dict[int, list[str]] = {}
    for at_ms, topics in evictions:
        found[at_ms] = sorted([*found.get(at_ms, []), *topics])
    return list(found.items())


def test_a_naive_replay_would_notice(monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison is of logs in which something happens."""
    counts: Counter[str] = Counter()
    for seed in range(12):
        chance = random.Random(f"{ALL[0]} {seed}")
        chance.choice([0, 1]), chance.choice([1] * 4), chance.choice([0] * 4)
        producer = random_producer(chance, 20_000, 29_000)
        for row in buckets(replay_of(29_000, 100, [ALL[0]], 20_000), producer):
            counts.update({k: v for k, v in row.items() if isinstance(v, int)})
    seen: dict[str, Any] = {name: counts[name] for name in SAME}
    seldom = ("failed_requests",)  # answers come at once here
    assert all(seen[name] for name in SAME if name not in seldom), seen
