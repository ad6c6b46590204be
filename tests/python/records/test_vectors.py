"""Records whose bytes and meaning were made by Kafka 4.4's own classes (or by hand from them)."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest
from records_support import FIXTURES, binary, json_rows, unhex
from row_decoder import decode_row

from moldau.records.embedded import read_assignments, read_subscriptions
from moldau.records.flat import group_records
from moldau.records.java_hash import (
    java_hash,
    offsets_partition_index,
    offsets_partition_indexes,
)

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
