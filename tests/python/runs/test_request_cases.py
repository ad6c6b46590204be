"""The cases that the specification lists in its sections 10.1 to 10.5 and 10.11, by their numbers.

All are put to the models at once, each as a group of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from request_reference import UPDATE_FAILED, Entry, Outcome
from request_support import (
    RULE_SETS,
    Group,
    Handled,
    deletion,
    handle,
    heartbeat,
    join,
    push,
)

from moldau.sessions.session import Session

DRAFT, V1, V2, V3 = RULE_SETS
V12 = (V1, V2)
EARLIER = (DRAFT, V1, V2)
DELETE_FAILED = "Topology description plugin failed to delete the topology."
HOUR = 3_600_000


@dataclass(frozen=True)
class Case:
    """`expected`: what of each answer, in the order of the requests, must be so."""

    number: str
    requests: Sequence[dict[str, Any]]
    expected: Sequence[dict[str, Any]]
    rulesets: tuple[str, ...] = RULE_SETS
    calls: Sequence[str] | None = None
    group: tuple[tuple[str, Any], ...] = ()


def says(outcome: Outcome, message: str | None = None) -> tuple[tuple[str, Any], ...]:
    return (("say", lambda operation, epoch, request: (outcome, message)),)


def of(**group: Any) -> tuple[tuple[str, Any], ...]:
    return tuple(group.items())


def gate(is_required: bool, **more: Any) -> dict[str, Any]:
    return {"required": is_required} | more


def error(name: str, *message: str | None, **more: Any) -> dict[str, Any]:
    return {"error_code": name} | ({"message": message[0]} if message else {}) | more


EMPTY = of(state="EMPTY", members=frozenset(), topology_epoch=0)
ASKED = gate(True, attempts=0, delay=30_000)
MISSING = "The broker has no streams group topology description plugin configured."
NO_WINDOW = {"backoff": None}
RECOVERS = {"r0000": ("transient_failure", "x"), "r0001": ("success", None)}

CASES = [
    # 10.1: (current, stored, failed)
    Case("1", [heartbeat()], [ASKED]),
    Case("1 at epoch 0", [heartbeat()], [ASKED], group=of(topology_epoch=0)),
    Case("2", [heartbeat(member_epoch=-1)], [gate(False, **NO_WINDOW)]),
    Case("3", [heartbeat(member_epoch=-2)], [gate(False, **NO_WINDOW)]),
    Case("4", [heartbeat()], [gate(False)], group=of(stored=3)),
    Case("5", [heartbeat()], [gate(False)], group=of(failed=3)),
    Case("7", [heartbeat(status_codes=[1])], [ASKED]),
    Case("stale", [heartbeat(status_codes=[1, 0])], [gate(False, **NO_WINDOW)]),
    Case("null status", [heartbeat(status_codes=[None])], [gate(False, **NO_WINDOW)]),
    Case("old request", [heartbeat(request_version=0)], [gate(False, **NO_WINDOW)]),
    Case("8", [heartbeat()], [gate(False, **NO_WINDOW)], group=of(has_plugin=False)),
    Case("10", [heartbeat(response_error="UNKNOWN_MEMBER_ID")], [gate(False, **NO_WINDOW)]),
    Case("11", [heartbeat()], [gate(False)], group=of(topology_epoch=-1)),
    Case("13", [heartbeat()], [ASKED], group=of(topology_epoch=4, stored=2)),
    Case("14", [heartbeat(5)], [gate(False)], group=of(stored=2, entry=Entry(3, 0, 9, 0))),
    Case("16", [heartbeat()], [ASKED], group=of(stored=7)),
    Case("17", [heartbeat()], [ASKED], group=of(failed=7)),
    Case("19", [heartbeat()], [ASKED], (V3,), group=of(stored=-2)),
    Case("20", [heartbeat()], [gate(False)], (V3,), group=of(stored=-2, failed=3)),
    Case(
        "22",
        [heartbeat(0), heartbeat(1, member_id="n"), push(2), heartbeat(3)],
        [ASKED, gate(False), error("NONE", outcome="success", **NO_WINDOW), gate(False)],
        calls=["set"],
    ),
    Case(
        "23",
        [heartbeat(at * 1000) for at in range(0, 460, 10)],
        [gate(at in (0, 30, 90, 210, 450)) for at in range(0, 460, 10)],
    ),
    Case(
        "25",
        [heartbeat(0), heartbeat(30_000), push(30_001), heartbeat(150_000), heartbeat(150_001)],
        [ASKED, gate(True, attempts=1), {"attempts": 2, "delay": 120_000}, gate(False), gate(True)],
        group=says("transient_failure", "offline"),
    ),
    Case(
        "25 first window",
        [heartbeat(0), push(1), heartbeat(60_000), heartbeat(60_001)],
        [ASKED, {"attempts": 1, "delay": 60_000}, gate(False), gate(True)],
        group=says("transient_failure", "offline"),
    ),
    # 10.2
    Case("26", [heartbeat(0), heartbeat(29_999), heartbeat(30_000)],
         [ASKED, gate(False), gate(True, attempts=1)]),
    Case("28", [heartbeat()], [gate(True, epoch=3, attempts=0)],
         group=of(entry=Entry(1, 1, HOUR, 0))),
    Case("29", [heartbeat(5)], [gate(True, epoch=3)], group=of(entry=Entry(1, 0, HOUR, 0))),
    Case("31", [push(5)], [{"epoch": 6, "attempts": 2}],
         group=of(entry=Entry(6, 2, HOUR, 0))),
    Case("31 newer entry", [push(5)], [{"epoch": 6, "attempts": 2}],
         group=(*of(entry=Entry(6, 2, HOUR, 0)), *says("transient_failure", "x"))),
    Case("37", [heartbeat(at * HOUR) for at in range(21)],
         [gate(True, attempts=at) for at in range(21)]),
    Case("38 shortest", [heartbeat(jitter=0.8)], [gate(True, delay=24_000)]),
    Case("38 longest", [heartbeat(jitter=1.2)], [gate(True, delay=36_000)]),
    Case("38 at the last instant", [heartbeat(2**63 - 1)], [gate(True, delay=0)]),
    *(
        Case(f"40 at {jitter}", [heartbeat(9, jitter=jitter)], [gate(True, attempts=8, delay=ms)],
             group=of(entry=Entry(3, 7, 9, 0)))
        for jitter, ms in ((0.8, 2_880_000), (1.0, HOUR), (1.2, HOUR))
    ),
    # 10.3
    Case("41", [push(coordinator_error="COORDINATOR_NOT_AVAILABLE")],
         [error("COORDINATOR_NOT_AVAILABLE", None, **NO_WINDOW)], calls=[]),
    Case("43", [push(member_id="")], [error("UNSUPPORTED_VERSION", MISSING)],
         group=of(has_plugin=False)),
    Case("44", [push(member_id="")], [error("INVALID_REQUEST", "MemberId can't be empty.")]),
    Case("45", [push()], [error("INVALID_REQUEST", "GroupId can't be empty.")],
         (V3,), group=of(group_id="")),
    Case("46", [push(member_id="", is_of_no_group=True)],
         [error("INVALID_REQUEST", "MemberId can't be empty.")]),
    Case("47", [push(has_description=False)],
         [error("INVALID_REQUEST", "TopologyDescription can't be null.", **NO_WINDOW)]),
    Case("49", [push()], [error("GROUP_ID_NOT_FOUND")], calls=[], group=of(type="consumer")),
    Case("49 missing", [push()], [error("GROUP_ID_NOT_FOUND")], calls=[], group=of(type=None)),
    Case("50", [push(member_id="x"), heartbeat()],
         [error("UNKNOWN_MEMBER_ID", **NO_WINDOW), ASKED], (*V12, V3), calls=[]),
    Case("50 draft", [push(member_id="x"), heartbeat(1)],
         [error("UNKNOWN_MEMBER_ID", action="ARM"), gate(False)], (DRAFT,), calls=[]),
    Case("53", [push(epoch=42)],
         [error("INVALID_REQUEST",
                "Topology epoch 42 does not match the group's current topology epoch 0.")],
         group=of(topology_epoch=0)),
    Case("conversion behind membership", [push(member_id="x", description_error="no")],
         [error("UNKNOWN_MEMBER_ID")]),
    Case("107", [push(description_error="Unknown topology node type: 99")],
         [error("INVALID_REQUEST", "Unknown topology node type: 99")], calls=[]),
    Case("authorization", [push(authorization_error="GROUP_AUTHORIZATION_FAILED", member_id="")],
         [error("GROUP_AUTHORIZATION_FAILED", None, **NO_WINDOW)], calls=[]),
    Case("55", [heartbeat(), push(1)], [ASKED, error("NONE", stored=3, **NO_WINDOW)],
         calls=["set"]),
    Case("56", [heartbeat(), push(1)],
         [ASKED, error(UPDATE_FAILED, "too large", stored=2, failed=3, **NO_WINDOW)], EARLIER,
         group=(*says("permanent_failure", "too large"), *of(stored=2))),
    Case("56 V3", [push(1)], [error(UPDATE_FAILED, "too large", stored=-2, failed=3)], (V3,),
         group=(*says("permanent_failure", "too large"), *of(stored=2))),
    Case("58", [push()], [error(UPDATE_FAILED, "offline", attempts=0, failed=-1)],
         group=says("transient_failure", "offline")),
    Case("a time-out", [push()], [error(UPDATE_FAILED, "no answer", attempts=0)],
         group=says("timeout", "no answer")),
    Case("62", [push(write_error="UNKNOWN_SERVER_ERROR")],
         [error("UNKNOWN_SERVER_ERROR", attempts=0)], calls=["set"]),
    *(
        Case(f"64 {name}", [heartbeat(), push(1, write_error=name)],
             [ASKED, error(told, attempts=0)], (*V12, V3), calls=["set"])
        for name, told in (
            ("COORDINATOR_LOAD_IN_PROGRESS", "COORDINATOR_LOAD_IN_PROGRESS"),
            ("COORDINATOR_NOT_AVAILABLE", "COORDINATOR_NOT_AVAILABLE"),
            ("NOT_LEADER_OR_FOLLOWER", "NOT_COORDINATOR"),
        )
    ),
    Case("64 draft", [heartbeat(), push(1, write_error="NOT_LEADER_OR_FOLLOWER")],
         [ASKED, error("NOT_LEADER_OR_FOLLOWER", attempts=1)], (DRAFT,)),
    Case("65", [heartbeat(), push(1, write_error="GROUP_ID_NOT_FOUND")],
         [ASKED, error("GROUP_ID_NOT_FOUND", **NO_WINDOW)], (*V12, V3)),
    Case("68", [push()], [error("NONE", stored=3)], (V3,), calls=["set"]),
    Case("70", [push(0), push(1)], [error("NONE", stored=3)] * 2, calls=["set", "set"]),
    # 10.4
    Case("71", [push(epoch=4)], [error("NONE", stored=7)], EARLIER,
         group=of(topology_epoch=4, stored=7)),
    Case("77", [push(epoch=9)], [error("NONE", stored=9, failed=-1)], (V3,),
         group=of(topology_epoch=9, stored=-2)),
    Case("79", [push(epoch=9)], [error(UPDATE_FAILED, "no", stored=-2, failed=9)], (V3,),
         group=(*of(topology_epoch=9, stored=-2), *says("permanent_failure", "no"))),
    # 10.5
    Case("86", [deletion()], [error("GROUP_DELETION_FAILED", DELETE_FAILED)], (*V12, V3),
         ["delete"], (*EMPTY, *of(stored=0), *says("transient_failure", "plugin offline"))),
    Case("86 draft", [deletion()], [error("GROUP_DELETION_FAILED", "plugin offline")], (DRAFT,),
         ["delete"], (*EMPTY, *of(stored=0), *says("transient_failure", "plugin offline"))),
    Case("88", [deletion()], [error("NONE")], calls=[],
         group=(*EMPTY, *of(stored=0, has_plugin=False))),
    Case("89", [deletion()], [error("NONE")], calls=[], group=EMPTY),
    Case("92", [deletion(read_error="NOT_LEADER_OR_FOLLOWER")], [error("NOT_COORDINATOR")],
         calls=[], group=(*EMPTY, *of(stored=0))),
    Case("92 consumer", [deletion(read_error="NOT_LEADER_OR_FOLLOWER")],
         [error("NOT_COORDINATOR")], group=of(type="consumer", state="EMPTY")),
    Case("93", [deletion(request_version=2)], [error("UNKNOWN_SERVER_ERROR", None)],
         group=(*EMPTY, *of(stored=0), *says("transient_failure", "x"))),
    Case("95", [deletion(request_version=2, read_error="NOT_COORDINATOR")],
         [error("NOT_COORDINATOR")], group=EMPTY),
    Case("96", [deletion()], [error("GROUP_DELETION_FAILED", **NO_WINDOW)], V12,
         group=(*EMPTY, *of(stored=0, entry=Entry(0, 0, 9, 0)), *says("transient_failure", "x"))),
    Case("97", [heartbeat(1), deletion(2), heartbeat(3)],
         [gate(False), {"attempts": 0}, gate(False)], (DRAFT, V3),
         group=(*EMPTY, *of(stored=2, entry=Entry(0, 0, 9, 0)), *says("transient_failure", "x"))),
    Case("98", [heartbeat(1), deletion(2), heartbeat(3)],
         [gate(False), error("NON_EMPTY_GROUP", stored=2), gate(True)], EARLIER, ["delete"],
         of(stored=2, entry=Entry(3, 0, 9, 0))),
    Case("100", [deletion()], [error("NON_EMPTY_GROUP", stored=3)], (V3,), [], of(stored=3)),
    Case("101", [deletion()], [error("NON_EMPTY_GROUP", stored=3)], EARLIER, ["delete"],
         of(stored=3)),
    Case("103", [deletion(0), deletion(1), deletion(2)],
         [error("GROUP_DELETION_FAILED"), error("NONE"), error("GROUP_ID_NOT_FOUND")],
         calls=["delete", "delete"],
         group=(*EMPTY, *of(stored=0, say=lambda operation, epoch, request: RECOVERS[request]))),
    Case("null group id", [deletion(is_of_no_group=True)], [error("INVALID_GROUP_ID")]),
    # 10.11
    Case("187", [join()], [error("NONE", reason="CONVERTED")], (V3,), ["delete"],
         (*EMPTY, *of(stored=3))),
    Case("188", [join(0), join(1), join(30_000)],
         [error("REBALANCE_IN_PROGRESS", reason="PLUGIN_FAILED", epoch=-2, stored=-2),
          error("REBALANCE_IN_PROGRESS", reason="THROTTLED"),
          error("REBALANCE_IN_PROGRESS", reason="PLUGIN_FAILED", attempts=1)],
         (V3,), ["delete", "delete"],
         (*EMPTY, *of(stored=3, entry=Entry(5, 4, HOUR, 0)), *says("transient_failure", "x"))),
    *(
        Case(f"191 {name}", [join()], [error(told)], (V3,), [], group)
        for name, told, group in (
            ("missing", "NONE", of(type=None)),
            ("classic", "NONE", of(type="classic", state="EMPTY")),
            ("live", "INCONSISTENT_GROUP_PROTOCOL", of(stored=3)),
            ("nothing stored", "NONE", EMPTY),
        )
    ),
    Case("191 missing makes no group", [join(0), push(1), deletion(2)],
         [error("NONE", reason="GROUP_NOT_FOUND"),
          error("GROUP_ID_NOT_FOUND", reason="GROUP_NOT_FOUND"), error("GROUP_ID_NOT_FOUND")],
         calls=[], group=of(type=None)),
    Case("orphaned", [join()], [error("NONE", reason="CONVERTED")], EARLIER, [],
         (*EMPTY, *of(stored=3))),
    # the draft's back-offs end with the partition
    Case("unload", [heartbeat(0), heartbeat(10), heartbeat(20)], [ASKED, gate(False), ASKED],
         (DRAFT,), group=of(unloads=(15,))),
    Case("unload elsewhere", [heartbeat(0), heartbeat(20)], [ASKED, gate(False)], (*V12, V3),
         group=of(unloads=(15,))),
]  # fmt: skip
RUNS = [(case, ruleset) for case in CASES for ruleset in case.rulesets]
NAMES = [f"{case.number} {ruleset}" for case, ruleset in RUNS]


@pytest.fixture(scope="module")
def groups() -> list[Group]:
    return [Group(case.requests, ruleset=ruleset, **dict(case.group)) for case, ruleset in RUNS]


@pytest.fixture(scope="module")
def handled(session: Session, groups: list[Group]) -> Handled:
    return handle(session, groups)


@pytest.mark.parametrize("number", range(len(RUNS)), ids=NAMES)
def test_a_listed_case(number: int, groups: list[Group], handled: Handled) -> None:
    case, group = RUNS[number][0], groups[number]
    answers = [_seen(answer) for answer in handled.answers[group.group_id]]
    assert len(answers) == len(case.expected)
    for answer, expected in zip(answers, case.expected, strict=True):
        assert {name: answer[name] for name in expected} == expected
    if case.calls is not None:
        assert [operation for operation, _ in handled.calls[group.group_id]] == case.calls


def _seen(answer: dict[str, Any]) -> dict[str, Any]:
    backoff = answer["backoff"] or {}
    return {
        "required": answer["reason_code"] == "REQUIRED",
        "reason": answer["reason_code"],
        "action": answer["backoff_action"],
        "error_code": answer["error_code"],
        "message": answer["message"],
        "outcome": answer["outcome"],
        "stored": answer["stored_epoch_after"],
        "failed": answer["failed_epoch_after"],
        "backoff": answer["backoff"],
        "epoch": backoff.get("topology_epoch"),
        "attempts": backoff.get("attempts"),
        "delay": backoff and backoff["next_attempt_at_ms"] - backoff["armed_at_ms"],
    }
