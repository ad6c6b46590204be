"""Rounds of random producers are those of the reference, and after them too."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from metadata_reference import Producer, Round, Rules, Topic, decide_round
from producer_support import (
    Event,
    decide_rounds,
    load_events,
    rounds_of,
    topics_of,
    with_producers,
)
from random_producers import random_producer, random_rules

from moldau.runs.compare import compare
from moldau.runs.decide import decide
from moldau.sessions.session import Session

NOW_MS = 1_750_000_000_000
COUNT = 250


def population(seed: int, prefix: str, count: int = COUNT) -> dict[str, tuple[Producer, Rules]]:
    chance = random.Random(seed)
    found = {}
    for number in range(count):
        rules = random_rules(chance)
        found[f"{prefix}{number:03}"] = (random_producer(chance, NOW_MS, rules), rules)
    return found


def expected(several: dict[str, tuple[Producer, Rules]]) -> dict[str, Round]:
    """A producer of which nothing is told has no row."""
    return {
        name: decide_round(one, NOW_MS, rules)
        for name, (one, rules) in several.items()
        if one.topics or one.in_flight_since or one.failed_at or one.closed_at
    }


@pytest.mark.parametrize("seed", range(3))
def test_random_rounds_are_those_of_the_reference(session: Session, seed: int) -> None:
    several = population(seed, f"random {seed} ")
    ours = with_producers(session, {name: rules for name, (_, rules) in several.items()})
    told = {name: one for name, (one, _) in several.items()}
    assert decide_rounds(ours, f"producers at random {seed}", told, NOW_MS) == expected(several)


def test_what_is_applied_is_the_next_round_of_the_reference(session: Session) -> None:
    """Rounds under moldau's authority: each on what the one before left."""
    cluster = "producers applied at random"
    several = {
        name: (replace(one, in_flight_since=None, closed_at=None), rules)
        for name, (one, rules) in population(11, "applied ", 120).items()
        if one.topics
    }
    ours = with_producers(
        session,
        {name: rules for name, (_, rules) in several.items()},
        {cluster: "{authority: moldau}"},
    )
    now = NOW_MS
    state = {name: one for name, (one, _) in several.items()}
    decide_rounds(ours, cluster, state, now, is_dry_run=False)
    for step in (0, 1, 99, 900, 150_000, 300_000, 7):
        now += step
        if step:
            decide(ours, "metadata", [cluster], now, is_dry_run=False)
        found, left = rounds_of(ours, cluster), topics_of(ours, cluster)
        for name, (_, rules) in several.items():
            want = decide_round(state[name], now, rules)
            assert found[name] == want, (name, step)
            state[name] = applied(state[name], want, now)
            rows = {topic: as_row(one) for topic, one in state[name].topics.items()}
            assert left.get(name, {}) == rows, (name, step)


def applied(producer: Producer, decided: Round, now: int) -> Producer:
    """Step 8 of a round: what is forgotten goes, what was asked for is answered."""
    left = {}
    for name, topic in producer.topics.items():
        decision = decided.decisions[name]
        if decision == "evict" and not topic.has_demand:
            continue
        if decision.startswith("evict"):
            is_new = topic.notified is not None and topic.notified > now
            topic = replace(topic, refreshed=None, notified=topic.notified if is_new else None)
        if decision in ("fetch", "evict_and_fetch"):
            waited = decided.reasons[name] == "NEW"
            accessed = max(topic.accessed, now) if waited else topic.accessed
            first = None if waited else topic.answered_since_access()
            topic = Topic(accessed, now, first_answer=first or (now if now >= accessed else None))
        left[name] = topic
    rest = set(decided.fetched) & decided.other
    return replace(producer, topics=left, not_urgent_at=now if rest else producer.not_urgent_at)


def as_row(topic: Topic) -> dict[str, object]:
    return {
        "last_access_at_ms": topic.accessed,
        "last_refresh_at_ms": topic.refreshed,
        "has_demand": topic.has_demand,
        "notified_at_ms": topic.notified,
    }


def test_only_what_changed_or_came_due_is_decided(session: Session) -> None:
    cluster = "producers left alone"
    ours = with_producers(session, {})
    told = {
        f"alone {number}": Producer({"x": Topic(NOW_MS, NOW_MS - 1000 * number)})
        for number in range(10)
    }
    decide_rounds(ours, cluster, told, NOW_MS)
    again = decide(ours, "metadata", [cluster], NOW_MS + 1, is_dry_run=True)
    assert again.counts["decided"] == 0
    load_events(ours, cluster, [Event("alone 3", "notice", NOW_MS + 1, "x")])
    third = decide(ours, "metadata", [cluster], NOW_MS + 2, is_dry_run=True)
    assert third.counts["decided"] == 2, "the topic with a notice, and the round of its producer"
    # the oldest is half as old as it may be
    due = decide(ours, "metadata", [cluster], NOW_MS + 150_000 - 9000, is_dry_run=True)
    assert due.counts["decided"] == 2
    assert rounds_of(ours, cluster)["alone 9"].reasons == {"x": "NOT_DUE"}


def test_rule_sets_are_compared_on_the_same_state(session: Session) -> None:
    cluster = "producers compared"
    ours = with_producers(session, {})
    topics = {f"a{number:03}": Topic(NOW_MS, NOW_MS - 200_000) for number in range(25)}
    decide_rounds(ours, cluster, {"compared": Producer(topics)}, NOW_MS)
    run = compare(ours, "producers", ("kip_526_draft", "kafka_2_5"), [cluster], NOW_MS)
    assert run.counts["differences"] == 26, "each topic and the round"
