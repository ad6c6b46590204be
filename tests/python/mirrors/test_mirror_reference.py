"""The reference says what the specification lists, and is never ahead: plain Python, no Spark."""

from __future__ import annotations

import itertools
import random

import full_history_reference as full
import mirror_maker as maker
import pytest
from full_history_reference import FoldedSync
from listed_mirror_cases import (
    DENIED,
    EXPLAINED_CASES,
    FIRST_THOUSAND,
    LAKE,
    NAME_CASES,
    READING,
    REVERSE_CASES,
    REVERSE_SYNCS,
    SECOND_THOUSAND,
    TARGET_CASES,
    WRITER_CASES,
    Answer,
    MirrorCase,
    Question,
    TargetCase,
    Variant,
    latest_sync_cases,
    level,
    listed_cases,
)
from mirror_maker import Checkpoint, OffsetSyncWriter, PartitionState, Sync, TargetGroup, syncs_of

CASES = [*listed_cases(), *latest_sync_cases()]
ASKED = [(case, *asked) for case in CASES for asked in case.asked()]
IDS = [f"{case.number} {question.g} {variant.flow}" for case, _, question, variant, _ in ASKED]
COMMITTED_LATE_MS = 1_000_000


def answered(case: MirrorCase, question: Question, variant: Variant) -> Answer:
    """What the reference says, under a rule set."""
    if case.start == READING:
        return Answer(None, "SYNCS_NOT_CAUGHT_UP")
    syncs = syncs_of(case.syncs)
    last = Checkpoint(*question.last) if question.last else None
    if variant.ruleset in LAKE:
        return by_full_history(syncs, question, variant, last)
    if question.g is None:
        return Answer(None, "NO_COMMIT")
    store = maker.kafka_store(
        variant.ruleset,
        syncs,
        len(case.loaded),
        checkpoints_readable=variant.start != DENIED,
    )
    offset = store.translate(question.g)
    if offset is None or offset < 0:
        return Answer(offset, "NO_SYNC" if offset is None else "BEFORE_FIRST_SYNC")
    return Answer(offset, maker.guard(last, question.g, offset))


def by_full_history(
    syncs: list[Sync], question: Question, variant: Variant, last: Checkpoint | None
) -> Answer:
    before = question.was_committed_before
    at_ms = COMMITTED_LATE_MS if before is None else syncs[before].at_ms - 1
    translation, reason = full.decide(
        full.fold(syncs, variant.ruleset),
        full.Commit(question.g, at_ms),
        last,
        anchored=variant.is_anchored,
        clamp_first=variant.clamps_first,
    )
    bounds = (translation.lower, translation.upper, translation.reread_max)
    return Answer(translation.offset, reason, *bounds)


@pytest.mark.parametrize(("case", "position", "question", "variant", "expected"), ASKED, ids=IDS)
def test_a_listed_case(
    case: MirrorCase, position: int, question: Question, variant: Variant, expected: Answer
) -> None:
    found = answered(case, question, variant)
    assert found.offset == expected.offset
    assert expected.reason in (None, found.reason)
    if expected.has_bounds:
        assert found == Answer(expected.offset, found.reason, *bounds_of(expected))


def bounds_of(answer: Answer) -> tuple[int | None, int | None, int | None]:
    return answer.lower, answer.upper, answer.reread_max


def test_the_store_of_the_tickets_example() -> None:
    """1.2: its distinct entries at each stage."""
    first, both = syncs_of(FIRST_THOUSAND), syncs_of(FIRST_THOUSAND + SECOND_THOUSAND)
    stages = [
        (first, 0, False, [0, 404, 808, 909, 999]),
        (first, 11, True, [999]),
        (both, 11, True, [999, 1_414, 1_818, 1_919, 1_999]),
        (first, 11, False, [0, 404, 808, 909, 999]),
        (both, 11, False, [0, 808, 1_616, 1_818, 1_919, 1_999]),
    ]
    for syncs, read_at_start, is_pessimistic, expected in stages:
        store = maker.started_store(syncs, read_at_start, must_read_to_end=is_pessimistic)
        assert sorted(one.u for one in store.distinct()) == expected


def test_37_the_store_after_an_optimistic_start() -> None:
    store = maker.started_store(syncs_of(level(*range(0, 1_001, 10))), 101)
    assert sorted(one.u for one in store.distinct()) == [
        0, 480, 720, 840, 900, 960, 990, 1_000,
    ]  # fmt: skip


def test_52_the_invariants_hold_between_all_slots() -> None:
    store = maker.OffsetSyncStore()
    for number, sync in enumerate(syncs_of(level(*range(0, 10_001, 10)))):
        store.add(sync)
        assert store.slots[0] is sync
        if number % 50 and number > 20:
            continue
        for (i, newer), (j, older) in itertools.combinations(enumerate(store.slots), 2):
            assert maker.keeps_b(newer, older, i, j) and maker.keeps_c(newer, older, i)


def lost_by_insert(offsets: list[int]) -> list[int]:
    store, lost = maker.OffsetSyncStore(), []
    before = 0
    for sync in syncs_of(level(*offsets)):
        store.add(sync)
        assert store.slots[-1].u == offsets[0]
        lost.append(before + 1 - len(store.distinct()))
        before = len(store.distinct())
    return lost


@pytest.mark.parametrize("bits", range(1, 17))
def test_53_a_regular_insert_loses_one_sync_at_most(bits: int) -> None:
    step = 2**bits - 1
    for first in range(30):
        assert max(lost_by_insert([first + step * number for number in range(100)])) <= 1


def test_55_two_are_lost_at_most_where_the_step_varies_by_one_bit() -> None:
    chance = random.Random(55)
    steps = [chance.choice([100, 200]) for _ in range(2_000)]
    assert max(lost_by_insert(list(itertools.accumulate(steps)))) <= 2


