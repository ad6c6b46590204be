"""Every captured record decodes to what Kafka's own classes said about it, line by line."""

from __future__ import annotations

import base64
import json
from functools import cache, partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from decoded_support import columns_of, decoded, remote_log_records
from records_support import FIXTURES, binary, json_rows, unbase64
from row_decoder import decode_row

from moldau.declared import topics
from moldau.records.families import FAMILIES, family_of
from moldau.records.wire_schema import Field, default_of

CAPTURES = FIXTURES / "captures"
DECODED = sorted(CAPTURES.rglob("*.decoded.jsonl"))
RAW = sorted(p for p in CAPTURES.rglob("*.jsonl") if not p.name.endswith(".decoded.jsonl"))


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@cache
def raw(path: Path) -> tuple[list[dict[str, Any]], list[bytes | None], list[bytes | None]]:
    lines = lines_of(path)
    keys = [unbase64(line["key_base64"]) for line in lines]
    return lines, keys, [unbase64(line["value_base64"]) for line in lines]


def name_of(path: Path) -> str:
    return str(path.relative_to(CAPTURES))


def raw_of(decoded: Path) -> Path:
    return decoded.with_name(decoded.name.replace(".decoded.jsonl", ".jsonl"))


def json_default(field: Field) -> Any:
    value = default_of(field, 0)
    if field.kind == "uuid":
        return base64.urlsafe_b64encode(bytes(16)).decode().rstrip("=")
    return value


def fill(fields: tuple[Field, ...], version: int, value: dict[str, Any]) -> dict[str, Any]:
    """Kafka's JSON leaves tagged fields at their default out: put them in."""
    filled: dict[str, Any] = {}
    for field in fields:
        if not field.present_in(version):
            continue
        if field.tag is not None and field.name not in value:
            filled[field.name] = json_default(field)
            continue
        inner = value[field.name]
        if field.struct is not None and inner is not None:
            if field.is_array:
                inner = [fill(field.struct, version, element) for element in inner]
            else:
                inner = fill(field.struct, version, inner)
        filled[field.name] = inner
    assert set(value) <= set(filled)
    return filled


@pytest.mark.parametrize(
    "path", [p for p in DECODED if "__consumer_offsets" in p.name], ids=name_of
)
def test_consumer_offsets(path: Path) -> None:
    lines, keys, values = raw(raw_of(path))
    rows, expected = json_rows("__consumer_offsets", keys, values), lines_of(path)
    assert len(rows) == len(expected) > 0
    for line, row, kafka in zip(lines, rows, expected, strict=True):
        assert (line["partition"], line["offset"]) == (kafka["partition"], kafka["offset"])
        record = FAMILIES["consumer_offsets"].types[kafka["type"]]
        assert row["record_type"] == kafka["type"]
        assert row["record_name"] == kafka["name"]
        assert row["key"] == kafka["key"]
        assert row["value_version"] == kafka.get("version")
        if kafka.get("value") is None:
            assert (row["decode_status"], row["value"]) == ("tombstone", None)
        else:
            assert row["decode_status"] == "ok"
            assert row["value"] == fill(record.value.fields, kafka["version"], kafka["value"])


def test_remote_log_metadata() -> None:
    path = CAPTURES / "tiered" / "__remote_log_metadata.decoded.jsonl"
    _, keys, values = raw(raw_of(path))
    expected = lines_of(path)
    flat = remote_log_records(binary(keys), binary(values)).to_pylist()
    assert len(flat) == len(expected) > 0
    for row, kafka in zip(flat, expected, strict=True):
        assert row["decode_status"] == "ok"
        assert row["record_name"] == kafka["kind"]
        assert row["event_at_ms"] == kafka["event_ms"]
        assert row["broker_id"] == kafka["broker"]
        assert f"{row['topic_name']}-{row['partition_index']}" == kafka["topic_partition"]
        assert row["topic_id"] == kafka["topic_id"]
        assert row["segment_id"] == kafka.get("segment")
        assert (row["segment_state"] or row["partition_delete_state"]) == kafka["state"]
        assert row["start_offset"] == kafka.get("start")
        assert row["end_offset"] == kafka.get("end")
        assert row["size_bytes"] == kafka.get("size")
        assert row["max_timestamp_ms"] == kafka.get("max_ts")
        assert row["txn_index_empty"] == kafka.get("txn_index_empty")
        assert row["custom_metadata"] == unbase64(kafka.get("custom_metadata_base64"))
        epochs = row["leader_epochs"]
        pairs = None if epochs is None else [(e["leader_epoch"], e["start_offset"]) for e in epochs]
        text = kafka.get("epochs")
        assert (text is None) == (pairs is None)
        if pairs is not None:
            assert "{" + ", ".join(f"{e}={s}" for e, s in pairs) + "}" == text


@pytest.mark.parametrize(
    "path", [p for p in DECODED if p.name.endswith("internal.decoded.jsonl")], ids=name_of
)
def test_mirror_topics(path: Path) -> None:
    lines, keys, values = raw(raw_of(path))
    expected = lines_of(path)
    rows = json_rows(lines[0]["topic"], keys, values)
    assert len(rows) == len(expected) > 0
    for row, kafka in zip(rows, expected, strict=True):
        assert row["decode_status"] == "ok"
        assert row["key"]["topic"] == kafka["topic"]
        assert row["key"]["partition"] == kafka["topic_partition"]
        assert row["key"].get("group") == kafka.get("group")
        assert row["value"]["upstreamOffset"] == kafka["upstream"]
        assert row["value"]["downstreamOffset"] == kafka["downstream"]
        assert row["value"].get("metadata") == kafka.get("metadata")


@pytest.mark.parametrize("path", RAW, ids=name_of)
def test_every_captured_record_is_right_and_both_decoders_agree(path: Path) -> None:
    lines, keys, values = raw(path)
    topic = lines[0]["topic"]
    family = family_of(topic)
    assert family is not None
    rows = json_rows(topic, keys, values)
    for row, key, value in zip(rows, keys, values, strict=True):
        peer = decode_row(family, key, value)
        assert row["decode_status"] == peer.status
        assert row["decode_status"] in ("ok", "tombstone")
        assert (row["value"] is None) == (peer.value is None)
    if family in topics():
        make = partial(decoded, family)
        batch = make(binary(keys), binary(values))
        assert batch.schema.equals(columns_of(family))
        assert batch.num_rows == len(lines)
        halves = [
            make(binary(keys).slice(i, 7), binary(values).slice(i, 7))
            for i in range(0, len(keys), 7)
        ]
        assert pa.Table.from_batches(halves).equals(pa.Table.from_batches([batch]))
