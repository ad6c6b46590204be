"""What a group has left to read, on both engines, in every form that ends can be told in."""

from __future__ import annotations

import json
import random
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from encode import encode_key, encode_value
from lag_cases import LARGEST, NEW, Cluster, Groups, State, T, states_table, told, untold, uuid_of
from log_support import Log
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


def test_an_application_starts_where_kafka_lets_it(session: Session, right: Said) -> None:
    """Nobody starts on what is not subscribed; every other partition has one answer."""
    clusters = {cluster for cluster, *_ in right}
    lags = {
        tuple(row[name] for name in COLUMNS[:4]): row
        for row in mart(session, "group_lag")
        if row["cluster_id"] in clusters
    }
    starts = {
        tuple(row[name] for name in COLUMNS[:4]): row
        for row in mart(session, "start_positions")
        if row["cluster_id"] in clusters
    }
    left_out = {lags[key]["status"] for key in lags.keys() - starts.keys()}
    assert left_out == {"NOT_SUBSCRIBED", "TOPIC_GONE"} and starts.keys() <= lags.keys()
    told = {key: (row["decision"], row["reason_code"]) for key, row in starts.items()}
    assert told == {key: start_of(lags[key]) for key in starts}
    assert {code for _, code in told.values()} == {
        "COMMITTED", "NO_COMMIT", "BELOW_LOG_START", "ABOVE_LOG_END", "TOPIC_RECREATED",
        "NO_END_KNOWN",
    }  # fmt: skip


def start_of(lag: dict[str, Any]) -> tuple[str, str]:
    """By Kafka's rules, from what `marts.group_lag` says of a commit as old as the snapshot."""
    committed, start, end = (
        lag[name] for name in ("committed_offset", "log_start_offset", "log_end_offset")
    )
    if committed is None:
        return "reset", "NO_COMMIT"
    if lag["status"] == "TOPIC_RECREATED":
        return "reset", "TOPIC_RECREATED"
    if start is not None and committed < start:
        return "reset", "BELOW_LOG_START"
    is_newer = lag["end_taken_at"] is not None and lag["end_taken_at"] < lag["committed_at"]
    if end is not None and committed > end and not is_newer:
        return "reset", "ABOVE_LOG_END"
    ends = [one for one in (end, lag["high_watermark"]) if one is not None]
    if start is not None and ends and start <= committed <= max(ends):
        return "continue", "COMMITTED"
    return "continue", "NO_END_KNOWN"


def test_lag_has_an_age_and_a_trend_where_ends_were_seen_twice(
    session: Session, tmp_path: Path
) -> None:
    """Three snapshots of four partitions, ten minutes apart; `stuck` commits what it committed."""
    log, minute = Groups(), 60_000
    commits = {"stuck": (100, 100), "slow": (100, 150), "quick": (100, 290), "new": (None, 250)}
    for group, (then, now) in commits.items():
        if then is not None:
            log.offset(group, group, then, at_ms=T)
        log.offset(group, group, now, at_ms=T + 19 * minute)
    records = tmp_path / "records.jsonl"
    records.write_text("".join(json.dumps(record.as_line()) + "\n" for record in log.records))
    load(session, [records], "lag-moving", "records")
    for number, end in enumerate((100, 200, 300)):
        file = tmp_path / f"{number}.jsonl"
        state = State(end, start=number * 40, at_ms=T + number * 10 * minute)
        rows_told = [state.row(group) | {"topic": group, "partition": 0} for group in commits]
        file.write_text("".join(json.dumps(row) + "\n" for row in rows_told))
        load(session, [file], "lag-moving", "partition_states")
    names = ("lag", "lag_seconds", "lag_seconds_at_least", "trend", "offset_then", "lag_then")
    lags = {row["group_id"]: row for row in of_cluster(session, "group_lag", "lag-moving")}
    assert {group: tuple(lags[group][name] for name in names) for group in commits} == {
        "stuck": (200, 1200, 600, "STOPPED", 100, 0),
        "slow": (150, 900, 600, "GROWING", 100, 0),
        "quick": (10, 60, 0, "GROWING", 100, 0),
        "new": (50, 300, 0, None, None, None),
    }
    # the start moves 80 in twenty minutes: 20 on, it takes what `stuck` has not read
    lost = {group: lags[group]["lost_from_at"] for group in commits}
    assert lost["stuck"] == lags["stuck"]["end_taken_at"] + timedelta(minutes=5)
    assert lost["quick"] is lost["new"] is None
    groups = {
        row["group_id"]: row for row in of_cluster(session, "group_lag_by_group", "lag-moving")
    }
    assert {
        group: (
            row["trend"],
            row["lag"],
            row["worst_lag"],
            list(dict(row["lag_by_topic"]).values()),
        )
        for group, row in groups.items()
    } == {
        group: (lags[group]["trend"], *[lags[group]["lag"]] * 2, [lags[group]["lag"]])
        for group in commits
    }


def test_a_share_group_has_the_lag_that_kafkas_tool_tells(session: Session, tmp_path: Path) -> None:
    """By partition: a snapshot, one with updates, one without a start yet, and one that is gone."""
    family, topic = "share_group_state", "shared"
    log = Log()

    def write(kind: int, index: int, value: dict[str, Any] | None) -> None:
        key = {"groupId": "readers", "topicId": uuid_of(topic, NEW), "partition": index}
        body = None if value is None else encode_value(family, kind, 0, value)
        log.add(encode_key(family, kind, key), body, T)

    for index, start in enumerate((100, 100, -1, 100)):
        write(0, index, {"startOffset": start, "deliveryCompleteCount": max(-1, min(start, 3))})
    write(1, 1, {"startOffset": 104, "deliveryCompleteCount": 2})
    write(1, 1, {"startOffset": -1, "deliveryCompleteCount": 5})
    write(0, 3, None)
    lines = [record.as_line() | {"topic": "__share_group_state"} for record in log.records]
    states = [
        State(110, id=NEW, partition=index).row(topic) | {"topic": topic, "partition": index}
        for index in range(4)
    ]
    for kind, rows_told in (("records", lines), ("partition_states", states)):
        file = tmp_path / f"{kind}.jsonl"
        file.write_text("".join(json.dumps(line) + "\n" for line in rows_told))
        load(session, [file], "lag-shared", kind)
    names = ("topic_name", "partition_index", "start_offset", "lag")
    assert sorted(
        tuple(row[name] for name in names)
        for row in of_cluster(session, "share_group_lag", "lag-shared")
    ) == [(topic, 0, 100, 7), (topic, 1, 104, 1), (topic, 2, None, None)]


def of_cluster(session: Session, name: str, cluster: str) -> list[dict[str, Any]]:
    return [row for row in mart(session, name) if row["cluster_id"] == cluster]
