"""Nothing is offered that is known to lead too far, or into another source or target.

Each topic is a case, of a group of its name.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pytest
from mirror_maker import Sync
from mirror_support import (
    CheckpointRecord,
    CommitRecord,
    Mirror,
    SyncRecord,
    commit_records,
    flow_settings,
    fold_checkpoints,
    fold_syncs,
    kept_snapshot,
    with_flows,
)
from spark_support import Record, fold, fold_records, fresh, mart, rows

from moldau.reading.explain.mirrors import explain_translation
from moldau.reading.explain.mirrors_words import translation_in_words
from moldau.reading.explain.reset_plan import reset_plan
from moldau.reading.health.doctor import examine
from moldau.runs.decide import decide
from moldau.sessions.open_run import open_run
from moldau.sessions.run import Run
from moldau.sessions.session import Session

SOURCE, FLOW, ONCE = "offers", "offers", "offers-once"
OLD, NEW = "old", "new"  # incarnations of a topic, which have an id each
FIRST_MS, SECOND_MS = SNAPSHOTS_MS = 2_000, 5_000
END, BOUND = "WOULD_EXCEED_TARGET_END", "CHECKPOINT_PAST_UPPER_BOUND"
CHECKPOINT_OF_OLD, SYNC_OF_OLD = "CHECKPOINT_FROM_OLD_INCARNATION", "SYNC_FROM_OLD_INCARNATION"


@dataclass(frozen=True)
class End:
    """What a broker tells of a topic in a snapshot."""

    offset: int
    incarnation: str | None = OLD  # None = no id is told
    epoch: int = 0
    is_leader: bool = True


@dataclass(frozen=True)
class Case:
    """`syncs`: (upstream, downstream, at); `expected`: reason and offset after each step."""

    commit: int
    checkpoint: tuple[int, int] | None
    expected: Sequence[tuple[str, int]]
    syncs: Sequence[tuple[int, int, int]] = ()
    first: Sequence[End] = ()
    second: Sequence[End] = ()
    later: Sequence[tuple[int, int, int]] = ()
    later_commit: int | None = None
    checkpointed_ms: int = 1_500


def always(reason: str, offset: int) -> list[tuple[str, int]]:
    return [(reason, offset)] * 3


TWO = ((0, 0, 1_000), (200, 200, 1_001))
OFFERED = "TARGET_ABSENT"
CASES = {
    # no sync at all: MirrorMaker's word against the target's end
    "past-end": Case(1234, (1234, 1234), always(END, 1234), first=[End(0)], second=[End(0)]),
    "at-end": Case(7, (7, 7), always(OFFERED, 7), first=[End(7)], second=[End(7)]),
    "grows": Case(
        7, (7, 7), [(END, 7), (OFFERED, 7), (OFFERED, 7)], first=[End(6)], second=[End(7)]
    ),
    "end-unknown": Case(7, (7, 7), always(OFFERED, 7)),
    "followers": Case(
        7, (7, 7), always(OFFERED, 7),
        first=[End(0, is_leader=False)], second=[End(1, is_leader=False), End(0, is_leader=False)],
    ),
    "leaders": Case(
        7, (7, 7), [(END, 7), (OFFERED, 7), (OFFERED, 7)],
        first=[End(9, epoch=3), End(5, epoch=5)], second=[End(9, epoch=6), End(5, epoch=5)],
    ),
    # a sync proves it, and is younger than the end
    "has-grown": Case(
        150, (150, 201), always(OFFERED, 201), syncs=[(100, 200, 3_000)], first=[End(50)],
        second=[End(500)],
    ),
    "ends-early": Case(
        150, (150, 201), [(END, 201), (END, 201), (END, 201)], syncs=[(100, 200, 1_000)],
        first=[End(150)], second=[End(150)],
    ),
    # past what the commit can be
    "past-bound": Case(
        50, (50, 90), always(BOUND, 90), syncs=[(0, 0, 1_000), (100, 100, 1_001)],
        first=[End(500)], second=[End(500)],
    ),
    "at-bound": Case(
        50, (50, 50), always(OFFERED, 50), syncs=[(0, 0, 1_000), (100, 100, 1_001)],
        first=[End(500)], second=[End(500)],
    ),
    # the translation has no bound, and the next synced record has its place
    "before-first": Case(
        300, (300, 900), always(BOUND, 900), syncs=[(400, 400, 1_000), (500, 500, 1_001)],
        first=[End(1_000)], second=[End(1_000)],
    ),
    "near-first": Case(
        300, (300, 350), always(OFFERED, 350), syncs=[(400, 400, 1_000), (500, 500, 1_001)],
        first=[End(1_000)], second=[End(1_000)],
    ),
    "behind-surplus": Case(
        500, (500, 4_000), always(BOUND, 4_000),
        syncs=[(100 * i, 101 * i, 1_000 + i) for i in range(41)],
        first=[End(4_100)], second=[End(4_100)],
    ),
    "went-back": Case(
        50, (120, 101), always(BOUND, 101), syncs=[(100, 100, 1_000)], second=[End(500)]
    ),
    # another target by its id, without one, or since it is gone
    "anew": Case(
        250, (250, 201), [(OFFERED, 201), (CHECKPOINT_OF_OLD, 201), (CHECKPOINT_OF_OLD, 201)],
        syncs=TWO, first=[End(300)], second=[End(500, NEW)],
    ),
    "anew-own": Case(
        250, None, [(OFFERED, 201), (CHECKPOINT_OF_OLD, 201), (CHECKPOINT_OF_OLD, 201)],
        syncs=TWO, first=[End(300)], second=[End(500, NEW)],
    ),
    "anew-without-syncs": Case(
        7, (7, 7), [(OFFERED, 7), (CHECKPOINT_OF_OLD, 7), (CHECKPOINT_OF_OLD, 7)],
        first=[End(10)], second=[End(10, NEW)],
    ),
    "checkpoint-since": Case(
        7, (7, 7), always(OFFERED, 7), first=[End(10)], second=[End(10, NEW)],
        checkpointed_ms=6_000,
    ),
    "gone": Case(
        250, (250, 201), [(OFFERED, 201), (CHECKPOINT_OF_OLD, 201), (CHECKPOINT_OF_OLD, 201)],
        syncs=TWO, first=[End(300)],
    ),
    "cut-without-ids": Case(
        50, (50, 2), [(OFFERED, 2), (CHECKPOINT_OF_OLD, 2), (CHECKPOINT_OF_OLD, 2)],
        syncs=TWO, first=[End(300, None)], second=[End(200, None)],
    ),
    "cut-of-same-id": Case(
        50, None, always(OFFERED, 50),
        syncs=[(0, 0, 1_000), (50, 50, 1_001), (200, 200, 2_500)], first=[End(150)],
        second=[End(150)],
    ),
    "stepped-back": Case(
        7, (7, 7), always(CHECKPOINT_OF_OLD, 7), syncs=[*TWO, (300, 10, 1_600)],
    ),
    # the new target is mirrored
    "anew-and-synced": Case(
        250, (250, 201), [(OFFERED, 201), (CHECKPOINT_OF_OLD, 201), (OFFERED, 21)],
        syncs=TWO, first=[End(300)], second=[End(500, NEW)], later=[(300, 20, 6_000)],
        later_commit=350,
    ),
    "anew-and-beyond": Case(
        250, (250, 201), [(OFFERED, 201), (CHECKPOINT_OF_OLD, 201), (OFFERED, 391)],
        syncs=TWO, first=[End(300)], second=[End(500, NEW)], later=[(400, 390, 6_000)],
        later_commit=450,
    ),
    "anew-unread": Case(
        250, (250, 201), [(OFFERED, 201), (CHECKPOINT_OF_OLD, 201), (CHECKPOINT_OF_OLD, 201)],
        syncs=TWO, first=[End(300)], second=[End(500, NEW)], later=[(300, 400, 6_000)],
    ),
}  # fmt: skip
# the target gains more than the source: commit, syncs, and where nothing waits
GAINS = {
    "markers": (500, [(100 * i, 101 * i) for i in range(8)], 505),
    "foreign": (350, [(0, 0), (100, 103), (200, 250), (300, 351)], 352),
    "one-step": (150, [(0, 0), (100, 101)], 102),
    "before-it": (50, [(0, 0), (100, 101), (200, 202)], None),
    "caught-up": (250, [(0, 0), (100, 150), (200, 250), (300, 350)], None),
    "replayed": (250, [(0, 0), (100, 100), (200, 200), (150, 210)], None),
}


def mirror(source: str) -> Mirror:
    return source, f"{source}-to"


def flows(source: str) -> dict[str, str]:
    """One that knows of a surplus, and one that writes exactly once."""
    once = {"exactly.once.source.support": "enabled"}
    return {
        source: flow_settings(*mirror(source), "full_history"),
        f"{source}-once": flow_settings(*mirror(source), "full_history", **once),
    }


def topic_id(topic: str, incarnation: str | None) -> str | None:
    if incarnation is None:
        return None
    uuid = hashlib.md5(f"{topic} {incarnation}".encode()).digest()
    return base64.urlsafe_b64encode(uuid).decode().rstrip("=")


def snapshot(source: str, at_ms: int) -> pa.Table:
    """Of the target, with a topic that is in no case."""
    cases = CASES.items()
    ends = {topic: case.first if at_ms == FIRST_MS else case.second for topic, case in cases}
    ends |= {"bystander": [End(1)]}
    several = [(topic, i, end) for topic, told in ends.items() for i, end in enumerate(told)]
    text, whole, short = pa.string(), pa.int64(), pa.int32()
    count = len(several)
    offsets = pa.array([end.offset for *_, end in several], whole)
    names = ("last_stable_offset", "high_watermark", "log_end_offset")
    return pa.table(
        {
            "cluster_id": pa.array([mirror(source)[1]] * count, text),
            "topic_name": pa.array([f"{source}.{topic}" for topic, *_ in several], text),
            "partition_index": pa.array([0] * count, short),
            "broker_id": pa.array([broker for _, broker, _ in several], short),
            "topic_id": pa.array(
                [topic_id(topic, end.incarnation) for topic, _, end in several], text
            ),
            "leader_epoch": pa.array([end.epoch for *_, end in several], short),
            "is_leader": pa.array([end.is_leader for *_, end in several]),
            "taken_at_ms": pa.array([at_ms] * count, whole),
            "log_start_offset": pa.array([0] * count, whole),
            "local_log_start_offset": pa.array([0] * count, whole),
            "latest_tiered_offset": pa.nulls(count, whole),
        }
        | dict.fromkeys(names, offsets)
    )


@dataclass
class Told:
    writes: list[dict[str, tuple[Any, ...]]] = field(default_factory=list)  # a step each
    plans: list[str] = field(default_factory=list)
    readiness: list[dict[str, dict[str, Any]]] = field(default_factory=list)
    words: list[dict[str, str]] = field(default_factory=list)
    once: dict[str, dict[str, Any]] = field(default_factory=dict)


def brought(*, is_later: bool) -> tuple[list[SyncRecord], list[Record]]:
    """Syncs of the source's topics, and commits on it."""
    syncs, commits, placed = [], [], 1_000 if is_later else 0
    for topic, case in CASES.items():
        for u, d, at_ms in case.later if is_later else case.syncs:
            syncs.append(SyncRecord(topic, Sync(u, d, placed + len(syncs), at_ms)))
        offset = case.later_commit if is_later else case.commit
        if offset is not None:
            commits.append(CommitRecord(topic, topic, offset, 6_500 if is_later else 1_700))
    for topic, (commit, pairs, _) in {} if is_later else GAINS.items():
        syncs += [
            SyncRecord(topic, Sync(u, d, placed + len(syncs) + i, 1_000 + i))
            for i, (u, d) in enumerate(pairs)
        ]
        commits.append(CommitRecord(topic, topic, commit, 1_700))
    return syncs, commit_records(commits, first_log_offset=placed)


