"""Nothing is offered that is known to lead too far, or into another source or target.

Each topic is a case, of a group of its name; both engines decide about clusters of their own.
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
    SyncRecord,
    commit_records,
    flow_settings,
    fold_checkpoints,
    fold_syncs,
    with_flows,
)
from spark_support import change, fold, fold_records, fresh, in_spark, mart, parquet_of, rows

from moldau.reading.doctor import examine
from moldau.reading.explain_translation import explain_translation
from moldau.reading.explain_translation_words import translation_in_words
from moldau.reading.reset_plan import reset_plan
from moldau.runs.decide import decide
from moldau.sessions.run import Run, open_run
from moldau.sessions.session import Session

ENGINES = pytest.mark.parametrize("engine", ["duckdb", "spark"])
OLD, NEW = "old", "new"  # incarnations of a topic, which have an id each
FIRST_MS, SECOND_MS = 2_000, 5_000  # of the snapshots
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


def source(engine: str) -> str:
    return f"offers-{engine}"


def target(engine: str) -> str:
    return f"offers-{engine}-to"


def flows() -> dict[str, str]:
    once = {"exactly.once.source.support": "enabled"}
    found = {}
    for engine in ("duckdb", "spark"):
        mirror = source(engine), target(engine)
        found[f"offers-{engine}"] = flow_settings(*mirror, "full_history")
        found[f"once-{engine}"] = flow_settings(*mirror, "full_history", **once)
    return found


def topic_id(topic: str, incarnation: str | None) -> str | None:
    if incarnation is None:
        return None
    uuid = hashlib.md5(f"{topic} {incarnation}".encode()).digest()
    return base64.urlsafe_b64encode(uuid).decode().rstrip("=")


def snapshot(ends: dict[str, Sequence[End]], at_ms: int, engine: str) -> pa.Table:
    several = [(topic, i, end) for topic, told in ends.items() for i, end in enumerate(told)]
    text, whole, short = pa.string(), pa.int64(), pa.int32()
    count = len(several)
    offsets = pa.array([end.offset for *_, end in several], whole)
    names = ("last_stable_offset", "high_watermark", "log_end_offset")
    return pa.table(
        {
            "cluster_id": pa.array([target(engine)] * count, text),
            "topic_name": pa.array([f"{source(engine)}.{topic}" for topic, *_ in several], text),
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
        }
        | dict.fromkeys(names, offsets)
    )


def fold_ends(session: Session, ends: dict[str, Sequence[End]], at_ms: int, engine: str) -> None:
    """As a load does, which keeps every snapshot in raw."""
    relation = parquet_of(session, snapshot(ends, at_ms, engine))
    change(
        session,
        f"insert into raw.partition_states by name select *, '{at_ms:08d}-load' as run_id "
        f"from {relation}",
    )
    fold(session, [target(engine)], f"select * from {relation}", "partition_states")


@dataclass
class Told:
    writes: list[dict[str, tuple[Any, ...]]] = field(default_factory=list)  # a step each
    plans: list[str] = field(default_factory=list)
    readiness: list[dict[str, dict[str, Any]]] = field(default_factory=list)
    words: list[dict[str, str]] = field(default_factory=list)
    once: dict[str, dict[str, Any]] = field(default_factory=dict)


def bring(session: Session, *, is_later: bool) -> None:
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
    names = ("duckdb", "spark")
    fold_syncs(session, {(source(engine), target(engine)): syncs for engine in names})
    records = commit_records(commits, first_log_offset=placed)
    fold_records(session, {source(engine): records for engine in names})


def tell(session: Session, engine: str, told: Told, at_ms: int) -> None:
    ours = in_spark(session) if engine == "spark" else session
    decide(fresh(ours), "translate", [source(engine)], at_ms, is_dry_run=False)
    flow = f"offers-{engine}"
    found = rows(
        session,
        "select group_id, run_id, decision, reason_code, to_offset "
        f"from decisions.target_offset_writes where flow = '{flow}'",
    )
    told.writes.append({group: tuple(rest) for group, *rest in found})
    told.plans.append(reset_plan(session.warehouse, flow, None, is_back=False).text)
    readiness = mart(session, "failover_readiness")
    told.readiness.append({row["group_id"]: row for row in readiness if row["flow"] == flow})
    told.once = {row["group_id"]: row for row in readiness if row["flow"] == f"once-{engine}"}
    told.words.append(
        {} if engine == "spark" else {one: words(session, one, flow) for one in asked(told)}
    )


def asked(told: Told) -> list[str]:
    """Groups whose answer is another one than before, which takes a while each."""
    before, now = [{}, *told.writes][-2:]
    changed = {group for group, row in now.items() if row[1:] != before.get(group, ())[1:]}
    first = [] if before else [*GAINS]
    return [*sorted(changed & CASES.keys()), *first]


def words(session: Session, group: str, flow: str) -> str:
    subject = f"translation {group} {group}-0 of {flow}"
    found = explain_translation(session.warehouse, subject, None)
    assert found
    return "\n".join(translation_in_words(found))


@pytest.fixture(scope="module")
def told(session: Session) -> Iterator[dict[str, Told]]:
    configured = with_flows(session, flows())
    found = {"duckdb": Told(), "spark": Told()}
    bring(configured, is_later=False)
    checkpoints = {
        (source(engine), target(engine)): [
            CheckpointRecord(
                topic, f"{source(engine)}.{topic}", *case.checkpoint, case.checkpointed_ms
            )
            for topic, case in CASES.items()
            if case.checkpoint
        ]
        for engine in found
    }
    fold_checkpoints(configured, checkpoints)
    for step, at_ms in enumerate((FIRST_MS, SECOND_MS, 0)):
        for engine in found:
            ours = in_spark(configured) if engine == "spark" else configured
            if at_ms:
                ends = {
                    topic: case.first if at_ms == FIRST_MS else case.second
                    for topic, case in CASES.items()
                }
                fold_ends(fresh(ours), ends | {"bystander": [End(1)]}, at_ms, engine)
        if not at_ms:
            bring(fresh(configured), is_later=True)
        for engine, one in found.items():
            tell(configured, engine, one, 10_000 + step)
    tell(configured, "duckdb", found["duckdb"], 20_000)  # nothing has changed since
    yield found


@ENGINES
@pytest.mark.parametrize("group", CASES)
def test_what_is_refused_has_its_reason(told: dict[str, Told], engine: str, group: str) -> None:
    found = [step[group][1:] for step in told[engine].writes[:3]]
    assert found == [
        ("write" if reason == OFFERED else "skip", reason, offset)
        for reason, offset in CASES[group].expected
    ]


@ENGINES
@pytest.mark.parametrize("group", CASES)
def test_the_plan_readiness_and_explain_say_the_same(
    told: dict[str, Told], engine: str, group: str
) -> None:
    one = told[engine]
    for step, (reason, offset) in enumerate(CASES[group].expected):
        is_offered = reason == OFFERED
        line = f"{group},{source(engine)}.{group},0,{offset}"
        assert (line in one.plans[step].splitlines()) == is_offered
        ready = one.readiness[step][group]
        assert ready["is_ready"] == is_offered
        assert dict(ready["blocked_by_reason"]) == ({} if is_offered else {reason: 1})
        if group in one.words[step]:
            assert (f"is refused ({reason})" in one.words[step][group]) != is_offered


def test_an_older_sync_translates_nothing_in_a_new_target(told: dict[str, Told]) -> None:
    _, second, third, _ = told["duckdb"].words
    for group in ("anew", "anew-own", "gone", "anew-and-synced", "anew-and-beyond"):
        assert f"skip ({SYNC_OF_OLD})" in second[group], group
    assert "next: a sync of anew-0 that is of" in second["anew"]
    for group in ("anew-and-synced", "anew-and-beyond"):
        assert "emit (EMIT_NEW_INCARNATION)" in third[group]


@ENGINES
def test_what_did_not_change_keeps_its_run(told: dict[str, Told], engine: str) -> None:
    """Not even a group whose refusal stands; an end that moves further changes no answer."""
    one = told[engine]
    if engine == "duckdb":
        assert one.writes[3] == one.writes[2]
    kept = {group for group, case in CASES.items() if len({*case.expected}) == 1}
    for group in kept - {"checkpoint-since"}:
        assert {step[group][0] for step in one.writes} == {one.writes[0][group][0]}, group


@ENGINES
@pytest.mark.parametrize("group", GAINS)
def test_an_answer_that_stands_still_for_a_surplus_is_told(
    told: dict[str, Told], engine: str, group: str
) -> None:
    _, pairs, waiting = GAINS[group]
    one = told[engine]
    ready, explained = one.readiness[0][group], told["duckdb"].words[0][group]
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


@ENGINES
def test_doctor_names_the_partitions_and_the_setting(
    told: dict[str, Told], session: Session, engine: str
) -> None:
    found = {
        one.message.split("-0 of ")[0]: one
        for one in examine(session.warehouse)
        if one.check == "mirror_surplus" and f" of offers-{engine}: " in one.message
    }
    assert found.keys() & GAINS.keys() == GAINS.keys() - {"replayed"}
    is_fine = {group for group, one in found.items() if one.is_fine}
    assert is_fine == {"caught-up"}
    for one in found.values():
        assert "`exactly.once.source.support: enabled`" in one.message


@ENGINES
def test_a_flow_that_writes_exactly_once_waits_for_no_surplus(
    told: dict[str, Told], engine: str
) -> None:
    for group in GAINS:
        assert told[engine].once[group]["is_ready"], group


@ENGINES
def test_what_stands_is_what_would_be_decided_anew(
    told: dict[str, Told], session: Session, engine: str
) -> None:
    session = with_flows(session, flows())
    scope = [source(engine), target(engine)]
    open_run(session, Run("99999999-compare", "compare", scope, 30_000, is_dry_run=True))
    session.make_views("int_mirrors__decisions_reasoned")
    found = rows(
        session,
        "select group_id, decision, reason_code, to_offset "
        "from intermediate.int_mirrors__target_offset_writes_reasoned "
        f"where flow = 'offers-{engine}'",
    )
    assert {group: tuple(rest) for group, *rest in found} == {
        group: row[1:] for group, row in told[engine].writes[-1].items()
    }


def test_the_engines_say_the_same(told: dict[str, Told]) -> None:
    def of(engine: str) -> list[dict[str, tuple[Any, ...]]]:
        return [{group: row[1:] for group, row in step.items()} for step in told[engine].writes[:3]]

    assert of("duckdb") == of("spark")
