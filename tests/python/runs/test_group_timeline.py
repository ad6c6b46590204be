"""`marts.group_timeline`: what records tell of a group, and why an offset was deleted."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from encode import encode_key, encode_value
from log_support import FAMILY, Log

from moldau.errors import MoldauError
from moldau.project import SAMPLES
from moldau.reading.explain.timeline import timeline
from moldau.reading.explain.timeline_words import head, in_words
from moldau.reading.tables.query import query
from moldau.runs.decide import decide
from moldau.runs.load import load
from moldau.runs.opening import open_session
from moldau.sessions.session import Session
from moldau.settings import load_settings

T = 1_795_000_000_000
MINUTE = 60_000
WEEK, INTERVAL = 10_080 * MINUTE, 10 * MINUTE


def told(session: Session, cluster: str, group: str, *events: str) -> list[tuple[Any, ...]]:
    """Event, values and cause, of a group's events of these kinds."""
    found = timeline(session.warehouse, group, cluster).events
    return [
        (row["event"], row["value_before"], row["value_after"], row["cause"])
        for row in found
        if not events or row["event"] in events
    ]


def bring(session: Session, cluster: str, log: Log, folder: Path) -> None:
    file = folder / f"{cluster}.jsonl"
    file.write_text("".join(json.dumps(record.as_line()) + "\n" for record in log.records))
    load(session, [file], cluster, "records")


def commits(log: Log, group: str, *offsets: int, at_ms: int = T) -> None:
    for place, offset in enumerate(offsets):
        log.commit(group, at_ms=at_ms + place * MINUTE, offset=offset)


def removed(log: Log, group: str, at_ms: int) -> None:
    log.add(log.commit_key(group), None, at_ms)


def classic(log: Log, group: str, members: int, at_ms: int, protocol_type: str = "connect") -> None:
    of_one = {"memberId": "m", "clientId": "c", "clientHost": "h"}
    value: Mapping[str, Any] = {
        "protocolType": protocol_type,
        "generation": 1,
        "currentStateTimestamp": at_ms,
        "members": [of_one] * members,
    }
    log.add(log.group_key(group, 2), encode_value(FAMILY, 2, 3, value), at_ms)


def test_commits_are_gathered_between_what_is_out_of_line(session: Session, tmp_path: Path) -> None:
    log = Log()
    commits(log, "g", 100, 200, 300, 250, 260, 5_000, 5_100)
    removed(log, "g", T + WEEK + 6 * MINUTE)
    commits(log, "g", 0, 10, at_ms=T + 2 * WEEK)
    bring(session, "gathered", log, tmp_path)
    assert told(session, "gathered", "g") == [
        ("FIRST_COMMIT", None, "100", None),
        ("COMMITS", "100", "300", None),
        ("REWOUND", "300", "250", None),
        ("COMMITS", "250", "260", None),
        ("JUMPED_AHEAD", "260", "5000", None),
        ("COMMITS", "5000", "5100", None),
        ("OFFSET_DELETED", "5100", None, "RETENTION"),
        ("CAME_BACK", "5100", "0", None),
        ("COMMITS", "0", "10", None),
    ]


# when the tombstone came, counted from when the offset was due
@pytest.mark.parametrize(
    ("late_ms", "cause"),
    [(-1, "BEFORE_DUE"), (0, "RETENTION"), (INTERVAL, "RETENTION"), (INTERVAL + 1, "UNKNOWN")],
)
def test_the_cause_follows_the_clock_of_the_group(
    session: Session, tmp_path: Path, late_ms: int, cause: str
) -> None:
    log = Log()
    cluster = f"causes{late_ms}"
    commits(log, "simple", 5)
    removed(log, "simple", T + WEEK + late_ms)
    classic(log, "emptied", 1, T, "consumer")
    commits(log, "emptied", 5)
    classic(log, "emptied", 0, T + MINUTE, "consumer")
    removed(log, "emptied", T + MINUTE + WEEK + late_ms)
    classic(log, "active", 1, T)  # nothing of it ever expires
    commits(log, "active", 5)
    removed(log, "active", T + WEEK + late_ms)
    removed(log, "compacted", T + WEEK + late_ms)
    log.member("subscribed")
    log.add(log.group_key("subscribed", 3), encode_value(FAMILY, 3, 0, {"epoch": 1}), T)
    commits(log, "subscribed", 5)
    removed(log, "subscribed", T + WEEK + late_ms)
    bring(session, cluster, log, tmp_path)
    found = {
        group: told(session, cluster, group, "OFFSET_DELETED")[0]
        for group in ("simple", "emptied", "active", "compacted", "subscribed")
    }
    assert found == {
        "simple": ("OFFSET_DELETED", "5", None, cause),
        "emptied": ("OFFSET_DELETED", "5", None, cause),
        "active": ("OFFSET_DELETED", "5", None, "BEFORE_DUE"),
        "compacted": ("OFFSET_DELETED", None, None, "UNKNOWN"),
        "subscribed": ("OFFSET_DELETED", "5", None, "BEFORE_DUE"),
    }


def test_records_without_a_time_prove_no_cause(session: Session, tmp_path: Path) -> None:
    """As a formatter of Kafka's console consumer leaves them, and a broker before 0.10."""
    log = Log()
    classic(log, "timeless", 0, -1)
    value = encode_value(FAMILY, 1, 3, {"offset": 5, "commitTimestamp": T})
    log.add(log.commit_key("timeless"), value, -1)
    removed(log, "timeless", -1)
    removed(log, "timeless", -1)  # of what is gone already nothing goes
    log.add(log.group_key("timeless", 2), None, -1)
    bring(session, "timeless", log, tmp_path)
    assert told(session, "timeless", "timeless", "OFFSET_DELETED", "GROUP_DELETED") == [
        ("OFFSET_DELETED", "5", None, "UNKNOWN"),
        ("GROUP_DELETED", "EMPTY", "DEAD", "UNKNOWN"),
    ]
    found = timeline(session.warehouse, "timeless", "timeless")
    assert not any("1969" in one.instant + one.words for one in in_words(found))
    assert "1969" not in head(found)


