"""What the specification measured in its own simulation (4.3 to 4.5), within its rounding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from metadata_replay_support import ALL, Event, Producer, Topic, buckets, replay_of, total

HOUR = 3_600_000
IN_USE = 10**12  # accessed then: no topic is idle before
FULL, DRAFTS = ("before_2_5", "kafka_2_5"), ("kip_526_draft", "kip_526_revised")


def in_use(topics: int, refreshed: Callable[[int], int] = lambda _: 0, **more: Any) -> Producer:
    """Names have 30 letters, as where the specification counts bytes."""
    names = {f"{index:030d}": Topic(IN_USE, refreshed(index)) for index in range(topics)}
    return Producer(topics=names, **more)


def rates(producer: Producer, rulesets: tuple[str, ...] = ALL) -> dict[str, dict[str, Any]]:
    """By rule set, of 3,000 s after the first two cycles, at a round trip of 20 ms."""
    rows = buckets(replay_of(HOUR, 20, rulesets, round_trip_ms=20), producer)
    found = {}
    for ruleset in rulesets:
        those = [row for row in rows if row["bucket_start_ms"] >= 600_000]

        def second(column: str, ruleset: str = ruleset, those: Any = those) -> float:
            return total(those, ruleset, column) / 3_000

        own = [row for row in rows if row["ruleset"] == ruleset]
        found[ruleset] = {
            "requests": second("requests"),
            "topics": second("topics"),
            "bytes": second("bytes"),
            "largest": max(row["largest_request"] for row in own),
            "in_a_second": max(row["largest_second_topics"] for row in own),
            "mean_age": second("refresh_age_ms") / second("refreshes") / 1_000,
            "stale": total(own, ruleset, "stale_topics"),
        }
    return found


# topics, rule set, requests/s, topics/s, bytes/s, largest, most topics in a second, mean age
STEADY = [
    *((1, ruleset, 0.0033, 0.0033, 2, 1, 1, 300) for ruleset in ALL),
    *((19, ruleset, 0.0033, 0.063, 34, 19, 19, 300) for ruleset in ALL),
    *((20, ruleset, 0.0033, 0.067, 36, 20, 20, 300) for ruleset in FULL),
    *((20, ruleset, 0.0067, 0.133, 73, 20, 20, 150) for ruleset in DRAFTS),
    *((6_000, ruleset, 0.0033, 20, 10_900, 6_000, 6_000, 300) for ruleset in FULL),
    (6_000, "kip_526_draft", 2.0, 40, 21_800, 20, 1_000, 150),
    (6_000, "kip_526_revised", 0.20, 40, 21_800, 200, 6_000, 150),
]


@pytest.mark.parametrize("topics", [1, 19, 20, 6_000])
def test_steady_state_of_topics_that_started_together(topics: int) -> None:
    found = rates(in_use(topics))
    for of, ruleset, requests, asked, size, largest, in_a_second, age in STEADY:
        if of == topics:
            told = found[ruleset]
            assert told["requests"] == pytest.approx(requests, rel=0.02), ruleset
            assert told["topics"] == pytest.approx(asked, rel=0.011), ruleset
            assert told["bytes"] == pytest.approx(size, rel=0.1 if topics == 1 else 0.015), ruleset
            assert (told["largest"], told["in_a_second"]) == (largest, in_a_second), ruleset
            assert told["mean_age"] == pytest.approx(age, abs=0.1), ruleset


def test_steady_state_of_sixty_thousand_topics() -> None:
    rulesets = ("kafka_2_5", "kip_526_revised")
    found = rates(in_use(60_000), rulesets)
    assert found["kip_526_revised"]["requests"] == pytest.approx(0.20)
    assert found["kip_526_revised"]["topics"] == pytest.approx(400)
    assert found["kip_526_revised"]["bytes"] == pytest.approx(218_000, rel=0.005)
    assert found["kip_526_revised"]["largest"] == 2_000
    assert found["kip_526_revised"]["in_a_second"] == 60_000
    assert found["kafka_2_5"]["bytes"] == pytest.approx(109_000, rel=0.005)
    assert found["kafka_2_5"]["largest"] == 60_000


def test_topics_spread_evenly_make_no_burst() -> None:
    found = rates(in_use(6_000, lambda index: -(index * 150_000 // 6_000)), DRAFTS)
    assert [found[ruleset]["in_a_second"] for ruleset in DRAFTS] == [40, 200]


def test_what_the_target_does_not_divide_waits_for_the_maximum_age() -> None:
    found = rates(in_use(30), ("kip_526_draft", "kafka_2_5"))
    full = found["kafka_2_5"]["topics"]
    assert found["kip_526_draft"]["topics"] == pytest.approx(5 / 3 * full, rel=0.01)


@pytest.mark.parametrize(("pace_ms", "burst", "a_second"), [(5_000, 400, 40), (10_000, 200, 20)])
def test_pacing(pace_ms: int, burst: int, a_second: int) -> None:
    """One batch of 200 per pace. At 10 s half of the topics get too old, once, and never again."""
    producer = in_use(6_000, ruleset="paced", own={"pace_ms": pace_ms})
    replay = replay_of(HOUR, 20, ["paced"], round_trip_ms=20, bucket_ms=10_000)
    rows = buckets(replay, producer)
    late = [row for row in rows if row["stale_topics"]]
    if pace_ms == 5_000:
        assert not late
    else:
        found = [(row["bucket_start_ms"], row["stale_topics"]) for row in late]
        assert found == [(300_000, 3_000)]
    settled = [row for row in rows if row["bucket_start_ms"] >= 600_000]
    assert max(row["topics"] for row in settled) <= burst
    assert total(settled, "paced", "topics") / 3_000 == pytest.approx(a_second, rel=0.01)
    assert max(row["refresh_age_ms_max"] for row in settled) <= 300_000


@pytest.mark.parametrize(
    ("evict_ms", "requests", "largest"),
    [
        (3_600_000, 2.0, 20),
        (60_000, 1 / 25, 1_000),
        (5_000, 1 / 300, 6_000),
        (1_000, 1 / 300, 6_000),
    ],
)
def test_eviction_time_away_from_the_maximum_age(
    evict_ms: int, requests: float, largest: int
) -> None:
    """Times ten: a target above the topics never fires, and all go at once when they are stale."""
    found = rates(in_use(6_000, evict_ms=evict_ms), ("kip_526_revised",))["kip_526_revised"]
    assert found["requests"] == pytest.approx(requests, rel=0.01)
    assert found["largest"] == largest


@pytest.mark.parametrize("topics", [1, 20, 500, 6_000])
def test_topics_touched_one_after_another(topics: int) -> None:
    """Before 2.5 each new one asks for all that are known: N (N + 1) / 2 entries."""
    events = [(40 * index, "access", f"{index:030d}") for index in range(topics)]
    replay = replay_of(280_000, 20, round_trip_ms=20, rulesets=(*FULL, *DRAFTS[:1]))
    producer = Producer(events=events, evict_ms=3_600_000, max_age_ms=3_600_000)
    rows = buckets(replay, producer)
    for ruleset in (*FULL, DRAFTS[0]):
        entries = topics * (topics + 1) // 2 if ruleset == "before_2_5" else topics
        assert total(rows, ruleset, "requests") == topics
        assert total(rows, ruleset, "topics") == entries
        assert total(rows, ruleset, "bytes") == 544 * entries
        assert total(rows, ruleset, "overhead_bytes") == 131 * topics
        assert total(rows, ruleset, "first_misses") == topics


def used_now_and_then() -> Producer:
    """600 topics, each used once every 600 s, one after another."""
    uses: list[Event] = [
        (second * 1_000, "access", f"{second % 600:030d}") for second in range(4_800)
    ]
    return Producer(events=uses)


# rule set, eviction time, blocking fetches/s, requests/s, entries/s, largest, cached on average
NOW_AND_THEN = [
    ("before_2_5", 300_000, 1.0, 1.0, 301, 301, 300),
    ("kafka_2_5", 300_000, 1.0, 1.0, 2.0, 301, 300),
    ("kip_526_draft", 300_000, 1.0, 1.0, 2.0, 2, 300),
    ("before_2_5", 3_600_000, 0, 0.003, 2.0, 600, 600),
    ("kafka_2_5", 3_600_000, 0, 0.003, 2.0, 600, 600),
    ("kip_526_draft", 3_600_000, 0, 0.20, 4.0, 20, 600),
]


@pytest.mark.parametrize(
    ("ruleset", "evict_ms", "blocking", "requests", "topics", "largest", "cached"), NOW_AND_THEN
)
def test_topics_used_now_and_then(
    ruleset: str,
    evict_ms: int,
    blocking: float,
    requests: float,
    topics: float,
    largest: int,
    cached: int,
) -> None:
    producer = used_now_and_then()
    producer.evict_ms = evict_ms
    rows = buckets(replay_of(4_800_000, 20, [ruleset], round_trip_ms=20), producer)
    settled = [row for row in rows if row["bucket_start_ms"] >= 1_200_000]
    seconds = 3_600

    def rate(column: str) -> float:
        return total(settled, ruleset, column) / seconds

    assert rate("blocking_fetches") == pytest.approx(blocking, abs=0.001)
    assert rate("requests") == pytest.approx(requests, rel=0.12)
    assert rate("topics") == pytest.approx(topics, rel=0.01)
    # whether the whole is asked for just before or after one more topic
    assert max(row["largest_request"] for row in settled) == pytest.approx(largest, abs=1)
    assert rate("cached_topic_ms") / 1_000 == pytest.approx(cached, rel=0.01)
