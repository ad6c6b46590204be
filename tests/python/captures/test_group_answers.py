"""A loaded capture says about its groups what Kafka's own admin client said."""

from __future__ import annotations

import json
from typing import Any

import pytest
from spark_support import CAPTURES, dicts, rows

from moldau.runs.load import load
from moldau.sessions.session import Session

CLUSTER = "groups-as-kafka-answers"
ADMIN: dict[str, dict[str, Any]] = json.loads((CAPTURES / "groups" / "expected.json").read_text())[
    "admin"
]["groups"]
# Kafka lists it, but all its commits were aborted: no committed record names it
NOT_IN_THE_RECORDS = {"g-txn-aborted-only"}
# the reader that wrote the capture; it was gone when Kafka was asked
READER = {"lab-capture"}
# Kafka answers null for the partitions of share groups: they commit no offsets
WITHOUT_OFFSETS = {"g-share", "g-share-console"}

LISTED = {
    name: answer
    for name, answer in ADMIN.items()
    if answer["listed"] and name not in NOT_IN_THE_RECORDS
}


@pytest.fixture(scope="module")
def loaded(session: Session) -> Session:
    load(session, [CAPTURES / "groups" / "__consumer_offsets.jsonl"], CLUSTER, "records")
    return session


@pytest.fixture(scope="module")
def groups(loaded: Session) -> dict[str, dict[str, Any]]:
    found = dicts(
        loaded, f"select * from state.groups where cluster_id = '{CLUSTER}' and not is_deleted"
    )
    return {row["group_id"]: row for row in found}


def test_the_same_groups_exist(groups: dict[str, dict[str, Any]]) -> None:
    assert set(groups) - READER == set(LISTED)
    assert not NOT_IN_THE_RECORDS & set(groups)


def test_deleted_groups_are_deleted(loaded: Session) -> None:
    deleted = rows(
        loaded, f"select group_id from state.groups where cluster_id = '{CLUSTER}' and is_deleted"
    )
    assert {name for (name,) in deleted} == {"g-classic-deleted", "g-streams-deleted"}


@pytest.mark.parametrize("name", sorted(LISTED))
def test_a_group_is_as_kafka_described_it(groups: dict[str, dict[str, Any]], name: str) -> None:
    group, answer = groups[name], LISTED[name]
    described = answer["describe"]
    found = {
        "type": group["group_type"].capitalize(),
        "state": group["group_state"].capitalize(),
        "protocol": group["protocol_type"],
        "members": group["member_count"],
    }
    expected = {key: answer[key] for key in ("type", "state", "protocol")}
    expected["members"] = len(described["members"])
    if described.get("group_epoch") is not None:
        found["group_epoch"] = group["group_epoch"]
        expected["group_epoch"] = described["group_epoch"]
    if "topology_epoch" in described:
        found["topology_epoch"] = group["topology_epoch"]
        expected["topology_epoch"] = described["topology_epoch"]
        found["is_stored"] = group["stored_description_topology_epoch"] == group["topology_epoch"]
        expected["is_stored"] = described["description_status"] == "AVAILABLE"
    assert found == expected


def test_committed_offsets_are_those_that_kafka_answered(loaded: Session) -> None:
    found: dict[str, dict[str, Any]] = {}
    for group, partition, *commit in rows(
        loaded,
        "select group_id, concat(topic_name, '-', partition_index), committed_offset, "
        f"leader_epoch, metadata from state.group_offsets where cluster_id = '{CLUSTER}' "
        "and not is_deleted",
    ):
        names = ("offset", "leader_epoch", "metadata")
        found.setdefault(group, {})[partition] = dict(zip(names, commit, strict=True))
    expected = {
        name: answer["offsets"]
        for name, answer in LISTED.items()
        if answer["offsets"] and name not in WITHOUT_OFFSETS
    }
    assert {name: offsets for name, offsets in found.items() if name not in READER} == expected
    assert any(c["metadata"].endswith("\0") for c in found["g-classic"].values())
