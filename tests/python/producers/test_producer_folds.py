"""State follows snapshots and events in whatever order and pieces they are loaded."""

from __future__ import annotations

import random

import pytest
from fold_reference import topics_told
from metadata_reference import Producer, Topic
from producer_support import (
    Event,
    load_events,
    load_lines,
    load_topics,
    producer_of,
    topics_of,
    with_producers,
)
from spark_support import contents

from moldau.runs.decide import decide
from moldau.sessions.session import Session

KINDS = (
    "access", "access", "demand", "demand_served", "demand_abandoned", "notice", "requested",
    "refreshed", "refreshed", "topic_error",
)  # fmt: skip
OF_THE_LOADS = ["changed_in_run_id"]


def random_log(chance: random.Random, prefix: str, producers: int = 12) -> list[Event]:
    """Few instants, so that events of one millisecond are among them."""
    found = set()
    for number in range(producers):
        name = f"{prefix}{number}"
        for _ in range(chance.choice([1, 4, 30])):
            kind = chance.choice(KINDS)
            found.add(Event(name, kind, chance.randrange(60), chance.choice("abc")))
        if chance.random() < 0.3:
            found.add(Event(name, "request_failed", chance.randrange(60)))
        if chance.random() < 0.3:
            found.add(Event(name, "closed", chance.randrange(60)))
    return sorted(found, key=repr)


def in_pieces(chance: random.Random, log: list[Event], count: int) -> list[list[Event]]:
    pieces: list[list[Event]] = [[] for _ in range(count)]
    for event in log:
        chance.choice(pieces).append(event)
    return [piece for piece in pieces if piece]


def random_snapshot(chance: random.Random, prefix: str) -> dict[str, Producer]:
    def topic() -> Topic:
        return Topic(
            chance.randrange(60),
            chance.choice([None, chance.randrange(60)]),
            chance.random() < 0.3,
            chance.choice([None, None, chance.randrange(60)]),
        )

    return {
        f"{prefix}{number}": Producer({name: topic() for name in chance.sample("abcd", 2)})
        for number in range(0, 12, 2)
    }


def rows_of(snapshot: dict[str, Producer]) -> dict[tuple[str, str], Topic]:
    return {
        (name, topic): told
        for name, producer in snapshot.items()
        for topic, told in producer.topics.items()
    }


def test_events_say_the_same_in_any_order_and_pieces(session: Session) -> None:
    """Four logs, of which none knows the producers of another."""
    chance = random.Random(0)
    logs = [random_log(chance, f"folded {number} ") for number in range(4)]
    log = [event for one in logs for event in one]
    ours = with_producers(session, {})
    whole, pieces = "producers folded", "producers in pieces"
    load_events(ours, whole, log)
    for some in zip(*(in_pieces(chance, one, 4) for one in logs), strict=True):
        load_events(ours, pieces, [event for piece in some for event in piece])
    want = topics_told(log, {})
    assert topics_of(session, whole) == want
    assert topics_of(session, pieces) == want
    found = contents(session, "state.producers", OF_THE_LOADS, "cluster_id like 'producers%'")
    assert found[whole] == found[pieces]
    found = contents(session, "state.producer_topics", OF_THE_LOADS, "cluster_id like 'producers%'")
    assert found[whole] == found[pieces], "what later loads are compared with, too"
    assert load_events(ours, pieces, log).rows_new == 0
    assert topics_of(session, pieces) == want


@pytest.mark.parametrize("place", [0, 1, 3])
def test_a_snapshot_comes_at_any_time(session: Session, place: int) -> None:
    chance = random.Random(place)
    prefixes = [f"snapped {place} {number} " for number in range(3)]
    logs = [random_log(chance, prefix) for prefix in prefixes]
    snapshot = {
        name: told for prefix in prefixes for name, told in random_snapshot(chance, prefix).items()
    }
    ours = with_producers(session, {})
    cluster = f"producers snapped {place}"
    parts = [
        [event for piece in some for event in piece]
        for some in zip(*(in_pieces(chance, one, 3) for one in logs), strict=True)
    ]
    for part in parts[:place]:
        load_events(ours, cluster, part)
    load_topics(ours, cluster, snapshot)
    for part in parts[place:]:
        load_events(ours, cluster, part)
    want = topics_told([event for one in logs for event in one], rows_of(snapshot))
    assert topics_of(session, cluster) == want


