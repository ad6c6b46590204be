"""What marts say of producers: misses at every eviction time, advice, a broker's end, warm-ups."""

from __future__ import annotations

import dataclasses
import random
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import pytest
from metadata_reference import KAFKA_2_5, Producer, Rules, Topic
from producer_support import Event, load_events, load_lines, load_topics, with_producers
from spark_support import mart

from moldau.sessions.session import Session

START_MS = 1_780_000_000_000
HOUR_MS = 3_600_000


def of(session: Session, name: str, cluster: str, at_ms: int | None = None) -> list[dict[str, Any]]:
    return [row for row in mart(session, name, at_ms) if row["cluster_id"] == cluster]


def misses_of(
    times: dict[str, list[int]], evict_ms: int, closed: Sequence[int] = (), is_strict: bool = False
) -> tuple[int, int, float]:
    """Misses, first accesses and topic-milliseconds, by playing the accesses one by one.

    `closed`: when the producer was; at one instant that comes last."""
    end = max(max(several) for several in times.values())
    misses = firsts = 0
    kept = 0.0
    for several in times.values():
        last: int | None = None
        steps = [(at, 0) for at in set(several)] + [(at, 1) for at in closed if at < end]
        for at, is_closing in sorted([*steps, (end, 1)]):
            if last is not None:
                kept += min(at - last, evict_ms)
                misses += not is_closing and at - last >= evict_ms + is_strict
            firsts += not is_closing and last is None
            last = None if is_closing else at
    return misses, firsts, kept


@pytest.mark.parametrize(("closings", "is_strict"), [(0, False), (1, False), (20, True)])
def test_the_curve_is_that_of_playing_the_accesses(
    session: Session, closings: int, is_strict: bool
) -> None:
    """A producer begins anew each time that it was closed."""
    chance = random.Random(3)
    cluster, name = f"producers on a curve {closings}", f"curved {closings}"
    times: dict[str, list[int]] = defaultdict(list)
    for topic in "abcdefgh":
        at = START_MS + chance.randrange(HOUR_MS)
        for _ in range(40):
            times[topic].append(at)
            at += chance.choice([0, 999, 1000, 1001, 5000, 299_999, 300_000, 400_000, HOUR_MS])
    closed = [chance.choice(chance.choice(list(times.values()))) for _ in range(closings)]
    ours = with_producers(session, {name: Rules(evict_ms=400_000, is_strict=is_strict)})
    load_events(ours, cluster, [
        Event(name, "access", at, topic) for topic, several in times.items() for at in several
    ] + [Event(name, "closed", at) for at in closed])  # fmt: skip
    curve = {row["evict_ms"]: row for row in of(session, "metadata_miss_curve", cluster)}
    assert [at for at, row in curve.items() if row["is_in_force"]] == [400_000]
    assert {1000, 5000, 300_000, HOUR_MS} < set(curve)
    for evict_ms, row in curve.items():
        misses, firsts, kept = misses_of(times, evict_ms, closed, is_strict)
        assert (row["misses"], row["first_accesses"]) == (misses, firsts), evict_ms
        assert row["cached_topic_seconds"] == pytest.approx(kept / 1000), evict_ms
        assert row["entries"] == pytest.approx(kept / 150_000 + misses + firsts), evict_ms


