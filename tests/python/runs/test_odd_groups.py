"""Groups whose records are odd: what can be said of them is said, and no more."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from encode import encode_key, encode_value
from log_support import FAMILY, Log
from spark_support import Record, mart

from moldau.reading.explain.subjects import explained
from moldau.reading.explain.timeline import timeline
from moldau.runs.load import load
from moldau.sessions.session import Session

T, HOUR = 1_795_000_000_000, 3_600_000
ID = "AAAAAAAAAAAAAAAAAAAAAQ"


def bring(session: Session, cluster: str, kind: str, rows: list[Any], folder: Path) -> None:
    file = folder / f"{cluster}.{kind}.jsonl"
    told = [row.as_line() if isinstance(row, Record) else row for row in rows]
    file.write_text("".join(json.dumps(row) + "\n" for row in told))
    load(session, [file], cluster, kind)


def events(session: Session, cluster: str, group: str) -> list[tuple[Any, ...]]:
    found = timeline(session.warehouse, group, cluster).events
    return [(row["event"], row["value_after"], row["cause"]) for row in found]


def words(session: Session, cluster: str, text: str) -> str:
    return "\n".join(explained(session.warehouse, text, cluster, None).words)


def test_an_epoch_of_a_group_whose_members_are_not_known_makes_no_jump(
    session: Session, tmp_path: Path
) -> None:
    """The log begins in the middle; of `whole` it has everything, and a tool moved it."""
    log = Log()
    for group, epoch in (("middle", 7), ("whole", 1)):
        for place in range(2):
            value = encode_value(FAMILY, 3, 0, {"epoch": epoch + place})
            log.add(log.group_key(group, 3), value, T + place * HOUR)
            log.commit(group, at_ms=T + place * HOUR + 1, offset=100 + place)
    bring(session, "odd-epochs", "records", log.records, tmp_path)
    names = {
        group: [event for event, *_ in events(session, "odd-epochs", group)]
        for group in ("middle", "whole")
    }
    assert names == {
        "middle": ["FIRST_COMMIT", "EPOCH_CHANGED", "COMMITS"],
        "whole": ["FIRST_COMMIT", "EPOCH_CHANGED", "JUMPED_AHEAD"],
    }


def test_no_retention_removes_a_share_group(session: Session, tmp_path: Path) -> None:
    log = Log()
    log.add(log.group_key("sh", 11), encode_value(FAMILY, 11, 0, {"epoch": 1}), T)
    log.add(log.group_key("sh", 11), None, T + HOUR)
    bring(session, "odd-share", "records", log.records, tmp_path)
    assert events(session, "odd-share", "sh") == [("GROUP_DELETED", "DEAD", "BEFORE_DUE")]


def test_what_has_no_time_is_said_to_have_none(session: Session, tmp_path: Path) -> None:
    log = Log()
    group = {"protocolType": "consumer", "generation": 4, "currentStateTimestamp": -1}
    log.add(log.group_key("empty", 2), encode_value(FAMILY, 2, 3, group), -1)
    log.commit("empty", at_ms=-1)
    log.add(log.group_key("gone", 2), encode_value(FAMILY, 2, 3, group), -1)
    log.add(log.group_key("gone", 2), None, -1)
    member = encode_key(FAMILY, 5, {"groupId": "left", "memberId": "m"})
    log.add(log.group_key("left", 3), encode_value(FAMILY, 3, 0, {"epoch": 1}), -1)
    log.add(member, encode_value(FAMILY, 5, 0, {"subscribedTopicNames": ["t"]}), -1)
    log.add(member, None, -1)
    bring(session, "odd-times", "records", log.records, tmp_path)
    assert "deleted by broker, in a record without a time" in words(session, "odd-times", "gone")
    assert "EMPTY since a record without a time" in words(session, "odd-times", "left")
    for name in ("empty", "gone", "left"):
        assert "1969" not in words(session, "odd-times", name)


def test_an_application_goes_on_from_where_its_log_was_truncated(
    session: Session, tmp_path: Path
) -> None:
    """As the client does, which asks where the commit's leader epoch ended (KIP-320)."""
    log, cluster = Log(), "odd-epoch-ends"
    for group, epoch, offset in (("kept", 2, 80), ("truncated", 2, 95), ("above", 3, 130)):
        value = {"offset": offset, "leaderEpoch": epoch, "commitTimestamp": T}
        log.add(log.commit_key(group), encode_value(FAMILY, 1, 3, value), T)
    log.commit("without", at_ms=T, offset=130)
    bring(session, cluster, "records", log.records, tmp_path)
    place = {"topic_id": ID, "topic": "t", "partition": 0}
    ends = {
        "broker_id": 1, "is_leader": True, "leader_epoch": 4, "log_start_offset": 0,
        "local_log_start_offset": 0, "last_stable_offset": 120, "high_watermark": 120,
        "log_end_offset": 120, "taken_at_ms": T + HOUR,
    }  # fmt: skip
    bring(session, cluster, "partition_states", [place | ends], tmp_path)

    def starts() -> dict[str, tuple[Any, ...]]:
        return {
            row["group_id"]: (row["decision"], row["reason_code"], row["position"])
            for row in mart(session, "start_positions")
            if row["cluster_id"] == cluster
        }

    reset = ("reset", "ABOVE_LOG_END", None)
    assert starts()["above"] == starts()["without"] == reset
    known = "the commit has leader epoch 3: clients since Kafka 2.3 go on"
    assert known in words(session, cluster, "above")
    assert known not in words(session, cluster, "without")
    epochs = [{"epoch": 2, "start_offset": 0}, {"epoch": 4, "start_offset": 90}]
    bring(session, cluster, "leader_epochs", [place | {"epochs": epochs}], tmp_path)
    assert starts() == {
        "kept": ("continue", "COMMITTED", 80),
        "truncated": ("continue", "LOG_TRUNCATED", 90),
        "above": ("continue", "LOG_TRUNCATED", 90),
        "without": reset,
    }
    assert "t-0: goes on from 90" in words(session, cluster, "above")