def test_61_the_last_checkpoint_of_a_key_counts_and_a_malformed_record_is_left_out() -> None:
    records = [
        ("group1", "t1-0", Checkpoint(0, 0)),
        ("group2", "t1-0", Checkpoint(5, 5)),
        None,
        ("group1", "t1-0", Checkpoint(1, 1)),
    ]
    assert maker.loaded_checkpoints(records, {"group1"}) == {"group1": {"t1-0": Checkpoint(1, 1)}}


def test_73_full_history_is_at_most_the_lag_behind() -> None:
    """Every answer is a multiple of 11 = lag 10 + 1, and one more."""
    writer = OffsetSyncWriter(10)
    sent = []
    for offset in range(10_000):
        writer.queue("t1-0", offset, offset)
        sent += writer.fire()
        writer.acknowledge()
    folded = full.fold(syncs_of([(u, d) for _, u, d in sent]))
    for g in range(250, 10_001, 250):
        if g % 11:
            assert full.translate(folded, g).offset == g // 11 * 11 + 1
    assert full.translate(folded, 6_250).offset == 6_249


def test_83_a_sighting_moves_nothing_an_emission_does() -> None:
    task = maker.CheckpointTask()
    key = ("group1", "t1", 0)
    told = [task.offer(key, g, d) for g, d in ((100, 101), (150, 101), (120, 101), (90, 91))]
    assert told == ["EMIT_FIRST", "SKIP_REPEATED", "SKIP_REPEATED", "EMIT_GROUP_REWIND"]
    assert task.emitted[key] == Checkpoint(90, 91)


@pytest.mark.parametrize("case", TARGET_CASES, ids=[case.number for case in TARGET_CASES])
def test_a_listed_target(case: TargetCase) -> None:
    offsets = {"t1-0": case.offset} if case.has_offset else {}
    group = None if case.state is None else TargetGroup(case.state, offsets)
    told = maker.target_write(group, "t1-0", case.checkpoint[1])
    assert told == (case.decision, case.reason)
    written = maker.target_writes(group, {"t1-0": case.checkpoint[1]})
    assert written == ({"t1-0": case.checkpoint[1]} if case.decision == "write" else {})


@pytest.mark.parametrize("number", WRITER_CASES)
def test_the_writer(number: str) -> None:
    lag_max, calls = WRITER_CASES[number]
    state = PartitionState(lag_max)
    for upstream, downstream, is_due, is_kept in calls:
        assert state.update(upstream, downstream) == is_due, (upstream, downstream)
        if not is_kept:
            state.reset()


def test_118_a_sync_waits_for_a_permit() -> None:
    writer = OffsetSyncWriter(1, permits=1)
    writer.queue("t1-0", 0, 100)
    assert writer.fire() == [("t1-0", 0, 100)]
    writer.queue("t1-0", 2, 102)
    assert writer.fire() == []
    assert writer.pending == {"t1-0": (2, 102)}
    writer.acknowledge()
    assert writer.fire() == [("t1-0", 2, 102)]


def test_119_a_delayed_sync_replaces_the_one_that_was_not_sent() -> None:
    writer = OffsetSyncWriter(50)
    writer.queue("t1-0", 0, 100)
    writer.queue("t1-0", 1, 101)
    assert writer.delayed == {"t1-0": (1, 101)}
    writer.promote()
    assert (writer.delayed, writer.pending) == ({}, {"t1-0": (1, 101)})


@pytest.mark.parametrize("topic", NAME_CASES)
def test_124_names(topic: str) -> None:
    assert maker.target_topic(topic, "source1", "target2") == NAME_CASES[topic]


def test_137_reverse() -> None:
    folded = full.fold(syncs_of(REVERSE_SYNCS))
    assert {x: full.upstream_of(folded, x) for x in REVERSE_CASES} == REVERSE_CASES


def test_139_order_of_arrival_changes_nothing() -> None:
    syncs = syncs_of((*level(0, 101, 202), (150, 310), (352, 411), (380, 2)))
    shuffled = random.Random(139).sample(syncs, len(syncs))
    assert full.fold(shuffled) == full.fold(syncs)


def test_140_a_gap_costs_precision_only() -> None:
    syncs = syncs_of(level(0, 100, 200, 300))
    folded = full.fold([*syncs[:1], *syncs[2:]], missing_before=[2])
    assert [one.gap_before for one in folded] == [False, True, False]
    assert [full.translate(folded, g).offset for g in (150, 200, 250)] == [1, 200, 201]


def test_143_the_sync_that_made_a_checkpoint() -> None:
    folded = full.fold(syncs_of(FIRST_THOUSAND))
    for checkpoint, (pair, lost) in EXPLAINED_CASES.items():
        made_by = full.explain(folded, *checkpoint)
        assert made_by is not None and (made_by.u, made_by.d) == pair
        assert full.lost_precision(folded, checkpoint[0], made_by) == lost
    assert full.explain(folded, 500, 500) is None


def test_148_every_third_sync_costs_precision_only() -> None:
    syncs = syncs_of(FIRST_THOUSAND + SECOND_THOUSAND)
    folded, thinned = full.fold(syncs), full.fold(syncs[::3])
    answers: list[tuple[FoldedSync | None, int]] = []
    for g in range(0, 2_001, 50):
        answer, thinner = full.translate(folded, g), full.translate(thinned, g)
        assert answer.offset is not None and thinner.offset is not None
        assert thinner.offset <= answer.offset <= g
        answers.append((answer.proof, answer.offset - thinner.offset))
    assert sum(lost for _, lost in answers) > 0