def bring(session: Session, *, is_later: bool) -> None:
    syncs, commits = brought(is_later=is_later)
    fold_syncs(session, {mirror(SOURCE): syncs})
    fold_records(session, {SOURCE: commits})


def checkpoints(source: str) -> list[CheckpointRecord]:
    return [
        CheckpointRecord(topic, f"{source}.{topic}", *case.checkpoint, case.checkpointed_ms)
        for topic, case in CASES.items()
        if case.checkpoint
    ]


def writes(session: Session, flow: str) -> dict[str, tuple[Any, ...]]:
    """Of each group: run, decision, reason and offset."""
    found = rows(
        session,
        "select group_id, run_id, decision, reason_code, to_offset "
        f"from decisions.target_offset_writes where flow = '{flow}'",
    )
    return {group: tuple(rest) for group, *rest in found}


def written(expected: tuple[str, int]) -> tuple[str, str, int]:
    reason, offset = expected
    return "write" if reason == OFFERED else "skip", reason, offset


def tell(session: Session, told: Told, at_ms: int) -> None:
    decide(fresh(session), "translate", [SOURCE], at_ms, is_dry_run=False)
    told.writes.append(writes(session, FLOW))
    told.plans.append(reset_plan(session.warehouse, FLOW, None, is_back=False).text)
    readiness = mart(session, "failover_readiness")
    told.readiness.append({row["group_id"]: row for row in readiness if row["flow"] == FLOW})
    told.once = {row["group_id"]: row for row in readiness if row["flow"] == ONCE}
    told.words.append({one: words(session, one) for one in asked(told)})


