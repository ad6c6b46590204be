"""What a group has left to read, on both engines, in every form that ends can be told in."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from lag_cases import LARGEST, Cluster, State, T, states_table, told, untold
from spark_support import ROOT, fold, fold_records, mart, parquet_of, rows

from moldau.runs.load import load
from moldau.sessions.session import Session

pytestmark = pytest.mark.spark

FIXTURE = ROOT / "tests" / "fixtures" / "group_lag"
FILED, PLAIN, NONE, EMPTIED, RANDOM = (
    f"lag-{name}" for name in ("filed", "told", "none", "emptied", "random")
)
Said = dict[tuple[str, str, str, int], tuple[Any, ...]]


def random_cluster() -> Cluster:
    """Up to four brokers that say anything about each partition; what is right by another road."""
    chance = random.Random(32)
    cluster = Cluster()
    cluster.tell("here", State())
    offsets = [None, -1, 0, 5, 100, 110, LARGEST - 1, LARGEST]
    for number in range(150):
        topic = f"topic-{number:03}"
        states = [
            State(
                hw=chance.choice(offsets),
                lso=chance.choice(offsets),
                end=chance.choice(offsets),
                start=chance.choice(offsets),
                epoch=chance.choice([None, -1, 3, 5, 7]),
                broker=broker,
                leads=chance.random() < 0.6,
                at_ms=T + chance.randrange(3),
            )
            for broker in range(chance.randrange(5))
        ]
        committed = chance.choice([-1, 0, 7, 100, 110, 200, LARGEST])
        cluster.log.offset("random", topic, committed)
        cluster.tell(topic, *states)
        cluster.right["random", topic, 0] = right_of(committed, states)
    return cluster


def right_of(committed: int, states: list[State]) -> tuple[int | None, int | None, str]:
    def known(offset: int | None) -> bool:
        return offset is not None and offset >= 0

    leaders = [state for state in states if state.leads]
    if not states:
        return None, None, "TOPIC_GONE"
    if not leaders:
        return None, None, "NO_END_KNOWN"
    leader = max(
        leaders, key=lambda one: (-1 if one.epoch is None else one.epoch, one.at_ms, -one.broker)
    )
    start, lso, hw = leader.start, leader.lso, leader.hw
    unread = None
    if known(committed) and known(lso) and (known(start) or committed >= lso):
        unread = max(0, lso - max(committed, start if known(start) else 0))
    if not known(hw):
        return None, unread, "NO_END_KNOWN"
    if not known(committed):
        return None, None, "NO_COMMIT"
    lag = max(0, hw - committed)
    if known(start) and committed < start:
        return lag, unread, "COMMIT_BEFORE_START"
    return lag, unread, "COMMIT_AHEAD_OF_END" if committed > hw else "OK"


@pytest.fixture(scope="module")
def right(session: Session) -> Said:
    """All clusters of this file, and what is right of each partition."""
    for kind in ("records", "partition_states"):
        load(session, [FIXTURE / f"{kind}.jsonl"], FILED, kind)
    clusters = {PLAIN: told(), NONE: untold(), EMPTIED: untold(), RANDOM: random_cluster()}
    clusters[EMPTIED].tell("orders", State(), State(partition=1))
    fold_records(session, {name: one.log.records for name, one in clusters.items()})
    states = [{"cluster_id": name, **row} for name, one in clusters.items() for row in one.states]
    relation = parquet_of(session, states_table(states))
    fold(session, list(clusters), f"select * from {relation}", "partition_states")
    # a cluster has topics, so an empty snapshot is of nothing
    fold(session, [EMPTIED], f"select * from {relation} where false", "partition_states")
    known = {
        (name, *key): right for name, one in clusters.items() for key, right in one.right.items()
    }
    for line in (FIXTURE / "right.jsonl").read_text().splitlines():
        case = json.loads(line)
        key = (FILED, *(case[name] for name in ("group_id", "topic_name", "partition_index")))
        if case["right"] is not None:
            known[key] = tuple(case["right"].values())
    return known


COLUMNS = (
    "cluster_id", "group_id", "topic_name", "partition_index", "lag", "records_to_read", "status",
)  # fmt: skip


def test_what_is_said_is_right(session: Session, right: Said) -> None:
    """The filed report, listed cases and random ones; what is in no case has no row.

    That Spark says the same is compared by `test_marts_of_runs.py`.
    """
    clusters = {cluster for cluster, *_ in right}
    told = [tuple(row[name] for name in COLUMNS) for row in mart(session, "group_lag")]
    assert {row[:4]: row[4:] for row in told if row[0] in clusters} == right


def test_every_form_is_among_the_cases(right: Said) -> None:
    statuses = {status for *_, status in right.values()}
    assert statuses == {
        "TOPIC_GONE", "TOPIC_RECREATED", "NO_END_KNOWN", "NOT_SUBSCRIBED", "NO_COMMIT",
        "COMMIT_BEFORE_START", "COMMIT_AHEAD_OF_END", "OK",
    }  # fmt: skip


def test_times_and_ends_are_beside_the_lag(session: Session, right: Said) -> None:
    [row] = [
        row
        for row in mart(session, "group_lag")
        if (row["cluster_id"], row["group_id"]) == (PLAIN, "open transaction")
    ]
    told_ms = rows(session, f"select timestamp_millis({T})")[0][0]
    assert row["committed_at_ms"] == T
    assert row["committed_at"] == row["end_taken_at"] == told_ms
    ends = ("log_start_offset", "last_stable_offset", "high_watermark", "log_end_offset")
    assert [row[name] for name in ends] == [0, 102, 109, 109]
    assert row["lag_seconds"] is None
