"""Shared by the tests of the record decoder."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pyarrow as pa

from moldau.records.decode import decode
from moldau.records.jsonl import to_json_rows
from moldau.records.statuses import STATUS_NAMES

FIXTURES = Path(__file__).parents[2] / "fixtures"

TOPICS = {
    "consumer_offsets": "__consumer_offsets",
    "remote_log_metadata": "__remote_log_metadata",
    "share_group_state": "__share_group_state",
    "transaction_state": "__transaction_state",
    "offset_syncs": "mm2-offset-syncs.B.internal",
    "checkpoints": "A.checkpoints.internal",
    "heartbeats": "heartbeats",
}


def binary(items: list[bytes | None]) -> pa.Array:
    return pa.array(items, pa.binary())


def unhex(text: str | None) -> bytes | None:
    return None if text is None else bytes.fromhex(text)


def unbase64(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text)


def json_rows(
    topic: str, keys: list[bytes | None], values: list[bytes | None]
) -> list[dict[str, Any]]:
    numbers = pa.array(range(len(keys)), pa.int64())
    zeros = pa.array([0] * len(keys), pa.int32())
    return list(to_json_rows(topic, zeros, numbers, binary(keys), binary(values)))


def plain_rows(
    family: str, keys: list[bytes | None], values: list[bytes | None]
) -> list[dict[str, Any]]:
    """What the column-wise decoder says about each record, uuids and bytes as bytes."""
    out = decode(family, binary(keys), binary(values))
    by_row: dict[str, dict[int, Any]] = {"key": {}, "value": {}}
    for side, blocks in (("key", out.key_blocks), ("value", out.value_blocks)):
        for block in blocks:
            rows = block.good_rows().tolist()
            by_row[side].update(zip(rows, block.to_arrow().to_pylist(), strict=True))
    unknown = out.unknown_tags()
    none = -32769
    return [
        {
            "status": STATUS_NAMES[status],
            "record_type": None if kind == none else kind,
            "value_version": None if version == none else version,
            "key": by_row["key"].get(row),
            "value": by_row["value"].get(row),
            "unknown_tags": unknown.get(row, {}),
        }
        for row, (status, kind, version) in enumerate(
            zip(
                out.status.tolist(),
                out.record_type.tolist(),
                out.value_version.tolist(),
                strict=True,
            )
        )
    ]