def test_topics_used_every_ten_minutes_are_those_of_the_specification(session: Session) -> None:
    """4.5: 600 topics, each used once in 600 s: 1 blocking fetch a second at 300 s, none at 1 h."""
    cluster, name = "producers now and then", "now and then"
    ours = with_producers(session, {name: Rules()})
    load_events(ours, cluster, [
        Event(name, "access", START_MS + number * 1000 + use * 600_000, f"t{number}")
        for number in range(600) for use in range(7)
    ])  # fmt: skip
    curve = {row["evict_ms"]: row for row in of(session, "metadata_miss_curve", cluster)}
    per_second = curve[300_000]["misses_per_hour"] / 3600
    assert per_second == pytest.approx(6 / 7, rel=0.01), "the first round of uses has no gap"
    assert curve[300_000]["mean_cached_topics"] == pytest.approx(300, rel=0.15)
    assert curve[HOUR_MS]["misses"] == 0
    assert curve[600_000]["misses"] == 3600 and curve[900_000]["misses"] == 0
    [advice] = of(session, "metadata_recommendations", cluster)
    assert (advice["advice"], advice["recommended_evict_ms"]) == ("RAISE", 900_000)
    assert (advice["misses_per_hour"], advice["expected_misses_per_hour"]) == (
        curve[300_000]["misses_per_hour"], 0,
    )  # fmt: skip
    warm = of(session, "metadata_warm_up", cluster, START_MS + 7 * 600_000)
    assert len(warm) == 600
    first = min(warm, key=lambda row: row["expected_at_ms"])
    assert (first["topic_name"], first["usual_gap_ms"], first["due_in_ms"]) == ("t0", 600_000, 0)
    assert (first["gaps_seen"], first["misses_seen"], first["is_cached"]) == (6, 6, False)


def test_budgets_and_smells_are_told(session: Session) -> None:
    cluster = "producers advised"
    rules = {
        "thrifty": Rules(),
        "hasty": Rules(evict_ms=5000, max_age_ms=0),
        "silent": Rules(),
        "calm": Rules(evict_ms=600_000),
    }
    ours = with_producers(session, rules)
    told = dict(ours.settings.sections["producers"])
    budget = {"budget.cached.topics": 1, "budget.blocking.fetches.per.hour": 0}
    told["thrifty"] = type(told["thrifty"]).model_validate(budget)
    ours.settings.sections["producers"].update(told)
    uses = [(topic, START_MS + use * 400_000) for topic in "xyz" for use in range(10)]
    load_events(ours, cluster, [Event("thrifty", "access", at, topic) for topic, at in uses])
    load_events(ours, cluster, [Event("hasty", "access", at, topic) for topic, at in uses])
    load_events(ours, cluster, [Event("calm", "access", at, topic) for topic, at in uses])
    load_events(ours, cluster, [Event("silent", "notice", START_MS, "x")])
    found = {row["producer_id"]: row for row in of(session, "metadata_recommendations", cluster)}
    assert {name: row["advice"] for name, row in found.items()} == {
        "thrifty": "BUDGETS_CONFLICT", "hasty": "RAISE", "silent": "TOO_LITTLE_SEEN",
        "calm": "KEEP",
    }  # fmt: skip
    assert found["hasty"]["smell"] == "MAX_AGE_IS_ZERO"
    assert found["thrifty"]["recommended_evict_ms"] == 120_000, "3 topics, a third of the time each"
    assert found["calm"]["recommended_evict_ms"] == 600_000
    assert found["silent"]["smell"] is None and found["silent"]["recommended_evict_ms"] is None


def test_a_producer_that_was_closed_begins_anew(session: Session) -> None:
    cluster = "producers closed in between"
    ours = with_producers(session, {})
    events = [Event("reborn", "access", START_MS + at, "x") for at in (0, 10_000, 20_000)]
    load_events(ours, cluster, [*events, Event("reborn", "closed", START_MS + 15_000)])
    rows = {row["evict_ms"]: row for row in of(session, "metadata_miss_curve", cluster)}
    assert (rows[10_000]["first_accesses"], rows[10_000]["misses"]) == (2, 1)


