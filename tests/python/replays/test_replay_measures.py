"""Figures of a replay that are easily of something else than they say."""

from __future__ import annotations

from typing import Any

import pytest
from metadata_replay_support import ALL, Producer, Topic, buckets, replay_of

DRAFT, KAFKA = "kip_526_draft", "kafka_2_5"
TOLD, REFUSED = Producer().told_bytes("x"), Producer().refused_bytes("x")


def only(
    producer: Producer, ruleset: str, to_ms: int = 300_000, tick_ms: int = 1_000, **more: Any
) -> dict[str, Any]:
    """The bucket that there is."""
    [row] = buckets(replay_of(to_ms, tick_ms, [ruleset], **more), producer)
    return row


@pytest.mark.parametrize("ruleset", ALL)
def test_an_answer_with_an_error_has_no_partitions(ruleset: str) -> None:
    row = only(Producer(events=[(0, "topic_error", "x"), (5, "access", "x")]), ruleset)
    assert row["requests"] > 1 and row["bytes"] == row["requests"] * REFUSED
    assert row["largest_second_bytes"] == REFUSED


@pytest.mark.parametrize("ruleset", ALL)
def test_a_second_has_the_bytes_of_the_answers_in_it(ruleset: str) -> None:
    """What is lost was no answer."""
    producer = Producer(events=[(0, "access", "x"), (1_500, "request_failed", "")])
    row = only(producer, ruleset, round_trip_ms=2_500)
    assert (row["requests"], row["failed_requests"], row["bytes"]) == (2, 1, TOLD)
    assert (row["largest_second_bytes"], row["largest_second_at_ms"]) == (TOLD, 4_000)


def test_what_became_known_since_is_not_in_the_answer() -> None:
    topics = {"x": Topic(0, 0)}
    events = [(500, "topic_error", "y"), (1_100, "access", "y")]
    producer = Producer(topics, events, max_age_ms=1_000, evict_ms=10_000)
    row = only(producer, KAFKA, 1_300, round_trip_ms=200)
    assert (row["requests"], row["bytes"]) == (1, TOLD)


@pytest.mark.parametrize("ruleset", ALL)
def test_a_producer_that_was_closed_regrets_nothing(ruleset: str) -> None:
    """It begins anew: its first send is a first one."""
    uses = [(100 * index, "access", "other") for index in range(100)]
    events = [(0, "access", "x"), *uses, (3_500, "closed", ""), (3_600, "access", "x")]
    producer = Producer(events=events, evict_ms=2_000, max_age_ms=1_000, max_idle_ms=2_000)
    row = only(producer, ruleset, 5_000, 10)
    assert row["evictions"] == 1
    assert (row["misses"], row["first_misses"], row["regrets"]) == (4, 4, 0)


@pytest.mark.parametrize("ruleset", ALL)
def test_what_is_regretted_is_within_the_eviction_time_of_the_rule_set(ruleset: str) -> None:
    """x goes at 8 s or soon after, and is wanted 12 s later."""
    uses = [(1_000 * index, "access", "other") for index in range(22)]
    events = [(0, "access", "x"), *uses, (21_000, "access", "x")]
    evict_ms, max_idle_ms = (20_000, 8_000) if ruleset == KAFKA else (8_000, 20_000)
    producer = Producer(events=events, evict_ms=evict_ms, max_age_ms=1_000, max_idle_ms=max_idle_ms)
    row = only(producer, ruleset, 22_000)
    assert (row["evictions"], row["misses"], row["regrets"]) == (1, 3, 0)
    events[-1] = (16_000, "access", "x")
    assert only(producer, ruleset, 17_000)["regrets"] == 1