def test_a_snapshot_replaces_the_one_before_it(session: Session) -> None:
    cluster = "producers replaced"
    ours = with_producers(session, {})
    first = {"r1": Producer({"x": Topic(5, 3), "y": Topic(9)}), "r2": Producer({"x": Topic(7)})}
    load_topics(ours, cluster, first)
    load_events(ours, cluster, [Event("r1", "access", 11, "z")])
    load_topics(ours, cluster, {"r1": Producer({"x": Topic(4, 2)})})
    left = topics_of(session, cluster)
    assert {name: set(told) for name, told in left.items()} == {"r1": {"x", "z"}}
    assert left["r1"]["x"]["last_access_at_ms"] == 4, "also where it is older"
    assert producer_of(session, cluster, "r2") is None
    load_topics(ours, cluster, {})
    assert {name: set(told) for name, told in topics_of(session, cluster).items()} == {"r1": {"z"}}


def test_a_snapshot_that_was_taken_later_ends_what_events_told(session: Session) -> None:
    cluster = "producers taken"
    ours = with_producers(session, {})
    row = {"producer_id": "k1", "topic": "x", "last_access_at_ms": 5, "last_refresh_at_ms": None,
           "has_demand": False, "notified_at_ms": None, "taken_at_ms": 50}  # fmt: skip
    old = [Event("k1", "access", 20, "y"), Event("k1", "notice", 30, "x")]
    load_events(ours, cluster, old)
    load_lines(ours, cluster, "producer_topics", [row])
    assert set(topics_of(session, cluster)["k1"]) == {"x"}
    load_events(ours, cluster, [Event("k1", "access", 40, "z"), Event("k1", "access", 60, "w")])
    left = topics_of(session, cluster)["k1"]
    assert set(left) == {"x", "w"}, "z was told of before the snapshot, which does not have it"
    assert left["x"]["notified_at_ms"] is None


def test_a_request_is_in_flight_until_it_is_answered(session: Session) -> None:
    cluster = "producers asking"
    ours = with_producers(session, {})
    load_events(ours, cluster, [Event("f1", "demand", 10, "x"), Event("f1", "requested", 11, "x")])
    told = producer_of(session, cluster, "f1")
    assert told is not None and told["request_in_flight_since_ms"] == 11
    load_events(ours, cluster, [Event("f1", "topic_error", 13, "x")])
    told = producer_of(session, cluster, "f1")
    assert told == {
        "request_in_flight_since_ms": None, "last_failure_at_ms": 13, "closed_at_ms": None,
    }  # fmt: skip
    left = topics_of(session, cluster)["f1"]["x"]
    assert (left["last_refresh_at_ms"], left["has_demand"]) == (None, True), "P8: demand remains"
    run = decide(ours, "metadata", [cluster], 112, is_dry_run=True)
    assert (run.counts.get("rounds_wait"), run.counts.get("fetch")) == (1, None)
    run = decide(ours, "metadata", [cluster], 113, is_dry_run=True)
    assert (run.counts.get("rounds_fetch"), run.counts.get("fetch")) == (1, 1), "after the back-off"


def test_a_closed_producer_may_come_back(session: Session) -> None:
    cluster = "producers closed"
    ours = with_producers(session, {})
    load_events(ours, cluster, [Event("c1", "refreshed", 5, "x"), Event("c1", "closed", 10)])
    assert topics_of(session, cluster) == {}
    told = producer_of(session, cluster, "c1")
    assert told is not None and told["closed_at_ms"] == 10
    load_events(ours, cluster, [Event("c1", "access", 4, "x")])
    assert topics_of(session, cluster) == {}, "it was before"
    load_events(ours, cluster, [Event("c1", "access", 12, "x")])
    assert topics_of(session, cluster)["c1"]["x"]["last_refresh_at_ms"] is None
    told = producer_of(session, cluster, "c1")
    assert told is not None and told["closed_at_ms"] is None
