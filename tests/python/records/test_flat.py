"""The flat columns: the rules that are more than a field by another name."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import pyarrow as pa
import pytest
from decoded_support import columns_of, decoded, group_records, remote_log_records
from encode import encode_key, encode_value, uvarint
from records_support import TOPICS, binary

import moldau.records.walk_long as walk_long
from moldau.declared import topics
from moldau.records.families import family_of

FAMILY = "consumer_offsets"
KEY = encode_key(FAMILY, 2, {"group": "g"})


def one(number: int, version: int, value: dict[str, Any] | None, **key: Any) -> dict[str, Any]:
    data = None if value is None else encode_value(FAMILY, number, version, value)
    batch = group_records(binary([encode_key(FAMILY, number, key)]), binary([data]))
    return dict(batch.to_pylist()[0])


def subscription(*topics: str, version: int = 0, extra: bytes = b"") -> bytes:
    out = version.to_bytes(2, "big", signed=True) + len(topics).to_bytes(4, "big")
    for topic in topics:
        out += len(topic).to_bytes(2, "big") + topic.encode()
    return out + b"\xff\xff\xff\xff" + extra


def topics_of(
    *subscriptions: bytes, kind: str = "consumer", protocol: str | None = "range"
) -> list[str] | None:
    members = [{"memberId": f"m{i}", "subscription": s} for i, s in enumerate(subscriptions)]
    value = {"protocolType": kind, "protocol": protocol, "members": members}
    row = one(2, 3, value, group="g")
    assert row["decode_status"] == "ok"
    assert row["member_count"] == len(members)
    topics: list[str] | None = row["subscribed_topics"]
    return topics


@pytest.fixture(params=[4096, -1], ids=["together", "one_by_one"])
def both_walks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walk_long, "LONG", request.param)


@pytest.mark.usefixtures("both_walks")
def test_topics_of_a_classic_group() -> None:
    assert topics_of(subscription("b", "a"), subscription("c", "a")) == ["a", "b", "c"]
    # The version is not looked at, and bytes behind version 0 are not either.
    assert topics_of(subscription("a", version=-1)) == ["a"]
    assert topics_of(subscription("a", version=3, extra=b"\xff")) == ["a"]
    assert topics_of(subscription()) == []
    assert topics_of() == []
    assert topics_of(protocol=None) == []
    assert topics_of(subscription("a"), protocol=None) is None
    assert topics_of(subscription("a"), kind="connect") is None
    assert topics_of(kind="") is None


@pytest.mark.usefixtures("both_walks")
@pytest.mark.parametrize(
    "broken",
    [
        b"",
        b"\0",
        b"\0\0",
        subscription("a")[:-1],
        b"\0\0\xff\xff\xff\xff\xff\xff\xff\xff",
        b"\0\0\0\0\0\1\xff\xff\xff\xff\xff\xff",
        b"\0\0\x7f\xff\xff\xff",
    ],
    ids=lambda data: data.hex() or "empty",
)
def test_one_broken_subscription_leaves_the_group_without_topics(broken: bytes) -> None:
    assert topics_of(subscription("a"), broken) is None


@pytest.mark.usefixtures("both_walks")
def test_topics_of_other_types() -> None:
    names = ["b", "a", "b"]
    member = {"subscribedTopicNames": names, "subscribedTopicRegex": "x.*"}
    row = one(5, 0, member, groupId="g", memberId="m")
    assert (row["subscribed_topics"], row["subscribed_topic_regex"]) == (["a", "b"], "x.*")
    share = one(10, 0, {"subscribedTopicNames": []}, groupId="g", memberId="m")
    assert share["subscribed_topics"] == []
    regex = one(16, 0, {"topics": names}, groupId="g", regularExpression="r")
    assert (regex["subscribed_topics"], regex["regular_expression"]) == (["a", "b"], "r")
    repartition = {"name": "a-rep", "partitions": 2, "replicationFactor": 1, "topicConfigs": []}
    topology = [
        {"subtopologyId": "0", "sourceTopics": ["in", "a-rep"], "repartitionSinkTopics": ["no"]},
        {"subtopologyId": "1", "sourceTopics": ["in"], "repartitionSourceTopics": [repartition]},
    ]
    row = one(23, 0, {"epoch": 4, "subtopologies": topology}, groupId="g")
    assert (row["subscribed_topics"], row["epoch"]) == (["a-rep", "in"], 4)
    assert one(17, 0, {}, groupId="g")["subscribed_topics"] is None


def test_offset_commits_of_all_versions_share_their_columns() -> None:
    key = {"group": "g", "topic": "t", "partition": 3}
    value = {"offset": 42, "leaderEpoch": 7, "metadata": "m", "commitTimestamp": 9}
    rows = [one(0, 0, value, **key), *(one(1, v, value, **key) for v in range(5))]
    for row in rows:
        named = ("group_id", "committed_topic_name", "committed_partition_index")
        assert [row[name] for name in named] == ["g", "t", 3]
        assert (row["committed_offset"], row["metadata"], row["commit_at_ms"]) == (42, "m", 9)
        assert row["topic_id"] is None
        assert row["expire_at_ms"] is None
    assert [row["record_type"] for row in rows] == [0, 1, 1, 1, 1, 1]
    assert [row["leader_epoch"] for row in rows] == [None, None, None, None, 7, 7]
    assert one(1, 1, value | {"expireTimestamp": 5}, **key)["expire_at_ms"] == 5


def test_epochs_and_states_by_type() -> None:
    member = {"groupId": "g", "memberId": "m"}
    current = {"memberEpoch": 4, "previousMemberEpoch": 3, "state": 127}
    for number in (8, 14, 22):
        row = one(number, 0, current, **member)
        assert (row["epoch"], row["previous_member_epoch"], row["member_state"]) == (4, 3, 127)
    for number in (6, 12, 20):
        assert one(number, 0, {"assignmentEpoch": 6}, groupId="g")["epoch"] == 6
    for number in (3, 11, 17, 23):
        assert one(number, 0, {"epoch": 8}, groupId="g")["epoch"] == 8
    row = one(17, 0, {"storedDescriptionTopologyEpoch": -2}, groupId="g")
    assert row["validated_topology_epoch"] == -1
    assert row["stored_description_topology_epoch"] == -2
    assert row["failed_description_topology_epoch"] == -1
    assert one(2, 3, {"generation": 5}, group="g")["epoch"] == 5
    assert one(2, 3, {}, group="g")["state_at_ms"] is None
    assert one(2, 1, {}, group="g")["state_at_ms"] is None
    assert one(2, 2, {"currentStateTimestamp": 7}, group="g")["state_at_ms"] == 7


def test_a_broken_value_leaves_the_key_columns() -> None:
    row = group_records(binary([KEY]), binary([b"\0\3\0"])).to_pylist()[0]
    assert (row["decode_status"], row["group_id"]) == ("bad_value", "g")
    assert (row["value_version"], row["is_tombstone"]) == (3, False)
    assert row["protocol_type"] is None
    row = group_records(binary([KEY]), binary([None])).to_pylist()[0]
    assert (row["decode_status"], row["group_id"]) == ("tombstone", "g")
    assert row["is_tombstone"] is True


@pytest.mark.parametrize("family", topics())
def test_chunks_slices_nulls_and_large_binary(family: str) -> None:
    schema, make = columns_of(family), partial(decoded, family)
    empty = make(pa.nulls(0, pa.binary()), pa.nulls(0, pa.binary()))
    assert empty.schema.equals(schema)
    keys, values = binary([KEY, None, b""] * 3), binary([b"\1\0", None, b""] * 3)
    whole = make(keys, values)
    assert whole.schema.equals(schema)
    assert make(keys.cast(pa.large_binary()), values.cast(pa.large_binary())).equals(whole)
    chunked = pa.chunked_array([keys.slice(0, 2), keys.slice(2)])
    assert make(chunked, values).equals(whole)
    assert make(keys.slice(3, 3), values.slice(3, 3)).equals(whole.slice(3, 3))
    assert make(pa.nulls(2), pa.nulls(2)).num_rows == 2


def test_remote_log_states_keep_numbers_kafka_does_not_have() -> None:
    value = encode_value("remote_log_metadata", 1, 0, {"remoteLogSegmentId": {
        "topicIdPartition": {"name": "t", "id": bytes(16), "partition": 0}, "id": bytes(15) + b"1",
    }, "remoteLogSegmentState": 9})  # fmt: skip
    batch = remote_log_records(pa.nulls(2, pa.binary()), binary([value, value + b"\0"]))
    first, trailing = batch.to_pylist()
    assert (first["segment_state"], first["topic_id"]) == ("UNKNOWN_9", "A" * 22)
    assert trailing["decode_status"] == "bad_value"
    assert trailing["topic_name"] is None


def test_hostile_records_cost_neither_time_nor_memory() -> None:
    count = 100_000
    member = encode_key(FAMILY, 5, {"groupId": "g", "memberId": "m"})
    group = encode_key(FAMILY, 17, {"groupId": "g"})
    many = {"subscribedTopicNames": [""] * count}
    hostile = bytes.fromhex("0000" + "0000" + "0263" + "0268" + "ffffffff07") + bytes(100)
    before = pa.total_allocated_bytes()
    start = time.process_time()
    keys = [member, group, KEY, *[member] * 1000]
    values = [
        encode_value(FAMILY, 5, 0, many),
        bytes(14) + uvarint(count) + b"\x09\0" * count,
        encode_value(FAMILY, 2, 3, {"members": [{}] * 20_000}),
        *[hostile] * 1000,
    ]
    batch = group_records(binary(keys), binary(values))
    assert time.process_time() - start < 20
    assert pa.total_allocated_bytes() - before < 100_000_000
    status = batch.column("decode_status").to_pylist()
    assert status == ["ok", "ok", "ok", *["bad_value"] * 1000]


@pytest.mark.parametrize(("family", "topic"), TOPICS.items())
def test_family_of_a_topic(family: str, topic: str) -> None:
    assert family_of(topic) == family


@pytest.mark.parametrize(
    "topic", ["orders", "", "mm2-offset-syncs..internal", ".checkpoints.internal", "A.heartbeats"]
)
def test_other_topics_have_no_family(topic: str) -> None:
    assert family_of(topic) is None


def test_a_long_record_beside_short_ones_keeps_its_leader_epochs() -> None:
    def started(name: str, epoch: int) -> bytes:
        partition = {"name": name, "id": bytes(16), "partition": 0}
        return encode_value("remote_log_metadata", 0, 0, {
            "remoteLogSegmentId": {"topicIdPartition": partition, "id": bytes(16)},
            "segmentLeaderEpochs": [{"leaderEpoch": epoch, "offset": 7}],
        })  # fmt: skip

    values = [started("t", 0), started("x" * 32_000, 1), b"", started("t", 2)]
    batch = remote_log_records(pa.nulls(4, pa.binary()), binary(values))
    epochs = batch.column("leader_epochs").to_pylist()
    assert [it and it[0]["leader_epoch"] for it in epochs] == [0, 1, None, 2]
    ids = ("A" * 22, "A" * 22)
    assert (batch.column("topic_id")[1].as_py(), batch.column("segment_id")[1].as_py()) == ids
