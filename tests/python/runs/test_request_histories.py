"""Random histories of requests: the models say what one handling after the other says."""

from __future__ import annotations

import random
from dataclasses import asdict
from typing import Any

import pytest
from request_reference import Entry, Outcome
from request_support import (
    RULE_SETS,
    Group,
    as_answer,
    deletion,
    handle,
    heartbeat,
    join,
    push,
)
from spark_support import in_spark

from moldau.sessions.session import Session

pytestmark = pytest.mark.spark

COUNTS = {"duckdb": 1_000, "spark": 60}  # of groups of each rule set
OUTCOMES: list[Outcome] = ["success", "permanent_failure", "transient_failure", "timeout"]
ERRORS = ["NOT_LEADER_OR_FOLLOWER", "GROUP_ID_NOT_FOUND", "NOT_ENOUGH_REPLICAS", "CORRUPT_MESSAGE"]


def random_request(draw: random.Random, at_ms: int) -> dict[str, Any]:
    jitter = draw.choice([0.8, 1.0, 1.2])
    rarely = draw.random() < 0.1
    error = draw.choice(ERRORS)
    match draw.choice(["heartbeat", "heartbeat", "push", "push", "deletion", "join"]):
        case "heartbeat":
            return heartbeat(
                at_ms,
                jitter=jitter,
                request_version=0 if rarely else 1,
                member_epoch=draw.choice([-2, -1, 0, 1, 5, 9, 9, 9]),
                response_error=draw.choice(["NONE"] * 9 + ["UNKNOWN_MEMBER_ID"]),
                status_codes=draw.choice([None, None, None, [], [1, 6], [0], [None, 0], [2, None]]),
            )
        case "push":
            return push(
                at_ms,
                draw.choice([3, 3, 3, 3, 3, 4]),
                jitter=jitter,
                member_id=draw.choice(["m", "m", "m", "m", "n", ""]),
                has_description=draw.random() < 0.9,
                description_error="Unknown topology node type: 9" if rarely else None,
                write_error=error if draw.random() < 0.25 else None,
                coordinator_error=draw.choice([*ERRORS, "COORDINATOR_NOT_AVAILABLE"])
                if draw.random() < 0.1
                else None,
                authorization_error="GROUP_AUTHORIZATION_FAILED" if rarely else None,
            )
        case "deletion":
            return deletion(
                at_ms,
                request_version=draw.choice([2, 3]),
                read_error=error if rarely else None,
                is_of_no_group=draw.random() < 0.05,
            )
        case _:
            return join(at_ms, jitter=jitter)


def random_group(draw: random.Random, ruleset: str, name: str) -> Group:
    at_ms, requests = 0, []
    for _ in range(draw.randint(1, 12)):
        at_ms += draw.choice([0, 1, 20_000, 30_000, 40_000, 4_000_000])
        requests.append(random_request(draw, at_ms))
    said = [draw.choice(OUTCOMES) for _ in requests]
    group_type = draw.choice(["streams"] * 12 + ["classic", "consumer", None])
    is_empty = draw.random() < 0.4
    entry = Entry(draw.choice([-2, 2, 3, 5]), draw.randint(0, 9), draw.randint(0, 90_000), 0)
    return Group(
        requests,
        lambda operation, epoch, request: (
            said[int(request[1:])],
            None if said[int(request[1:])] == "success" else f"{operation} {request}",
        ),
        ruleset,
        draw.random() < 0.9,
        group_type,
        None if group_type is None else "EMPTY" if is_empty else "STABLE",
        draw.choice([3, 3, 3, 3, 3, -1]),
        draw.choice([-1, -1, 2, 3, 7]) if ruleset != "kafka_4_4" else draw.choice([-2, -1, 2, 3]),
        draw.choice([-1, -1, -1, 3, 5]),
        entry if draw.random() < 0.3 else None,
        frozenset() if is_empty else frozenset({"m"}),
        sorted(draw.choices([0, 10_000, 25_000, 60_000, 5_000_000], k=draw.choice([0, 0, 1, 2]))),
        name,
    )


@pytest.mark.parametrize("engine", COUNTS)
def test_the_models_answer_as_one_request_after_the_other(session: Session, engine: str) -> None:
    draw = random.Random(20623)
    groups = [
        random_group(draw, ruleset, f"{ruleset} {number}")
        for ruleset in RULE_SETS
        for number in range(COUNTS[engine])
    ]
    handled = handle(in_spark(session) if engine == "spark" else session, groups)
    calls = 0
    for group in groups:
        answers, called = group.reference()
        calls += len(called)
        found = [as_answer(row) for row in handled.answers[group.group_id]]
        assert found == [asdict(answer) for answer in answers], group
        assert handled.calls[group.group_id] == called, group
    assert calls > COUNTS[engine]
    # the longest alternation inside one group, not the number of its requests
    assert handled.rounds <= 8


def test_pushes_of_one_group_are_one_round(session: Session) -> None:
    group = Group([push(at) for at in range(300)], ruleset="kip_1331_v1")
    handled = handle(session, [group])
    assert len(handled.calls[group.group_id]) == 300
    assert handled.rounds == 2  # the second finds that nothing is left to call
