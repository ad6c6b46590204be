"""What becomes of topics from run to run: each story is a cluster, and a run decides about all."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from kafka_metadata import DELETE_FINISHED, DELETE_STARTED, Event
from small_partitions import NOW_MS, OPEN, copied, partition
from spark_support import fold, parquet_of, rows, with_clusters
from tier_support import (
    Tiered,
    fold_log,
    fold_snapshots,
    fold_tiers,
    local_segments,
    log_of,
    tiered,
)

from moldau.runs.decide import decide
from moldau.runs.idle import idle_run
from moldau.runs.what_if import what_if
from moldau.sessions.session import Session

DELETED, UNTOLD, UNTOLD_TOO, VANISHED, LATE = CLUSTERS = (
    "tier deleted", "tier untold", "tier untold too", "tier vanished", "tier late",
)  # fmt: skip
TASK_MS = NOW_MS + 30_000
MINUTE_MS = NOW_MS + 60_000
QUESTIONS = {
    "lag": "select topic_name, partition_index, upload_tier_lag, delete_tier_lag, "
    "delete_tier_lag_sum, cluster_id from marts.tier_lag",
    "reasons": "select topic_name, partition_index, reason_code, cluster_id "
    "from decisions.delete_candidates",
    "uploads": "select topic_name, partition_index, cluster_id from decisions.upload_candidates",
    "due": "select partition_index, cluster_id from intermediate.int_tiers__partitions_due",
    "findings": "select finding, cluster_id from marts.remote_segment_findings",
}
Seen = dict[tuple[str, str], list[tuple[Any, ...]]]


def seen(session: Session, at_ms: int) -> Seen:
    """What the tables tell, by question and cluster, sorted."""
    found: Seen = {(name, cluster): [] for name in QUESTIONS for cluster in CLUSTERS}
    for name, question in QUESTIONS.items():
        for *told, cluster in sorted(rows(session, question, at_ms), key=repr):
            if cluster in CLUSTERS:
                found[name, cluster].append(tuple(told))
    return found


def vanished() -> list[Tiered]:
    """Of `gone` no snapshot tells; the first of its segments is marked."""
    marked = [*copied("s0", 0), Event("s0", DELETE_STARTED)]
    return [
        OPEN,
        tiered("gone", partition(), marked, is_known=False),
        tiered("gone", partition(), copied("s1", 0), index=1, is_known=False),
    ]


@pytest.fixture(scope="module")
def told(session: Session) -> Session:
    return with_clusters(session, dict.fromkeys(CLUSTERS, "{}"))


@pytest.fixture(scope="module")
def idle(told: Session) -> dict[tuple[int, int], bool]:
    """Filled by the stages: whether a run of `LATE` alone was idle, by stage and instant."""
    return {}


@pytest.fixture(scope="module")
def stages(told: Session, idle: dict[tuple[int, int], bool]) -> list[Seen]:
    """What was to be seen after each of four runs."""
    after: list[Seen] = []

    def run(at_ms: int, *asked_ms: int) -> None:
        decide(told, "tiers", CLUSTERS, at_ms, is_dry_run=False)
        for instant in asked_ms:
            found = idle_run(told.settings, "tiers", [LATE], instant, is_dry_run=False)
            idle[len(after), instant] = found is not None
        after.append(seen(told, at_ms))

    untold = [tiered("t", partition(), (), index=index, is_told=False) for index in (0, 1)]
    other = replace(OPEN, topic="other")
    fold_tiers(
        told,
        {
            DELETED: [tiered("gone", partition(), copied("s0", 0)), other],
            UNTOLD: untold,
            UNTOLD_TOO: untold,  # has the topic, too, and what-if is not asked about it
            VANISHED: vanished(),
            LATE: [tiered("t", partition(), [replace(copied("s0", 0)[0], at_ms=NOW_MS)])],
        },
    )
    run(NOW_MS)

    fold_snapshots(told, {DELETED: [other]})
    filled = [tiered("t", partition(), copied("s0", 0), is_told=False), untold[1]]
    fold_log(told, {UNTOLD: log_of(filled)})
    none = parquet_of(told, local_segments([(VANISHED, OPEN)]))
    fold(told, [VANISHED], f"select * from {none} where false", "local_segments")
    run(NOW_MS, TASK_MS - 1, TASK_MS)

    marked = [*copied("s0", 0), Event("s0", DELETE_STARTED)]
    fold_log(told, {DELETED: log_of([tiered("gone", partition(), marked)])})
    run(TASK_MS, MINUTE_MS, MINUTE_MS + 1)

    ended = [*marked, Event("s0", DELETE_FINISHED)]
    fold_log(told, {DELETED: log_of([tiered("gone", partition(), ended)])})
    run(MINUTE_MS + 1)
    return after


def test_a_deleted_topic_keeps_its_sum_until_its_segments_are_gone(stages: list[Seen]) -> None:
    reasons = [stage["reasons", DELETED] for stage in stages]
    lags = [[row for row in stage["lag", DELETED] if row[0] == "gone"] for stage in stages]
    assert lags == [
        [("gone", 0, 200, 0, 0)],
        [("gone", 0, None, None, None)],
        [("gone", 0, None, 0, 100)],
        [],
    ]
    assert reasons[1:] == [[("gone", 0, "NO_SNAPSHOT")], [("gone", 0, "TOPIC_DELETED")], []]


def test_a_topic_that_nobody_tells_configs_of_is_tiered_as_a_whole(
    told: Session, stages: list[Seen]
) -> None:
    """By what lies in tiered storage of any of its partitions; to ask what-if tells nothing."""
    lags = [[row[:3] for row in stage["lag", UNTOLD]] for stage in stages]
    assert lags[:2] == [[], [("t", 0, 200), ("t", 1, 300)]]
    first, _ = what_if(told, "t", {"retention.bytes": "0"}, [UNTOLD], NOW_MS, False)
    assert first[3:5] == (200, 200)
    assert first[9:11] == (0, 100), "delete_tier_lag, and what it would be"


def test_what_a_snapshot_does_not_tell_any_more_is_decided_anew(stages: list[Seen]) -> None:
    before, after = stages[:2]
    of_gone = [("gone", 0, "DELETE_STARTED"), ("gone", 1, "NO_SNAPSHOT")]
    assert before["reasons", VANISHED] == after["reasons", VANISHED] == of_gone
    open_before, open_after = (
        [row for row in stage["lag", VANISHED] if row[0] == "open"] for stage in (before, after)
    )
    assert (open_before, open_after) == ([("open", 0, 300, 0, 0)], [("open", 0, None, 0, 0)])
    assert before["uploads", VANISHED] == [("open", 0)] * 4
    assert after["uploads", VANISHED] == []


def test_what_waits_for_a_snapshot_is_not_decided_again_and_again(stages: list[Seen]) -> None:
    """Partition 1 is the one of `gone` whose segment nothing tells how to judge."""
    assert [(1,) in stage["due", VANISHED] for stage in stages] == [True, False, False, False]


def test_a_copy_becomes_late_by_time_alone(
    stages: list[Seen], idle: dict[tuple[int, int], bool]
) -> None:
    """Nobody decides anew: whoever looks has a clock."""
    found = [stage["findings", LATE] for stage in stages]
    assert found == [[], [], [], [("STUCK_COPY",)]]
    assert list(idle.values()) == [True] * 4