def test_what_is_recommended_may_be_set_and_does_not_defeat_itself(session: Session) -> None:
    """Topics in use all the time, which need none of the time that is in force."""
    cluster = "producers in use"
    rules = {
        "draft in use": Rules(),
        "draft of long ages": Rules(evict_ms=10**10, max_age_ms=10**10),
        "kafka in use": KAFKA_2_5,
        "kafka of short ages": dataclasses.replace(KAFKA_2_5, max_age_ms=6_000),
        "kafka of a second": dataclasses.replace(
            KAFKA_2_5, evict_ms=1_000, idle_ms=1_000, max_age_ms=1_000
        ),
        "kafka of a small cache": KAFKA_2_5,
        "seen once": Rules(),
    }
    ours = with_producers(session, rules)
    settings = ours.settings.sections["producers"]
    update = {"budget_cached_topics": 1}
    small = settings["kafka of a small cache"].model_copy(update=update)
    settings["kafka of a small cache"] = small
    uses = [(topic, START_MS + use * 500) for topic in "xy" for use in range(2_000)]
    load_events(ours, cluster, [
        Event(name, "access", at, topic)
        for name in rules for topic, at in (uses if name != "seen once" else uses[:1])
    ])  # fmt: skip
    found = {
        row["producer_id"]: (row["recommended_evict_ms"], row["advice"], row["smell"])
        for row in of(session, "metadata_recommendations", cluster)
    }
    assert found == {
        "draft in use": (180_000, "LOWER", None),
        "draft of long ages": (10**10, "TOO_LITTLE_SEEN", None),
        "kafka in use": (300_000, "KEEP", None),
        "kafka of short ages": (10_000, "LOWER", None),
        "kafka of a second": (10_000, "RAISE", "EVICTS_WITHIN_10_SECONDS"),
        "kafka of a small cache": (5_000, "BUDGETS_CONFLICT", None),
        "seen once": (None, "TOO_LITTLE_SEEN", None),
    }


@pytest.mark.parametrize(("is_strict", "misses"), [(False, 3), (True, 0)])
def test_a_gap_of_the_very_time_is_too_long_unless_strict(
    session: Session, is_strict: bool, misses: int
) -> None:
    """B2, and what another reading of it says."""
    cluster, name = f"producers at the limit {is_strict}", f"at the limit {is_strict}"
    ours = with_producers(session, {name: Rules(is_strict=is_strict)})
    uses = [START_MS + 300_000 * use for use in range(4)]
    load_events(ours, cluster, [Event(name, "access", at, "x") for at in uses])
    [now] = [row for row in of(session, "metadata_miss_curve", cluster) if row["is_in_force"]]
    [advice] = of(session, "metadata_recommendations", cluster)
    warm = of(session, "metadata_warm_up", cluster)
    assert (now["misses"], [row["misses_seen"] for row in warm]) == (misses, [3] * (not is_strict))
    assert advice["advice"] == ("KEEP" if is_strict else "RAISE")


def test_a_broker_that_goes_away_is_felt_by_who_caches_its_topics(session: Session) -> None:
    cluster = "producers in a blast"
    ours = with_producers(session, {})
    states = [
        {"topic_id": None, "topic": topic, "partition": partition, "broker_id": broker,
         "is_leader": broker == leader, "leader_epoch": 3, "log_start_offset": 0,
         "local_log_start_offset": 0, "last_stable_offset": 0, "high_watermark": 0,
         "log_end_offset": 0, "taken_at_ms": START_MS}
        for topic, leaders in {"wide": [1, 2, 3], "left": [1, 1], "right": [2]}.items()
        for partition, leader in enumerate(leaders)
        for broker in (1, 2, 3)
    ]  # fmt: skip
    load_lines(ours, cluster, "partition_states", states)
    cached, not_cached = Topic(START_MS, START_MS), Topic(START_MS)
    load_topics(ours, cluster, {
        "both": Producer({"wide": cached, "left": cached, "right": not_cached}),
        "one": Producer({"right": cached}),
    })  # fmt: skip
    found = {
        (row["broker_id"], row["producer_id"]): row
        for row in of(session, "metadata_blast_radius", cluster)
    }
    told = {key: (row["notified_topics"], row["partitions_led"]) for key, row in found.items()}
    assert told == {
        (1, "both"): (2, 3), (2, "both"): (1, 1), (3, "both"): (1, 1),
        (1, "one"): (0, 0), (2, "one"): (1, 1), (3, "one"): (0, 0),
    }  # fmt: skip
    wide, left = 10 + 4 + 3 * (18 + 8 * 3), 10 + 4 + 2 * (18 + 8 * 3)
    row = found[2, "both"]
    assert (row["notified_bytes"], row["bytes_of_all_topics"]) == (wide, wide + left)
    assert found[3, "one"]["bytes_of_all_topics"] == 0
