"""Lines of the kinds that hold lists and configs: what is taken, and what is said of a bad one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

from moldau.cli.load import KINDS
from moldau.loading.read_lines import read_chunks
from moldau.loading.shapes import shapes
from moldau.topologies.pushed import pushed

SEGMENT = {"base_offset": 0, "size_bytes": 10, "max_timestamp_ms": -1, "is_active": False}
PLACE = {"topic_id": "id", "topic": "t", "partition": 0}
REQUEST = {"request_id": "r1", "received_at_ms": 5}
MEMBER = {"group_id": "g", "member_id": "m"}
SOURCE = {"name": "in", "nodeType": 1, "sourceTopics": ["b", "a", "b"]}
PUSHED = {"subtopologies": [{"subtopologyId": "0", "nodes": [SOURCE]}], "globalStores": []}
LINES: dict[str, dict[str, Any]] = {
    "heartbeats": {
        **REQUEST, **MEMBER, "request_version": 1, "member_epoch": -1, "response_error": "NONE",
        "status_codes": [None, 0],
    },
    "topology_pushes": {
        **REQUEST, **MEMBER, "topology_epoch": 0, "topology_description": PUSHED, "jitter": 0.8,
    },
    "group_deletions": {**REQUEST, "request_version": 2, "group_ids": ["g", None, "g"]},
    "classic_joins": {**REQUEST, **MEMBER},
    "coordinator_unloads": {"offsets_partition_index": 0, "at_ms": 5},
    "group_listings": {
        "group_id": "g", "group_type": None, "group_state": "NOT_READY", "is_simple": False,
        "taken_at_ms": 5,
    },
    "leader_epochs": {**PLACE, "epochs": [{"epoch": 0, "start_offset": 0}]},
    "local_segments": {**PLACE, "broker_id": 1, "segments": [SEGMENT]},
    "topic_configs": {
        "topic_id": "id", "topic": "t", "valid_from_ms": 0, "configs": {"retention.ms": 5},
    },
}  # fmt: skip


def test_the_command_line_names_every_kind() -> None:
    assert set(KINDS) == set(shapes())


@pytest.mark.parametrize("kind", LINES)
def test_a_good_line_is_taken_and_other_fields_are_ignored(kind: str) -> None:
    checked = shapes()[kind].check({**LINES[kind], "note": "ignored"})
    assert list(checked) == shapes()[kind].schema.names
    assert pa.Table.from_pylist([checked], schema=shapes()[kind].schema).num_rows == 1


def test_configs_become_kafkas_text() -> None:
    configs = {"remote.storage.enable": True, "retention.ms": 5, "x.y": "any", "cleanup.policy": ""}
    checked = shapes()["topic_configs"].check({**LINES["topic_configs"], "configs": configs})
    assert dict(checked["configs"]) == {
        "remote.storage.enable": "true", "retention.ms": "5", "x.y": "any", "cleanup.policy": "",
    }  # fmt: skip


def test_lists_are_brought_into_order() -> None:
    segments = [SEGMENT | {"base_offset": 9}, SEGMENT | {"base_offset": 4, "record_count": 5}]
    checked = shapes()["local_segments"].check({**LINES["local_segments"], "segments": segments})
    assert [s["base_offset"] for s in checked["segments"]] == [4, 9]
    assert [s["record_count"] for s in checked["segments"]] == [5, None]


@pytest.mark.parametrize(
    ("kind", "change", "said"),
    [
        ("leader_epochs", {"epochs": 5}, "epochs is 5, not a list"),
        ("leader_epochs", {"epochs": [5]}, r"epochs\[0\] is 5, not an object"),
        ("leader_epochs", {"epochs": [{"epoch": 1}]}, r"epochs\[0\]: start_offset is missing"),
        (
            "leader_epochs",
            {"epochs": [{"epoch": -1, "start_offset": 0}]},
            r"epochs\[0\]: epoch is -1, less than 0",
        ),
        (
            "leader_epochs",
            {"epochs": [{"epoch": 1, "start_offset": 0}, {"epoch": 1, "start_offset": 5}]},
            "epochs has leader_epoch 1 twice",
        ),
        (
            "leader_epochs",
            {"epochs": [{"epoch": 1, "start_offset": 9}, {"epoch": 2, "start_offset": 5}]},
            "epochs: start_offset falls to 5 at leader_epoch 2",
        ),
        ("group_listings", {"group_type": "Share"}, "not one of .*did you mean share"),
        ("group_listings", {"group_state": "PreparingRebalance"}, "not one of UNKNOWN, PREPARING_"),
        ("local_segments", {"segments": None}, "segments is null"),
        ("local_segments", {"segments": [SEGMENT, SEGMENT]}, "segments has base_offset 0 twice"),
        (
            "local_segments",
            {"segments": [SEGMENT | {"is_active": "no"}]},
            r"segments\[0\]: is_active is \"no\", not true or false",
        ),
        ("heartbeats", {"status_codes": [1, "STALE"]}, r"status_codes\[1\] is \"STALE\", not a"),
        ("heartbeats", {"status_codes": [2**31]}, r"status_codes\[0\] is 2147483648, not a number"),
        ("heartbeats", {"jitter": 1.3}, "jitter is 1.3, not between 0.8 and 1.2"),
        ("heartbeats", {"jitter": True}, "jitter is true, not a number"),
        ("classic_joins", {"jitter": 0.7}, "jitter is 0.7, not between 0.8 and 1.2"),
        ("heartbeats", {"response_error": "none"}, 'response_error is "none", not the name of an'),
        (
            "topology_pushes",
            {"write_error": "NOT_LEADER"},
            "such as NOT_LEADER_OR_FOLLOWER or .* the table seeds.error_codes",
        ),
        ("topology_pushes", {"coordinator_error": ""}, 'coordinator_error is "", not the name'),
        ("topology_pushes", {"authorization_error": 30}, "authorization_error is 30, not a string"),
        ("group_deletions", {"read_error": "it's \x00"}, "read_error is .*, not the name of"),
        ("group_deletions", {"group_ids": "g"}, 'group_ids is "g", not a list'),
        ("group_deletions", {"group_ids": [None, "g", ""]}, 'group_ids has null and ""'),
        ("topology_pushes", {"topology_description": ["\ud800"]}, "half a surrogate pair"),
        ("topic_configs", {"configs": [["retention.ms", 1]]}, "not an object"),
        ("topic_configs", {"configs": {"": 1}}, "configs is empty"),
        ("topic_configs", {"configs": {"retention.ms": [1]}}, "not a string"),
        ("topic_configs", {"configs": {"retention.ms": "soon"}}, "retention.ms: 'soon' is not"),
        (
            "topic_configs",
            {"configs": {"retention.ms": 5, "local.retention.ms": 6}},
            "local.retention.ms",
        ),
    ],
)
def test_a_bad_line_is_refused_with_what_is_wrong(
    kind: str, change: dict[str, Any], said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        shapes()[kind].check({**LINES[kind], **change})


def test_a_share_is_checked_though_nothing_else_is_looked_at_line_by_line(tmp_path: Path) -> None:
    path = tmp_path / "joins.jsonl"
    path.write_text(json.dumps(LINES["classic_joins"] | {"jitter": 1.3}) + "\n")
    [(table, [refused])] = read_chunks(path, shapes()["classic_joins"])
    assert (table.num_rows, refused.reason) == (0, "jitter is 1.3, not between 0.8 and 1.2")


@pytest.mark.parametrize("kind", LINES)
def test_parquet_says_the_same_as_json(kind: str, tmp_path: Path) -> None:
    shape = shapes()[kind]
    columns = {name: LINES[kind].get(name) for name in shape.fields}
    if kind == "topic_configs":
        columns["configs"] = [(name, str(v)) for name, v in columns["configs"].items()]
    if kind == "topology_pushes":  # an object has no type of its own: Parquet holds its text
        columns["topology_description"] = json.dumps(PUSHED)
    fields = [(f.name, f.file_type) for f in shape.members]
    path = tmp_path / "lines.parquet"
    pyarrow.parquet.write_table(pa.Table.from_pylist([columns], schema=pa.schema(fields)), path)
    [(table, refused)] = read_chunks(path, shape)
    assert refused == []
    [expected] = pa.Table.from_pylist([shape.check(LINES[kind])], schema=shape.schema).to_pylist()
    [read] = table.drop_columns("line").to_pylist()
    for row in (read, expected):
        pushed = row.get("topology_description")
        if pushed:
            pushed["text"] = None  # as it came: here with quotes around
    assert read == expected


@pytest.mark.parametrize(
    ("given", "error"),
    [
        (PUSHED, None),
        ({}, None),
        ([], "the description is not an object"),
        ("{", "the description is not an object"),
        ({"subtopologies": 5}, "subtopologies is not a list of objects"),
        (
            {"subtopologies": [{"subtopologyId": "0", "nodes": [{"name": "n", "nodeType": 99}]}]},
            "Unknown topology node type: 99",
        ),
    ],
)
def test_a_bad_description_is_taken_with_what_kafka_answers(given: Any, error: str | None) -> None:
    row = pushed("topology_description", given)
    assert row["error_message"] == error
    assert (row["description"] is None) == (error is not None)
    assert json.loads(row["text"]) == given


def test_a_description_is_kept_as_a_plugin_gets_it() -> None:
    row = pushed("topology_description", PUSHED)
    [part] = json.loads(row["description"])["subtopologies"]
    [node] = part["nodes"]
    assert (node["sourceTopics"], node["sinkTopic"], row["findings"]) == (["b", "a"], None, [])
    twice = pushed("topology_description", {"subtopologies": PUSHED["subtopologies"] * 2})
    assert twice["findings"][0] == "subtopology '0' is there 2 times"
