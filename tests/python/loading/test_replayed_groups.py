"""A log makes of a group what Kafka's own replay makes of it, wherever the log begins."""

from __future__ import annotations

from typing import Any

import pytest
from encode import encode_key, encode_value
from log_support import FAMILY, Log
from replayed_groups import REPLAYED, replay_of
from spark_support import fold_records, rows, with_clusters

from moldau.runs.decide import decide
from moldau.sessions.session import Session

DAY_MS = 86_400_000
AT_MS = 90 * DAY_MS
# of the second, records come one by one, the last first; longer logs are left out
CLUSTERS = ("replayed", "replayed backwards")
LONGEST = 4


def cases_of(cluster: str) -> list[tuple[str, dict[str, Any]]]:
    is_short = cluster == "replayed backwards"
    return [
        (name, case)
        for name, case in REPLAYED.items()
        if not is_short or len(case["records"]) <= LONGEST
    ]


def odd_log() -> Log:
    """Logs that Kafka does not load, or that go on after moldau's own sweep."""
    log = Log()
    log.add(member_key("cut member", 5), b"\x00\x00\x00")
    log.add(member_key("cut assignment", 7), b"\x00\x09")
    log.add(member_key("cut share", 10), b"")
    log.commit("cut topology")
    log.add(log.group_key("cut topology", 23), b"\x00\x00\x01")
    # a tombstone that the log has lost: the latest record of a group itself still says what it is
    log.classic("upgraded")
    log.add(log.group_key("upgraded", 3), encode_value(FAMILY, 3, 0, {"epoch": 2}))
    return log


def member_key(group: str, kind: int) -> bytes:
    key = encode_key(FAMILY, kind, {"groupId": group, "memberId": "m"})
    assert key is not None
    return key


@pytest.fixture(scope="module")
def replayed(session: Session) -> Session:
    ours = with_clusters(session, dict.fromkeys([*CLUSTERS, "odd replays"], "{}"))
    logs = [replay_of(case) for case in REPLAYED.values()]
    whole = [record for log in logs for record in log]
    fold_records(ours, {"replayed": whole, "odd replays": odd_log().records})
    for place in reversed(range(LONGEST)):
        turn = [log[place] for log in logs if place < len(log) <= LONGEST]
        fold_records(ours, {"replayed backwards": turn})
    decide(ours, "sweep", [*CLUSTERS, "odd replays"], AT_MS, is_dry_run=True)
    return ours


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_a_group_is_what_kafka_makes_of_its_log(replayed: Session, cluster: str) -> None:
    found = {
        name: {"type": kind, "state": state, "members": members, "keeps_t": keeps}
        for name, kind, state, members, keeps in rows(
            replayed,
            "select group_id, group_type, group_state, member_count, "
            "coalesce(array_contains(subscribed_topics, 't'), protocol_type = 'consumer') "
            f"from state.groups where cluster_id = '{cluster}' and not is_deleted",
        )
    }
    wrong = {
        name: (found.get(name), case["is"])
        for name, case in cases_of(cluster)
        if found.get(name) != case["is"]
    }
    assert not wrong


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_the_sweep_takes_what_kafkas_takes(replayed: Session, cluster: str) -> None:
    def told(table: str, columns: str) -> list[tuple[Any, ...]]:
        where = f"where cluster_id = '{cluster}'"
        return rows(replayed, f"select {columns} from decisions.{table} {where} order by all")

    expires: dict[str, list[str]] = {}
    for name, topic, decision in told("offset_expirations", "group_id, topic_name, decision"):
        expires.setdefault(name, []).extend([topic] * (decision == "expire"))
    goes = {name: d == "tombstone" for name, d in told("group_sweeps", "group_id, decision")}
    wrong = {
        name: (found, case["sweep"])
        for name, case in cases_of(cluster)
        if case["sweep"] is not None
        and (found := {"expires": expires.get(name, []), "goes": goes.get(name, False)})
        != case["sweep"]
    }
    assert not wrong


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_each_reason_has_its_name(replayed: Session, cluster: str) -> None:
    reasons = dict(
        rows(
            replayed,
            "select group_id, reason_code from decisions.offset_expirations "
            f"where cluster_id = '{cluster}' and topic_name = 't'",
        )
    )
    for members in ("t", "u", "both", "empty", "t+cut", "v9"):
        assert reasons[f"'' {members} v3"] == "NO_EXPIRATION_CONDITION", members
    for version in range(5):
        assert reasons[f"'' t v{version}"] == "NO_EXPIRATION_CONDITION", version
        assert reasons[f"'connect' t v{version}"] == "NO_EXPIRATION_CONDITION", version
        assert reasons[f"'consumer' t v{version}"] == "SUBSCRIBED", version
        assert reasons[f"'' none v{version}"] == "RETENTION_ELAPSED", version
    assert reasons["'' t noproto"] == reasons["'' t notime"] == "NO_EXPIRATION_CONDITION"
    assert reasons["5 c"] == reasons["c 5"] == reasons["16 c"] == "SUBSCRIBED"
    assert reasons["10 c"] == "NO_EXPIRATION_CONDITION"
    assert reasons["c 10"] == "RETENTION_ELAPSED"