def test_members_and_the_group_come_and_go(session: Session, tmp_path: Path) -> None:
    log = Log()
    member = encode_key(FAMILY, 5, {"groupId": "g", "memberId": "m"})
    subscribed = encode_value(FAMILY, 5, 0, {"subscribedTopicNames": ["t"]})
    log.add(member, subscribed, T)
    log.add(log.group_key("g", 3), encode_value(FAMILY, 3, 0, {"epoch": 1}), T)
    log.add(member, subscribed, T + 1)  # again: nobody joins
    log.add(member, None, T + 2)
    log.add(log.group_key("g", 3), encode_value(FAMILY, 3, 0, {"epoch": 2}), T + 2)
    log.add(log.group_key("g", 3), None, T + 3)
    classic(log, "g", 2, T + 3)  # by a downgrade: the same group
    classic(log, "g", 0, T + 4)
    log.add(log.group_key("g", 2), None, T + 5)
    commits(log, "g", 1, at_ms=T + 6)
    bring(session, "members", log, tmp_path)
    assert told(session, "members", "g") == [
        ("MEMBER_JOINED", "0", "1", None),
        ("MEMBER_LEFT", "1", "0", None),
        ("STATE_CHANGED", "STABLE", "EMPTY", None),
        ("EPOCH_CHANGED", "1", "2", None),
        ("MEMBER_JOINED", None, "2", None),
        ("STATE_CHANGED", "consumer", "classic", None),
        ("MEMBER_LEFT", "2", "0", None),
        ("STATE_CHANGED", "STABLE", "EMPTY", None),
        ("GROUP_DELETED", "EMPTY", "DEAD", "RETENTION"),
        ("CAME_BACK", None, "classic", None),
        ("FIRST_COMMIT", None, "1", None),
    ]


def test_every_row_of_the_broker_has_the_record_that_proves_it(session: Session) -> None:
    load(session, [SAMPLES / "west" / "__consumer_offsets.jsonl"], "proofs", "records")
    decide(session, "sweep", ["proofs"], T + 10**9, is_dry_run=False)
    without = query(
        session.warehouse,
        "select distinct event from marts.group_timeline as e anti join decoded.group_records as r "
        "on e.cluster_id = r.cluster_id and e.evidence_partition = r.partition_index and "
        "e.evidence_offset = r.log_offset and e.event_at_ms = r.recorded_at_ms "
        "and e.group_id = r.group_id where e.cluster_id = 'proofs'",
    )
    assert [row[0] for row in without.rows] == ["DECIDED"]


def test_a_real_broker_s_deletions_have_their_cause(tmp_path: Path) -> None:
    """Its check came each second: one group was deleted by a tool, the others in time."""
    settings = load_settings(SAMPLES / "moldau.yml", tmp_path / "w")
    with open_session(settings, "pytest") as of_sample:
        for file in ("__consumer_offsets.jsonl", "__consumer_offsets.later.jsonl"):
            load(of_sample, [SAMPLES / "west" / file], "west", "records")
    rows = query(
        tmp_path / "w",
        "select cause, group_id = 'c-delete-off' as by_a_tool, count(distinct group_id) as groups "
        "from marts.group_timeline where event like '%_DELETED' group by all order by all",
    ).rows
    assert list(rows) == [("BEFORE_DUE", True, 1), ("RETENTION", False, 12)]


def test_one_group_is_told_as_the_whole_mart_has_it(session: Session) -> None:
    load(session, [SAMPLES / "west" / "__consumer_offsets.jsonl"], "whole", "records")
    whole = query(
        session.warehouse,
        "select * from marts.group_timeline where cluster_id = 'whole' order by all",
    ).as_dicts()
    groups = sorted({row["group_id"] for row in whole})
    alone = [row for g in groups for row in timeline(session.warehouse, g, "whole").events]
    assert sorted(map(repr, alone)) == sorted(map(repr, whole)) and len(groups) > 5


def test_a_story_is_cut_and_a_name_must_be_known(session: Session, tmp_path: Path) -> None:
    log = Log()
    commits(log, "orders", 1, 2, 3)
    log.commit("orders", "other", at_ms=T + 9 * MINUTE)
    for cluster in ("cut-a", "cut-b"):
        bring(session, cluster, log, tmp_path)
    with pytest.raises(MoldauError, match="several clusters"):
        timeline(session.warehouse, "orders")
    with pytest.raises(MoldauError, match="no record of a group 'order' was loaded: did you mean"):
        timeline(session.warehouse, "order")
    with pytest.raises(MoldauError, match="no offsets of a topic 'nope': 'other', 't'"):
        timeline(session.warehouse, "orders", "cut-a", topic="nope")
    found = timeline(session.warehouse, "orders", "cut-a", topic="t", from_ms=T + MINUTE)
    assert [(row["event"], row["event_count"]) for row in found.events] == [("COMMITS", 2)]
    then = timeline(session.warehouse, "orders", "cut-a", as_of_ms=T + MINUTE)
    assert [told.words for told in in_words(then)] == [
        "first commit known of t-0: 1",
        "t-0: 1 commit, 1 to 2",
    ]