def asked(told: Told) -> list[str]:
    """Groups whose answer is another one than before, which takes a while each."""
    before, now = [{}, *told.writes][-2:]
    changed = {group for group, row in now.items() if row[1:] != before.get(group, ())[1:]}
    first = [] if before else [*GAINS]
    return [*sorted(changed & CASES.keys()), *first]


def words(session: Session, group: str) -> str:
    subject = f"translation {group} {group}-0 of {FLOW}"
    found = explain_translation(session.warehouse, subject, None)
    assert found
    return "\n".join(translation_in_words(found))


@pytest.fixture(scope="module")
def told(session: Session) -> Iterator[Told]:
    configured = with_flows(session, flows(SOURCE))
    found = Told()
    bring(configured, is_later=False)
    fold_checkpoints(configured, {mirror(SOURCE): checkpoints(SOURCE)})
    for step, at_ms in enumerate((FIRST_MS, SECOND_MS, 0)):
        if at_ms:
            ends = kept_snapshot(session, snapshot(SOURCE, at_ms))
            fold(fresh(configured), [mirror(SOURCE)[1]], ends, "partition_states")
        else:
            bring(fresh(configured), is_later=True)
        tell(configured, found, 10_000 + step)
    tell(configured, found, 20_000)  # nothing has changed since
    yield found


