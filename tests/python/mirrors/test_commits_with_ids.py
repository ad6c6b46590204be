"""A commit's own topic id says which topic of the name it is of, wherever ids are known (4.2.4)."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import pytest
from mirror_maker import Sync, kafka_store
from mirror_support import (
    CheckpointRecord,
    CommitRecord,
    Key,
    SyncRecord,
    commit_records,
    flow_settings,
    fold_checkpoints,
    fold_syncs,
    translations,
    with_flows,
)
from spark_support import Record, fold_records, fresh, rows
from test_topic_ids import fold_snapshot

from moldau.runs.decide import decide
from moldau.sessions.open_run import open_run
from moldau.sessions.run import Run
from moldau.sessions.session import Session

A, B, C = (base64.urlsafe_b64encode(one * 16).decode().rstrip("=") for one in (b"a", b"b", b"c"))
Syncs = tuple[tuple[int, int, int], ...]  # upstream, downstream, written at
OLD: Syncs = ((0, 0, 100), (100, 100, 200), (200, 200, 300))
NEW: Syncs = ((0, 250, 600), (50, 300, 610), (90, 340, 620))
THIRD: Syncs = ((0, 400, 1_100), (40, 440, 1_110))
KAFKA = "sparse_reads_checkpoints"
LAKE = ("full_history", "full_history_max", "parity")
Answer = tuple[int | None, str | None]  # translated offset, why it is refused
OF_OLD: Answer = (None, "COMMIT_FROM_OLD_INCARNATION")
NO_SYNC: Answer = (None, "NO_SYNC")
RUNS = 3


def at(offset: int) -> Answer:
    return offset, None


@dataclass(frozen=True)
class Commit:
    """Of a group of its own. `topic_id` None: a value before v4. `told`: the answer of each run
    from the one on before which it is loaded (`step`), the last one of all that follow."""

    topic_id: str | None
    offset: int
    at_ms: int
    told: tuple[Answer, ...]
    step: int = 0


@dataclass(frozen=True)
class Case:
    """What is loaded before each run. `others`: rule set -> what it says of each commit at last,
    where it is not what the commits tell."""

    syncs: tuple[Syncs, ...]
    snapshots: tuple[tuple[tuple[str, int], ...], ...]
    commits: tuple[Commit, ...]
    others: Mapping[str, tuple[Answer, ...]] = field(default_factory=dict)


CASES = {
    "between two snapshots": Case(
        (OLD + NEW,),
        (((A, 400),), ((B, 900),)),
        (
            Commit(B, 60, 700, (at(301),)),
            Commit(A, 150, 350, (OF_OLD,)),
            Commit(A, 60, 650, (OF_OLD,)),
            Commit(A, 60, 950, (OF_OLD,)),
            Commit(None, 60, 690, (OF_OLD,)),
            Commit(None, 60, 950, (at(301),)),
        ),
    ),
    "without a snapshot": Case(
        (OLD + NEW,),
        (),
        (
            Commit(A, 150, 350, (OF_OLD,)),
            Commit(B, 60, 700, (at(301),)),
            Commit(A, 60, 950, (OF_OLD,)),
            Commit(None, 60, 500, (OF_OLD,)),
        ),
    ),
    "a third id": Case(
        (OLD + NEW, THIRD),
        (((A, 400), (B, 900)),),
        (
            Commit(B, 60, 1_000, (at(301), OF_OLD)),
            Commit(A, 60, 1_000, (OF_OLD,)),
            Commit(C, 50, 1_200, (at(441),), step=1),
        ),
    ),
    "a third id without syncs": Case(
        (OLD + NEW, (), ((0, 400, 1_300), (40, 440, 1_310))),
        (((A, 400), (B, 900)),),
        (
            Commit(C, 50, 1_200, (NO_SYNC, NO_SYNC, at(441))),
            Commit(B, 60, 1_000, (at(301), at(301), OF_OLD)),
        ),
    ),
    "twice in a row": Case(
        (OLD + NEW + THIRD,),
        (((A, 400),), (), ((C, 1_500),)),
        (
            Commit(B, 60, 700, (OF_OLD,)),
            Commit(C, 50, 1_150, (at(441),)),
            Commit(A, 60, 1_200, (OF_OLD,)),
        ),
    ),
    # a broker that did not know yet took the second one
    "an id that returns": Case(
        (OLD + NEW,),
        (((A, 400), (B, 900)), ((A, 1_000),)),
        (Commit(A, 60, 950, (OF_OLD,)), Commit(B, 60, 700, (at(301),))),
    ),
    "an unknown id while snapshots show another": Case(
        (((0, 0, 910), (50, 50, 920), (90, 90, 930)),),
        (((B, 900), (B, 1_300)),),
        (Commit(B, 60, 950, (at(51),)), Commit(A, 60, 1_000, (OF_OLD,))),
    ),
    "an old id that is loaded late": Case(
        (OLD,),
        ((), ((A, 400),)),
        (Commit(B, 60, 950, (at(1), NO_SYNC)), Commit(A, 60, 350, (at(1),), step=1)),
    ),
    # what goes back is the target, or a replay: the topic is the same
    "a target made anew": Case(
        (((0, 0, 100), (100, 100, 200), (0, 0, 600), (100, 100, 610)),),
        (((A, 400),),),
        (Commit(A, 100, 350, (at(100),)), Commit(None, 100, 350, (OF_OLD,))),
    ),
    "a replay": Case(
        ((*OLD, (150, 300, 600), (250, 400, 610)),),
        (((A, 400), (A, 900)),),
        (Commit(A, 160, 350, (at(101),)), Commit(None, 160, 350, (at(101),))),
        {"full_history_max": (at(301), at(301)), "parity": (at(301), OF_OLD)},
    ),
    "no id at all": Case(
        (OLD + NEW,),
        (),
        (Commit(None, 150, 350, (at(101),)),),
        {"full_history_max": (at(341),), "parity": (OF_OLD,)},
    ),
}


def flows(source: str) -> dict[str, str]:
    return {f"{source} {one}": flow_settings(source, "to", one) for one in (*LAKE, KAFKA)}


def key(source: str, ruleset: str, name: str, place: int) -> Key:
    return f"{source} {ruleset}", f"group {place}", name.replace(" ", "-")


def topics() -> dict[str, Case]:
    return {name.replace(" ", "-"): case for name, case in CASES.items()}


Sighting = tuple[str, str, str, int]  # cluster, topic, id, taken at


def snapshots(source: str, step: int) -> list[list[Sighting]]:
    """Those of one instant at once."""
    taken = [
        (source, topic, *one)
        for topic, case in topics().items()
        for one in (case.snapshots[step] if step < len(case.snapshots) else ())
    ]
    instants = sorted({at_ms for *_, at_ms in taken})
    return [[one for one in taken if one[-1] == instant] for instant in instants]


def syncs(*steps: int) -> list[SyncRecord]:
    return [
        SyncRecord(topic, Sync(u, d, 1_000 * step + place, at_ms))
        for step in steps
        for place, (topic, u, d, at_ms) in enumerate(
            (topic, *one)
            for topic, case in topics().items()
            for one in (case.syncs[step] if step < len(case.syncs) else ())
        )
    ]


def commits(*steps: int) -> list[Record]:
    brought = [
        CommitRecord(f"group {place}", topic, one.offset, one.at_ms, topic_id=one.topic_id)
        for topic, case in topics().items()
        for place, one in enumerate(case.commits)
        if one.step in steps
    ]
    return commit_records(brought, 1_000 * min(steps))


def answers(session: Session, source: str) -> dict[Key, Answer]:
    return {
        name: (one.translated_offset, refusal(one.reason_code))
        for name, one in translations(session, source).items()
    }


def refusal(code: str) -> str | None:
    """None: the offset is an answer, for the first time or again."""
    again = ("SKIP_REPEATED", "REPLAY_CATCHING_UP")
    return None if code.startswith("EMIT_") or code in again else code


@pytest.fixture(scope="module")
def told(session: Session) -> Iterator[list[dict[Key, Answer]]]:
    """What each of the runs says."""
    source = "ids-of-commits"
    session = with_flows(session, flows(source))
    found = []
    for step in range(RUNS):
        for taken in snapshots(source, step):
            fold_snapshot(fresh(session), taken)
        if brought := syncs(step):
            fold_syncs(fresh(session), {(source, "to"): brought})
        if committed := commits(step):
            fold_records(fresh(session), {source: committed})
        decide(fresh(session), "translate", [source], 5_000 + step, is_dry_run=False)
        found.append(answers(session, source))
    yield found


def wanted(case: Case, ruleset: str, place: int, run: int) -> Answer | None:
    """None: the group has not committed yet."""
    commit = case.commits[place]
    if ruleset in case.others:
        return case.others[ruleset][place]
    told = commit.told
    return told[min(run - commit.step, len(told) - 1)] if run >= commit.step else None


@pytest.mark.parametrize("name", CASES)
def test_a_commit_is_of_the_topic_whose_id_it_carries(
    told: list[dict[Key, Answer]], name: str
) -> None:
    case = CASES[name]
    for run, found in enumerate(told):
        for ruleset in LAKE:
            for place, commit in enumerate(case.commits):
                answer = found.get(key("ids-of-commits", ruleset, name, place))
                assert answer == wanted(case, ruleset, place, run), (run, ruleset, commit)


@pytest.mark.parametrize("name", CASES)
def test_mirror_maker_knows_no_ids(told: list[dict[Key, Answer]], name: str) -> None:
    case = CASES[name]
    for run, found in enumerate(told):
        syncs = [Sync(u, d) for several in case.syncs[: run + 1] for u, d, _ in several]
        store = kafka_store(KAFKA, syncs)
        for place, commit in enumerate(case.commits):
            if run >= commit.step:
                answer = found[key("ids-of-commits", KAFKA, name, place)]
                assert answer[0] == store.translate(commit.offset), (run, commit)


def test_what_stands_is_what_would_be_decided_anew(
    told: list[dict[Key, Answer]], session: Session
) -> None:
    """Also where a newly loaded id alone changed the answer."""
    session = with_flows(session, flows("ids-of-commits"))
    scope = ["ids-of-commits"]
    open_run(session, Run("99999999-compare", "compare", scope, 9_000, is_dry_run=True))
    session.make_views("int_mirrors__decisions_reasoned")
    reasoned = rows(
        session,
        "select flow, group_id, topic_name, translated_offset, reason_code "
        "from intermediate.int_mirrors__offset_translations_reasoned",
    )
    anew = {
        (flow, group, topic): (offset, refusal(code))
        for flow, group, topic, offset, code in reasoned
    }
    assert anew == told[-1]


def test_a_checkpoint_goes_with_its_sync(session: Session) -> None:
    """What a newly seen id makes a sync of another topic, it makes a checkpoint that comes from
    it."""
    source = "ids-of-checkpoints"
    session = with_flows(session, flows(source))
    numbered = [
        SyncRecord("checkpointed", Sync(u, d, at, at_ms))
        for at, (u, d, at_ms) in enumerate(OLD + NEW)
    ]
    fold_syncs(session, {(source, "to"): numbered})
    checkpoints = [
        CheckpointRecord("new", f"{source}.checkpointed", 60, 301, 650),
        CheckpointRecord("old", f"{source}.checkpointed", 150, 101, 350),
    ]
    fold_checkpoints(fresh(session), {(source, "to"): checkpoints})
    fold_snapshot(fresh(session), [(source, "checkpointed", A, 400)])
    brought = [
        CommitRecord("new", "checkpointed", 60, 700, topic_id=B),
        CommitRecord("old", "checkpointed", 60, 950),
    ]
    fold_records(fresh(session), {source: commit_records(brought)})
    decide(fresh(session), "translate", [source], 5_000, is_dry_run=False)
    found = translations(session, source)
    for ruleset in LAKE:
        told = {
            group: found[f"{source} {ruleset}", group, "checkpointed"].reason_code
            for group in ("new", "old")
        }
        assert told == {"new": "SKIP_REPEATED", "old": "EMIT_NEW_INCARNATION"}, ruleset
