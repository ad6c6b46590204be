"""Figures of a replay that are easily of something else than they say."""

from __future__ import annotations

from typing import Any

import pytest
from metadata_replay_support import ALL, Producer, Topic, buckets, replay_of

DRAFT, KAFKA = "kip_526_draft", "kafka_2_5"
TOLD, REFUSED = Producer().told_bytes("x"), Producer().refused_bytes("x")


def only(producer: Producer, ruleset: str, **more: Any) -> dict[str, Any]:
    """The bucket that there is."""
    [row] = buckets(replay_of(300_000, rulesets=[ruleset], **more), producer)
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
    replay = replay_of(1_300, rulesets=[KAFKA], round_trip_ms=200, tick_ms=1_000)
    [row] = buckets(replay, producer)
    assert (row["requests"], row["bytes"]) == (1, TOLD)