def test_nothing_is_decided_where_a_part_cannot_be_read(replayed: Session) -> None:
    told = {
        name: tuple(rest)
        for name, *rest in rows(
            replayed,
            "select group_id, group_type, group_state, reason_code from state.groups "
            "join decisions.group_sweeps using (cluster_id, group_id) "
            "where cluster_id = 'odd replays'",
        )
    }
    assert told == {
        "cut member": ("consumer", "UNKNOWN", "UNREADABLE"),
        "cut assignment": ("consumer", "UNKNOWN", "UNREADABLE"),
        "cut share": ("share", "UNKNOWN", "SHARE_GROUP"),
        "cut topology": ("streams", "UNKNOWN", "UNREADABLE"),
        "upgraded": ("consumer", "EMPTY", "ALL_EXPIRED"),
    }


def test_a_tombstone_of_before_a_load_removes_nothing_that_came_since(session: Session) -> None:
    """Of the group, a part, and that part's: Kafka's group stays, however loads cut it."""
    clusters = {"replayed at once": (3,), "replayed in two": (2, 3), "replayed in three": (1, 2, 3)}
    ours = with_clusters(session, dict.fromkeys(clusters, "{}"))
    log = Log()
    log.add(log.group_key("app", 3), None)
    log.add(log.group_key("app", 4), encode_value(FAMILY, 4, 0, {}))
    log.add(log.group_key("app", 4), None)
    for cluster, ends in clusters.items():
        for start, end in zip((0, *ends), ends, strict=False):
            fold_records(ours, {cluster: log.records[start:end]})
    found = rows(
        ours,
        "select cluster_id, group_type, group_state from state.groups "
        "where group_id = 'app' and not is_deleted and cluster_id in "
        "('replayed at once', 'replayed in two', 'replayed in three') order by 1",
    )
    assert [tuple(row) for row in found] == [(it, "consumer", "EMPTY") for it in sorted(clusters)]


def test_a_group_whose_record_comes_later_becomes_what_that_says(session: Session) -> None:
    """The export before the one that began in the middle, loaded after it."""
    cluster = "replayed later"
    ours = with_clusters(session, {cluster: "{}"})
    log = Log()
    log.streams("app", stored=-1, epoch=3)
    log.add(log.group_key("gone", 3), encode_value(FAMILY, 3, 0, {"epoch": 3}))
    log.add(log.group_key("anew", 3), None)
    early = len(log.records)
    log.add(member_key("app", 19), encode_value(FAMILY, 19, 0, {}))
    log.member("gone")
    log.member("anew")
    late = len(log.records)
    log.add(member_key("gone", 5), None)
    log.add(log.group_key("gone", 3), None)

    def groups() -> list[tuple[Any, ...]]:
        return rows(
            ours,
            "select group_id, group_type, group_state, group_epoch, member_count "
            f"from state.groups where cluster_id = '{cluster}' order by 1",
        )

    fold_records(ours, {cluster: log.records[early:late]})
    assert groups() == [
        ("anew", "consumer", "RECONCILING", 1, 1),
        ("app", "streams", "NOT_READY", 1, 1),
        ("gone", "consumer", "RECONCILING", 1, 1),
    ]
    fold_records(ours, {cluster: log.records[:early]})
    assert groups() == [
        ("anew", "consumer", "RECONCILING", 1, 1),
        ("app", "streams", "NOT_READY", 3, 1),
        ("gone", "consumer", "ASSIGNING", 3, 1),
    ]
    fold_records(ours, {cluster: log.records[late:]})
    assert groups()[2] == ("gone", "consumer", "DEAD", 0, 0)


def test_parts_that_the_sweep_removed_make_no_group_again(session: Session) -> None:
    """What moldau's own sweep removed is gone; a later commit makes a simple group of that name."""
    cluster = "swept parts"
    ours = with_clusters(session, {cluster: "{authority: moldau}"})
    log = Log()
    log.add(member_key("empty", 7), encode_value(FAMILY, 7, 0, {}))
    log.commit("empty")
    before = len(log.records)
    log.commit("empty", at_ms=AT_MS)
    fold_records(ours, {cluster: log.records[:before]})
    columns = "group_type, group_state, is_deleted"
    asked = f"select {columns} from state.groups where cluster_id = '{cluster}'"
    assert rows(ours, asked) == [("consumer", "EMPTY", False)]
    decide(ours, "sweep", [cluster], AT_MS, is_dry_run=False)
    assert rows(ours, asked) == [("consumer", "DEAD", True)]
    fold_records(ours, {cluster: log.records[before:]})
    assert rows(ours, asked) == [("classic", "EMPTY", False)]