@pytest.mark.parametrize("group", CASES)
def test_what_is_refused_has_its_reason(told: Told, group: str) -> None:
    found = [step[group][1:] for step in told.writes[:3]]
    assert found == [written(one) for one in CASES[group].expected]


@pytest.mark.parametrize("group", CASES)
def test_the_plan_readiness_and_explain_say_the_same(told: Told, group: str) -> None:
    for step, (reason, offset) in enumerate(CASES[group].expected):
        is_offered = reason == OFFERED
        line = f"{group},{SOURCE}.{group},0,{offset}"
        assert (line in told.plans[step].splitlines()) == is_offered
        ready = told.readiness[step][group]
        assert ready["is_ready"] == is_offered
        assert dict(ready["blocked_by_reason"]) == ({} if is_offered else {reason: 1})
        if group in told.words[step]:
            assert (f"is refused ({reason})" in told.words[step][group]) != is_offered


def test_an_older_sync_translates_nothing_in_a_new_target(told: Told) -> None:
    _, second, third, _ = told.words
    for group in ("anew", "anew-own", "gone", "anew-and-synced", "anew-and-beyond"):
        assert f"skip ({SYNC_OF_OLD})" in second[group], group
    assert "next: a sync of anew-0 that is of" in second["anew"]
    for group in ("anew-and-synced", "anew-and-beyond"):
        assert "emit (EMIT_NEW_INCARNATION)" in third[group]


def test_what_did_not_change_keeps_its_run(told: Told) -> None:
    """Not even a group whose refusal stands; an end that moves further changes no answer."""
    assert told.writes[3] == told.writes[2]
    kept = {group for group, case in CASES.items() if len({*case.expected}) == 1}
    for group in kept - {"checkpoint-since"}:
        assert {step[group][0] for step in told.writes} == {told.writes[0][group][0]}, group


@pytest.mark.parametrize("group", GAINS)
def test_an_answer_that_stands_still_for_a_surplus_is_told(told: Told, group: str) -> None:
    _, pairs, waiting = GAINS[group]
    ready, explained = told.readiness[0][group], told.words[0][group]
    gained = pairs[-1][1] - pairs[-1][0]
    is_waiting = waiting is not None
    assert ready["is_ready"] is not is_waiting
    assert dict(ready["blocked_by_reason"]) == ({"TARGET_HAS_SURPLUS": 1} if is_waiting else {})
    assert ("stands still at 1 instead of" in explained) == is_waiting
    if is_waiting:
        assert ready["surplus_offsets"] == gained
        assert "exactly.once.source.support: enabled" in ready["advice"]
        assert f"instead of {waiting}: " in explained and f"by {gained} more in" in explained
        assert "`exactly.once.source.support: enabled`" in explained
    else:
        assert ready["surplus_offsets"] is None and ready["advice"] is None
    assert (group == "replayed") == ("surplus:" not in explained)


def test_doctor_names_the_partitions_and_the_setting(told: Told, session: Session) -> None:
    found = {
        one.message.split("-0 of ")[0]: one
        for one in examine(session.warehouse)
        if one.check == "mirror_surplus" and f" of {FLOW}: " in one.message
    }
    assert found.keys() & GAINS.keys() == GAINS.keys() - {"replayed"}
    is_fine = {group for group, one in found.items() if one.is_fine}
    assert is_fine == {"caught-up"}
    for one in found.values():
        assert "`exactly.once.source.support: enabled`" in one.message


def test_a_flow_that_writes_exactly_once_waits_for_no_surplus(told: Told) -> None:
    for group in GAINS:
        assert told.once[group]["is_ready"], group


def test_what_stands_is_what_would_be_decided_anew(told: Told, session: Session) -> None:
    session = with_flows(session, flows(SOURCE))
    scope = [*mirror(SOURCE)]
    open_run(session, Run("99999999-compare", "compare", scope, 30_000, is_dry_run=True))
    session.make_views("int_mirrors__decisions_reasoned")
    found = rows(
        session,
        "select group_id, decision, reason_code, to_offset "
        "from intermediate.int_mirrors__target_offset_writes_reasoned "
        f"where flow = '{FLOW}'",
    )
    assert {group: tuple(rest) for group, *rest in found} == {
        group: row[1:] for group, row in told.writes[-1].items()
    }
