"""What Kafka 2.5.0's own classes did (5.6), and what the code before it says (5.7).

`kafka_2_5` at idle 60,000, maximum age 300,000 and back-off 100 unless a case says otherwise.
Topics are numbers: t1 is 1. A request is what Kafka would send at that instant, or None.
"""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from moldau.replays.cache import Limits, Request
from moldau.replays.kafka import KafkaCache, KafkaRules
from moldau.replays.measures import Measures, Sizes

SIZES = Sizes(*([0] * 600 for _ in range(4)), answer_overhead=0)


class Metadata:
    """The cache with the verbs of the specification."""

    def __init__(self, idle_ms: int = 60_000, rules: KafkaRules | None = None) -> None:
        measures = Measures(SIZES, 10**9, 300_000, 0)
        limits = Limits(idle_ms, 300_000, 100)
        self.cache = KafkaCache(limits, measures, rules=rules or KafkaRules())
        measures.begin(0, self.cache)

    def add(self, *topics: int, at: int) -> None:
        """Accesses them; nobody waits longer than for the next answer."""
        for topic in topics:
            if topic in self.cache.refreshed:
                self.cache.accessed[topic] = at
            else:
                self.cache.want(topic, at)
                self.cache.waiting.clear()

    def ask(self, at: int) -> tuple[str, list[int]] | None:
        """What is sent now."""
        self.cache.failed_at = min(self.cache.failed_at, at - 100)
        request = self.cache.round(at).request
        return request and self._shown(request)

    def due_in(self, at: int) -> int:
        return self.cache.due(at) - at

    def answer(self, at: int, failing: Iterable[int] = ()) -> list[int]:
        """Gives what is cached after it."""
        self.cache.answer(at, set(failing))
        return sorted(self.cache.refreshed)

    def update(self, at: int, failing: Iterable[int] = ()) -> list[int]:
        """What Kafka would ask for, as a whole, is asked for and answered."""
        self.cache._needs_full = True
        assert self.ask(at)
        return self.answer(at, failing)

    def _shown(self, request: Request) -> tuple[str, list[int]]:
        if request.topics is None:
            return "full", sorted(self.cache.accessed)
        return "part", sorted(request.topics)


@pytest.fixture
def two() -> Metadata:
    """t1 and t2 cached at 10,000, and idle for long after what follows."""
    metadata = Metadata(idle_ms=3_600_000)
    metadata.add(1, 2, at=10_000)
    assert metadata.update(10_000) == [1, 2]
    return metadata


def test_k1_a_topic_is_gone_at_the_limit() -> None:
    metadata = Metadata()
    metadata.add(1, at=0)
    assert metadata.update(0) == [1]
    assert metadata.update(60_000) == []
    assert not metadata.cache.accessed


def test_k2_and_kept_before_it() -> None:
    metadata = Metadata()
    metadata.add(1, at=0)
    metadata.update(0)
    assert metadata.update(59_999) == [1]


def test_k4_nothing_is_forgotten_without_an_answer() -> None:
    metadata = Metadata()
    metadata.add(1, at=0)
    metadata.update(0)
    assert metadata.due_in(200_000) == 100_000
    assert metadata.cache.round(200_000).evicted == []
    assert list(metadata.cache.refreshed) == [1]
    assert metadata.ask(300_000) == ("full", [1])


def test_k5_a_new_topic_is_kept_past_its_idle_time() -> None:
    metadata = Metadata()
    metadata.add(1, at=0)
    metadata.update(0)
    metadata.cache.notice(1, 140_000)
    metadata.ask(140_000)
    metadata.add(3, at=150_000)
    assert metadata.answer(270_000) == []  # an answer without t3, by which t1 is gone
    assert metadata.update(270_000) == [3]


def test_k6_and_gone_at_the_update_after_that_unless_it_was_used() -> None:
    metadata = Metadata()
    metadata.add(3, at=150_000)
    metadata.update(270_000)
    assert metadata.update(270_100) == []


def test_k7_an_access_to_a_cached_topic_asks_for_nothing() -> None:
    metadata = Metadata()
    metadata.add(1, at=10_000)
    metadata.update(10_000)
    metadata.add(1, at=20_000)
    assert metadata.due_in(20_000) == 290_000


def test_k8_a_new_topic_is_asked_for_alone_and_now(two: Metadata) -> None:
    two.add(3, at=20_000)
    assert two.due_in(20_000) == 0
    assert two.ask(20_000) == ("part", [3])


def test_k9_a_full_request_has_the_new_topic_too(two: Metadata) -> None:
    two.add(3, at=20_000)
    two.cache.notice(1, 20_000)
    assert two.ask(20_000) == ("full", [1, 2, 3])


