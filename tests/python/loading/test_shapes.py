"""Lines of the kinds that hold lists and configs: what is taken, and what is said of a bad one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

from moldau.cli.load import KINDS
from moldau.loading.lines import read_chunks
from moldau.loading.shapes import shapes

SEGMENT = {"base_offset": 0, "size_bytes": 10, "max_timestamp_ms": -1, "is_active": False}
PLACE = {"topic_id": "id", "topic": "t", "partition": 0}
LINES: dict[str, dict[str, Any]] = {
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
        ("local_segments", {"segments": None}, "segments is null"),
        ("local_segments", {"segments": [SEGMENT, SEGMENT]}, "segments has base_offset 0 twice"),
        (
            "local_segments",
            {"segments": [SEGMENT | {"is_active": "no"}]},
            r"segments\[0\]: is_active is \"no\", not true or false",
        ),
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


@pytest.mark.parametrize("kind", LINES)
def test_parquet_says_the_same_as_json(kind: str, tmp_path: Path) -> None:
    shape = shapes()[kind]
    columns = {name: LINES[kind][name] for name in shape.fields}
    if kind == "topic_configs":
        columns["configs"] = [(name, str(v)) for name, v in columns["configs"].items()]
    fields = [(f.name, f.file_type) for f in shape.members]
    path = tmp_path / "lines.parquet"
    pyarrow.parquet.write_table(pa.Table.from_pylist([columns], schema=pa.schema(fields)), path)
    [(table, refused)] = read_chunks(path, shape)
    assert refused == []
    expected = pa.Table.from_pylist([shape.check(LINES[kind])], schema=shape.schema)
    assert table.drop_columns("line").to_pylist() == expected.to_pylist()
