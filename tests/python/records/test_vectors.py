"""Records whose bytes and meaning were made by Kafka 4.4's own classes (or by hand from them)."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest
from decoded_support import group_records
from embedded import read_assignments, read_subscriptions
from java_hash import (
    java_hash,
    offsets_partition_index,
    offsets_partition_indexes,
)
from records_support import FIXTURES, binary, json_rows, unhex
from row_decoder import decode_row

import moldau.records.walk_long as walk_long
from moldau.records.statuses import STATUS_NAMES

VECTORS = json.loads((FIXTURES / "record_vectors.json").read_text())
GROUPS = "__consumer_offsets"


def ids(vector: dict[str, Any]) -> str:
    return str(vector.get("id", vector.get("group")))


@pytest.mark.parametrize("vector", VECTORS["valid"] + VECTORS["other"], ids=ids)
def test_valid_record(vector: dict[str, Any]) -> None:
    topic = vector.get("topic", GROUPS)
    (row,) = json_rows(topic, [unhex(vector["key"])], [unhex(vector["value"])])
    for name in ("record_type", "value_version"):
        assert row[name] == vector[name]
    assert row["decode_status"] == vector["status"]
    assert row["key"] == vector["decoded_key"]
    assert row["value"] == vector["decoded_value"]
    assert "unknown_tags" not in row


@pytest.mark.parametrize("vector", VECTORS["odd"], ids=ids)
def test_odd_record(vector: dict[str, Any]) -> None:
    key, value = unhex(vector["key"]), unhex(vector["value"])
    (row,) = json_rows(GROUPS, [key], [value])
    assert row["decode_status"] == vector["status"]
    assert row["value"] == vector["decoded_value"]
    assert row.get("unknown_tags", {}) == vector["unknown_tags"]
    if "decoded_key" in vector:
        assert row["key"] == vector["decoded_key"]
    # Broken values leave the key standing.
    if vector["status"] in ("bad_value", "unknown_version"):
        assert row["key"] is not None
    assert decode_row("consumer_offsets", key, value).status == vector["status"]


def test_all_vectors_in_one_batch_decode_as_they_do_alone() -> None:
    vectors = VECTORS["valid"] + VECTORS["odd"]
    keys = [unhex(v["key"]) for v in vectors]
    values = [unhex(v["value"]) for v in vectors]
    rows = json_rows(GROUPS, keys, values)
    for row, vector in zip(rows, vectors, strict=True):
        assert row["decode_status"] == vector["status"], vector["id"]
        assert row["value"] == vector["decoded_value"], vector["id"]
    flat = group_records(binary(keys), binary(values))
    assert flat.column("decode_status").to_pylist() == [v["status"] for v in vectors]


@pytest.mark.parametrize("vector", VECTORS["embedded"], ids=ids)
def test_embedded_message(vector: dict[str, Any]) -> None:
    read = read_subscriptions if vector["kind"] == "subscription" else read_assignments
    versions, structs = read(binary([unhex(vector["bytes"])]))
    (value,) = structs.to_pylist()
    if value["userData"] is not None:
        value["userData"] = value["userData"].hex()
    assert versions.to_pylist() == [vector["version"]]
    assert value == vector["decoded"]


def test_embedded_version_above_the_newest_is_read_as_the_newest() -> None:
    data = bytes.fromhex(VECTORS["embedded"][0]["bytes"])
    later, broken, negative = b"\x00\x09" + data[2:] + b"more", data[:9], b"\xff\xff" + data[2:]
    versions, structs = read_subscriptions(binary([later, broken, negative, None, b"\0"]))
    assert versions.to_pylist() == [9, 3, None, None, None]
    assert [s is not None for s in structs.to_pylist()] == [True, False, False, False, False]
    assert structs[0].as_py()["rackId"] == "r1"


@pytest.mark.parametrize("vector", VECTORS["partitions"], ids=ids)
def test_group_to_partition(vector: dict[str, Any]) -> None:
    group = vector["group"]
    assert java_hash(group) == vector["java_hash"]
    assert offsets_partition_index(group, 50) == vector["of_50"]
    assert offsets_partition_index(group, 5) == vector["of_5"]


def test_group_to_partition_of_an_array() -> None:
    groups = [v["group"] for v in VECTORS["partitions"]]
    indexes = offsets_partition_indexes(pa.array([*groups, None, groups[0]]), 50)
    expected = [v["of_50"] for v in VECTORS["partitions"]]
    assert indexes.to_pylist() == [*expected, None, expected[0]]


COMMIT = "000000000000002a00000007010000018bcfe56800"
EDGES = {
    # What Kafka 4.4.0's generated classes did with these bytes; only the two wrong sizes of a known
    # tag are accepted by Kafka and refused here.
    "known tag, size 17 for 16": ("0004" + COMMIT + "01001100112233445566778899aabbccddeeff00", 6),
    "known tag, size 0 for 16": ("0004" + COMMIT + "01000000112233445566778899aabbccddeeff", 6),
    "negative number of tags": ("0004" + COMMIT + "ffffffff0f", 6),
    "negative size of an unknown tag": ("0004" + COMMIT + "0109ffffffff0f", 6),
    "varint of six bytes": ("0004" + COMMIT + "808080808000", 6),
    "zero tags in a long varint": ("0004" + COMMIT + "8080808000", 0),
    "string length -2": ("0003000000000000002a00000007fffe0000018bcfe56800", 6),
    "string length 2^32 - 1": ("0004000000000000002a00000007ffffffff0f0000018bcfe5680000", 6),
}


@pytest.mark.parametrize(("value", "status"), EDGES.values(), ids=EDGES)
@pytest.mark.parametrize("long", [4096, -1])
def test_edges_of_lengths_and_tags(
    value: str, status: int, long: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(walk_long, "LONG", long)
    key = bytes.fromhex("00010002673100066f726465727300000003")
    (row,) = json_rows(GROUPS, [key], [bytes.fromhex(value)])
    assert row["decode_status"] == STATUS_NAMES[status]
    assert decode_row("consumer_offsets", key, bytes.fromhex(value)).status == STATUS_NAMES[status]


def test_negative_lengths_are_null_where_null_may_be() -> None:
    group = "0003000000000000fffeffff0000018bcfe5680000000000"
    configs = "0000000000070000000000000000010105ffffffff0f"
    keys = [bytes.fromhex("000200026731"), bytes.fromhex("00110003617070")]
    rows = json_rows(GROUPS, keys, [bytes.fromhex(group), bytes.fromhex(configs)])
    assert [row["decode_status"] for row in rows] == ["ok", "ok"]
    assert rows[0]["value"]["protocol"] is None
    assert rows[1]["value"]["lastAssignmentConfigs"] is None
