"""The traces of the specification (5.5): tick 1,000 ms, answer at once, topics fetched at 0."""

from __future__ import annotations

from typing import Any

import pytest
from metadata_replay_support import ALL, Event, Producer, Topic, buckets, replay_of, rounds, total

from moldau.replays.draft import DraftCache
from moldau.replays.kafka import KafkaCache

DRAFT = "kip_526_draft"
TWENTY = [f"a{index:03d}" for index in range(20)]


def active(names: list[str], to_ms: int) -> list[Event]:
    """Every topic is used every 60 s."""
    return [(at_ms, "access", name) for at_ms in range(0, to_ms, 60_000) for name in names]


def told(producer: Producer, to_ms: int, tick_ms: int = 1_000) -> list[tuple[Any, ...]]:
    """Instant, topics evicted and fetched, in T and in U, of each round that did anything."""
    columns = ("round_at_ms", "evicted_topics", "fetched_topics", "urgent_topics")
    found = rounds(replay_of(to_ms, tick_ms, [DRAFT]), producer)
    return [(*(row[name] for name in columns), row["non_urgent_topics"]) for row in found]


def fetched_at_0(names: list[str]) -> dict[str, Topic]:
    return {name: Topic(0, 0) for name in names}


def test_e1_nineteen_active_topics_are_fetched_when_they_are_stale() -> None:
    producer = Producer(fetched_at_0(TWENTY[:19]), active(TWENTY[:19], 1_000_000))
    assert told(producer, 1_000_000) == [(at, 0, 19, 19, 0) for at in (300_000, 600_000, 900_000)]


def test_e2_twenty_active_topics_are_fetched_at_half_that_age() -> None:
    producer = Producer(fetched_at_0(TWENTY), active(TWENTY, 700_000))
    expected = [(at, 0, 20, 0, 20) for at in (150_000, 300_000, 450_000, 600_000)]
    assert told(producer, 700_000) == expected


def test_e4_a_topic_that_is_not_used_again_is_never_refreshed() -> None:
    assert told(Producer(fetched_at_0(["x"])), 1_000_000) == [(300_000, 1, 0, 0, 0)]


def test_e5_twenty_topics_that_are_not_used_again_are_fetched_for_nothing() -> None:
    producer = Producer(fetched_at_0(TWENTY))
    assert told(producer, 1_000_000) == [(150_000, 0, 20, 0, 20), (300_000, 20, 0, 0, 0)]
    rows = buckets(replay_of(1_000_000, 1_000, [DRAFT]), producer)
    assert total(rows, DRAFT, "wasted_refreshes") == 20
    assert total(rows, DRAFT, "idle_topic_ms") == 20 * 300_000


def test_e7_idle_topics_go_before_they_are_half_as_old() -> None:
    producer = Producer(fetched_at_0(TWENTY), evict_ms=140_000)
    assert told(producer, 1_000_000) == [(140_000, 20, 0, 0, 0)]


def test_e8_a_batch_that_never_drains_is_fetched_once_an_eviction_time() -> None:
    producer = Producer({"x": Topic(-300_000, -100_000, has_demand=True)})
    assert told(producer, 900_000) == [(at, 1, 1, 1, 0) for at in (0, 300_000, 600_000)]


@pytest.mark.parametrize("tick_ms", [1, 10, 50_000])
def test_what_is_due_at_a_tick_is_done_at_it_however_many_there_are(tick_ms: int) -> None:
    producer = Producer(fetched_at_0(TWENTY), active(TWENTY, 200_000))
    assert told(producer, 400_000, tick_ms)[0] == (150_000, 0, 20, 0, 20)


def test_a_tick_that_comes_late_does_it_late() -> None:
    producer = Producer(fetched_at_0(TWENTY), active(TWENTY, 200_000))
    assert told(producer, 200_000, 70_000) == []
    assert told(producer, 400_000, 70_000)[0] == (210_000, 0, 20, 0, 20)


@pytest.mark.parametrize("ruleset", ALL)
def test_ticks_at_which_nothing_is_due_cost_nothing(
    ruleset: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An hour of milliseconds: there are rounds where something may be due, and no others."""
    gone_through = []
    for cache in (DraftCache, KafkaCache):
        plain = cache.round

        def counting(self: Any, now: int, plain: Any = plain) -> Any:
            gone_through.append(now)
            return plain(self, now)

        monkeypatch.setattr(cache, "round", counting)
    producer = Producer(fetched_at_0(TWENTY), active(TWENTY, 3_600_000))
    rows = buckets(replay_of(3_600_000, 1, [ruleset]), producer)
    asked = total(rows, ruleset, "requests")
    # and those at which an idle clock was looked at that a use had moved
    assert asked <= len(gone_through) <= asked + 20 * 12 + 1


def test_an_answer_leaves_a_notice_that_came_after_its_request() -> None:
    events = [(900, "notice", "x"), (1_010, "notice", "x")]
    producer = Producer({"x": Topic(0, 0)}, events)
    found = rounds(replay_of(3_000, 100, [DRAFT], round_trip_ms=20), producer)
    assert [row["round_at_ms"] for row in found] == [900, 1_100]
    late = replay_of(3_000, 100, [DRAFT], round_trip_ms=120)
    assert [row["round_at_ms"] for row in rounds(late, producer)] == [900, 1_100]


def test_a_request_in_flight_holds_up_the_next_one() -> None:
    events = [(0, "access", "x"), (100, "access", "y")]
    found = rounds(replay_of(3_000, 100, [DRAFT], round_trip_ms=250), Producer(events=events))
    asked = [(row["round_at_ms"], row["fetched_topic_names"]) for row in found]
    assert asked == [(0, ["x"]), (300, ["y"])]


def test_after_a_failure_nothing_is_sent_for_the_backoff() -> None:
    producer = Producer({"x": Topic(0, -300_000)}, [(0, "request_failed", "")])
    found = rounds(replay_of(300, 1, [DRAFT]), producer)
    assert [row["round_at_ms"] for row in found] == [100]


def test_a_topic_in_error_is_asked_for_after_the_backoff_until_the_log_has_it() -> None:
    events = [(0, "topic_error", "x"), (5, "access", "x"), (250, "refreshed", "x")]
    found = rounds(replay_of(1_000, 1, [DRAFT]), Producer(events=events))
    assert [row["round_at_ms"] for row in found] == [5, 105, 205, 305]
    rows = buckets(replay_of(1_000, 1, [DRAFT]), Producer(events=events))
    assert (total(rows, DRAFT, "misses"), total(rows, DRAFT, "blocked_ms")) == (1, 300)


def test_a_producer_that_is_closed_asks_for_nothing() -> None:
    events = [(100_000, "closed", "")]
    assert told(Producer(fetched_at_0(TWENTY), events), 1_000_000) == []
