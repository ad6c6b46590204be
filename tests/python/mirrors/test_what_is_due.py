"""Runs decide what changed, and what stands in the end is what would be decided anew."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from encode import encode_value
from log_support import FAMILY, Log
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
from spark_support import fold_records, fresh, rows

from moldau.runs.decide import decide
from moldau.sessions.open_run import open_run
from moldau.sessions.run import Run
from moldau.sessions.session import Session

FLOW, SOURCE, TARGET = "due", "due-source", "due-target"
GROUPS = ("ahead", "busy", "calm", "moves", "without commit")
Row = tuple[Any, ...]
Told = dict[str, dict[str, Row]]  # step -> group -> (run that decided, reason, from, to)
WRITES = "group_id, reason_code, from_offset, to_offset"


def synced(*pairs: tuple[int, int], first: int = 0) -> list[SyncRecord]:
    return [
        SyncRecord("t", Sync(u, d, offset, offset)) for offset, (u, d) in enumerate(pairs, first)
    ]


def written(session: Session) -> dict[str, Row]:
    statement = f"select run_id, {WRITES} from decisions.target_offset_writes where flow = '{FLOW}'"
    found = {group: (run_id, *rest) for run_id, group, *rest in rows(session, statement)}
    assert len(found) == len(rows(session, statement))
    return found


def reasons(session: Session) -> Row:
    """Of the groups at 150, whose commit and answer stay as they are."""
    statement = (
        "select group_id, reason_code from decisions.offset_translations "
        f"where flow = '{FLOW}' and upstream_offset = 150 order by 1"
    )
    return tuple(rows(session, statement))


@pytest.fixture(scope="module")
def told(session: Session) -> Iterator[Told]:
    session = with_flows(session, {FLOW: flow_settings(SOURCE, TARGET, "full_history")})
    there = Log()
    mirror = SOURCE, TARGET
    found: Told = {}

    def translate(step: str) -> None:
        decide(fresh(session), "translate", [SOURCE], 1_000 + len(found), is_dry_run=False)
        found[step] = written(session)

    fold_syncs(session, {mirror: synced((0, 0), (100, 50), (200, 150))})
    commits = [CommitRecord(group, "t", 150, 9) for group in GROUPS[:-1]]
    other = CommitRecord(GROUPS[-1], "other", 1, 9)  # of a topic that has no sync
    fold_records(session, {SOURCE: commit_records([*commits, other])})
    emitted = CheckpointRecord(GROUPS[-1], f"{SOURCE}.t", 100, 50)
    fold_checkpoints(session, {mirror: [emitted]})
    translate("first")
    translate("idle")
    there.commit("ahead", f"{SOURCE}.t", offset=60)
    there.member("busy", kind=5)
    there.add(there.group_key("busy", 3), encode_value(FAMILY, 3, 0, {"epoch": 5}))
    fold_records(session, {TARGET: there.records})
    translate("target changed")
    moved = CommitRecord("moves", "t", 200, 10)
    fold_records(session, {SOURCE: commit_records([moved], first_log_offset=10)})
    translate("commit changed")
    found["reasons"] = {"before": reasons(session)}
    fold_syncs(session, {mirror: synced((300, 250), first=3)})
    translate("sync behind all groups")
    found["reasons"]["after"] = reasons(session)
    fold_syncs(session, {mirror: synced((400, 5), first=4)})  # the target began anew
    translate("target began anew")
    yield found


def decided_in(told: Told, step: str) -> set[str]:
    """Groups whose row is another one than before the step."""
    steps = list(told)
    before = told[steps[steps.index(step) - 1]]
    now = told[step]
    return {group for group in before.keys() | now.keys() if before.get(group) != now.get(group)}


def test_every_group_is_decided_once(told: Told) -> None:
    first = {group: row[1:] for group, row in told["first"].items()}
    of_commits = dict.fromkeys(GROUPS[:-1], ("TARGET_ABSENT", None, 51))
    assert first == of_commits | {GROUPS[-1]: ("TARGET_ABSENT", None, 50)}
    assert told["idle"] == told["first"]


def test_a_group_of_the_target_is_decided_when_it_changes(told: Told) -> None:
    assert decided_in(told, "target changed") == {"ahead", "busy"}
    assert told["target changed"]["ahead"][1:] == ("TARGET_AHEAD", 60, 51)
    assert told["target changed"]["busy"][1] == "TARGET_GROUP_ACTIVE"


def test_a_group_is_decided_when_its_translation_is(told: Told) -> None:
    assert decided_in(told, "commit changed") == {"moves"}
    assert told["commit changed"]["moves"][1:] == ("TARGET_ABSENT", None, 150)


def test_what_was_emitted_is_repeated_once_there_are_new_syncs(told: Told) -> None:
    before, after = told["reasons"]["before"], told["reasons"]["after"]
    assert before == tuple((group, "EMIT_FIRST") for group in ("ahead", "busy", "calm"))
    assert after == tuple((group, "SKIP_REPEATED") for group, _ in before)
    offered = {group: row[1:] for group, row in told["sync behind all groups"].items()}
    assert offered == {group: row[1:] for group, row in told["commit changed"].items()}


def test_nothing_is_offered_in_a_target_that_began_anew(told: Told) -> None:
    """Also to a group whose commits on it are unknown; each refusal has its reason."""
    before, now = told["sync behind all groups"], told["target began anew"]
    assert {group: row[1:] for group, row in now.items()} == {
        group: ("CHECKPOINT_FROM_OLD_INCARNATION", from_offset, to_offset)
        for group, (_, _, from_offset, to_offset) in before.items()
    }


def test_what_stands_is_what_would_be_decided_anew(told: Told, session: Session) -> None:
    session = with_flows(session, {FLOW: flow_settings(SOURCE, TARGET, "full_history")})
    scope = [SOURCE, TARGET]
    open_run(session, Run("99999999-compare", "compare", scope, 2_000, is_dry_run=True))
    session.make_views("int_mirrors__decisions_reasoned")
    reasoned = rows(
        session, f"select {WRITES} from intermediate.int_mirrors__target_offset_writes_reasoned"
    )
    assert {group: tuple(rest) for group, *rest in reasoned} == {
        group: row[1:] for group, row in told["target began anew"].items()
    }