def test_k10_old_metadata_is_asked_for_as_a_whole(two: Metadata) -> None:
    two.add(3, at=20_000)
    assert two.ask(310_000) == ("full", [1, 2, 3])


def test_k11_and_just_before_the_new_topic_alone(two: Metadata) -> None:
    two.add(3, at=20_000)
    assert two.ask(309_999) == ("part", [3])


def test_k12_a_partial_answer_does_not_move_the_clock_of_full_ones(two: Metadata) -> None:
    two.add(3, at=200_000)
    two.ask(200_000)
    assert two.answer(200_000) == [1, 2, 3]
    assert two.due_in(200_100) == 310_000 - 200_100


def test_k13_a_request_for_a_new_topic_is_partial_for_a_cached_one_full() -> None:
    metadata = Metadata(idle_ms=3_600_000)
    metadata.add(1, at=0)
    metadata.update(0)
    metadata.add(2, at=1_000)
    metadata.cache.notice(2, 1_000)
    assert metadata.ask(1_000) == ("part", [2])
    metadata.answer(1_000)
    metadata.cache.notice(1, 2_000)
    assert metadata.ask(2_000) == ("full", [1, 2])


def test_k14_a_partial_answer_leaves_the_full_request_due(two: Metadata) -> None:
    two.add(3, at=20_000)
    assert two.ask(20_000) == ("part", [3])
    two.cache.notice(1, 20_010)
    two.answer(20_020)
    assert two.ask(20_200) == ("full", [1, 2, 3])


def test_k15_a_topic_added_while_a_request_is_in_flight_stays_new(two: Metadata) -> None:
    two.add(3, at=20_000)
    two.ask(20_000)
    two.add(4, at=20_010)
    assert two.answer(20_020) == [1, 2, 3]
    assert two.ask(20_200) == ("part", [4])


def test_k16_a_failure_waits_for_the_backoff_but_no_other_new_topic_does(two: Metadata) -> None:
    two.add(3, at=10_000)
    two.cache.fail(10_010)
    assert two.due_in(10_010) == 100
    two.add(3, at=10_011)
    assert two.due_in(10_011) == 99
    two.add(4, at=10_011)
    assert two.due_in(10_011) == 0


def test_k17_a_topic_in_error_is_new_no_more_and_asks_for_a_full_answer() -> None:
    metadata = Metadata()
    metadata.add(1, at=0)
    metadata.update(0)
    metadata.add(9, at=100)
    assert metadata.ask(100) == ("part", [9])
    assert metadata.answer(100, failing=[9]) == [1]
    assert metadata.due_in(100) == 100
    assert metadata.ask(200) == ("full", [1, 9])


def test_k17b_and_is_gone_once_it_is_idle() -> None:
    metadata = Metadata()
    metadata.add(9, at=100)
    metadata.ask(100)
    metadata.answer(100, failing=[9])
    metadata.ask(60_100)
    metadata.answer(60_100, failing=[9])
    assert not metadata.cache.accessed


def test_k18_five_hundred_topics_one_after_another() -> None:
    asked = {}
    for alone in (True, False):
        metadata = Metadata(rules=KafkaRules(asks_for_new_alone=alone))
        entries = 0
        for topic in range(500):
            metadata.add(topic, at=topic)
            request = metadata.ask(topic)
            assert request is not None
            entries += len(request[1])
            metadata.answer(topic)
        asked[alone] = entries
    assert asked == {True: 500, False: 125_250}


def test_k19_nothing_is_cached_that_was_not_asked_for(two: Metadata) -> None:
    two.cache.notice(1, 20_000)
    two.ask(20_000)
    two.add(30, at=20_010)
    assert two.answer(20_020) == [1, 2]


def test_k20_of_twenty_five_topics_those_that_were_used_are_kept() -> None:
    metadata = Metadata()
    metadata.add(*range(25), at=0)
    metadata.update(0)
    metadata.add(*range(5), at=30_000)
    assert metadata.update(60_000) == [0, 1, 2, 3, 4]


BEFORE = KafkaRules(asks_for_new_alone=False, idle_from_answer=True, reads_max_idle=False)


@pytest.mark.parametrize(("at", "kept"), [(499_999, [1]), (500_000, [])])
def test_l1_before_2_5_the_idle_clock_starts_at_the_next_update(at: int, kept: list[int]) -> None:
    metadata = Metadata(idle_ms=300_000, rules=BEFORE)
    metadata.add(1, at=0)
    assert metadata.update(200_000) == [1]
    assert metadata.update(at) == kept


def test_l2_what_is_always_used_is_never_forgotten() -> None:
    metadata = Metadata(idle_ms=300_000, rules=BEFORE)
    for at in range(0, 3_000_000, 1_000):
        metadata.add(1, at=at)
        if at % 300_000 == 0:
            assert metadata.update(at) == [1]
