"""What a line of each kind of file has to look like."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from moldau.loading.checks import (
    Check,
    base64_bytes,
    boolean,
    configs,
    headers,
    in_order,
    integer,
    name_text,
    objects,
    text,
)
from moldau.loading.shape import Field, Shape

INT32_MAX, INT64_MAX = 2**31 - 1, 2**63 - 1


def _text(name: str, column: str | None = None, check: Check = name_text, **more: Any) -> Field:
    return Field(name, column or name, pa.string(), pa.string(), check, **more)


def _int32(name: str, column: str | None = None, minimum: int = 0, **more: Any) -> Field:
    return Field(
        name, column or name, pa.int64(), pa.int32(), integer,
        minimum=minimum, maximum=INT32_MAX, **more,
    )  # fmt: skip


def _int64(name: str, column: str | None = None, minimum: int = 0, **more: Any) -> Field:
    return Field(
        name, column or name, pa.int64(), pa.int64(), integer,
        minimum=minimum, maximum=INT64_MAX, **more,
    )  # fmt: skip


def _bytes(name: str, column: str) -> Field:
    return Field(name, column, pa.string(), pa.binary(), base64_bytes, is_nullable=True)


def _list(name: str, key: str, rises: str, *members: Field) -> Field:
    """A list of objects, in the order of a field of theirs."""
    check = in_order(objects(Shape("", members).check), key, rises)
    file_kind = pa.list_(pa.struct([(f.name, f.file_type) for f in members]))
    kind = pa.list_(pa.struct([(f.column, f.type) for f in members]))
    return Field(name, name, file_kind, kind, check)


_TEXTS = pa.map_(pa.string(), pa.string())
_OPTIONAL: dict[str, Any] = {"is_required": False, "is_nullable": True}

RECORDS = Shape(
    "records",
    (
        _text("topic", "topic_name"),
        _int32("partition", "partition_index"),
        _int64("offset", "log_offset"),
        _int64("timestamp_ms", "recorded_at_ms", minimum=-1),  # -1: the record has none
        _text("timestamp_type", check=text, **_OPTIONAL),
        _bytes("key_base64", "record_key"),
        _bytes("value_base64", "record_value"),
        Field("headers", "headers", pa.string(), pa.string(), headers, **_OPTIONAL),
    ),
)

OPEN_TRANSACTIONS = Shape(
    "open_transactions",
    (
        _text("group_id", check=text),
        _text("topic", "topic_name"),
        _int32("partition", "partition_index"),
        _int64("producer_id"),
    ),
)

PARTITION_STATES = Shape(
    "partition_states",
    (
        _text("topic_id", **_OPTIONAL),
        _text("topic", "topic_name"),
        _int32("partition", "partition_index"),
        _int32("broker_id"),
        Field("is_leader", "is_leader", pa.bool_(), pa.bool_(), boolean),
        _int32("leader_epoch", minimum=-1, **_OPTIONAL),
        *(
            _int64(name, minimum=-1, **_OPTIONAL)
            for name in (
                "log_start_offset", "local_log_start_offset", "last_stable_offset",
                "high_watermark", "log_end_offset",
            )
        ),
        _int64("taken_at_ms"),
    ),
)  # fmt: skip

LEADER_EPOCHS = Shape(
    "leader_epochs",
    (
        _text("topic_id"),
        _text("topic", "topic_name"),
        _int32("partition", "partition_index"),
        _list(
            "epochs",
            "leader_epoch",
            "start_offset",
            _int32("epoch", "leader_epoch"),
            _int64("start_offset"),
        ),
    ),
)

LOCAL_SEGMENTS = Shape(
    "local_segments",
    (
        _text("topic_id"),
        _text("topic", "topic_name"),
        _int32("partition", "partition_index"),
        _int32("broker_id"),
        _list(
            "segments",
            "base_offset",
            "base_offset",
            _int64("base_offset"),
            _int64("size_bytes"),
            _int64("max_timestamp_ms", minimum=-1),
            Field("is_active", "is_active", pa.bool_(), pa.bool_(), boolean),
            _int64("record_count", **_OPTIONAL),
        ),
    ),
)

TOPIC_CONFIGS = Shape(
    "topic_configs",
    (
        _text("topic_id"),
        _text("topic", "topic_name"),
        Field("configs", "configs", _TEXTS, _TEXTS, configs),
        _int64("valid_from_ms"),
    ),
)

_ALL = (
    RECORDS, OPEN_TRANSACTIONS, PARTITION_STATES, LEADER_EPOCHS, LOCAL_SEGMENTS, TOPIC_CONFIGS,
)  # fmt: skip
SHAPES = {shape.kind: shape for shape in _ALL}
# they replace the cluster's previous one as a whole
SNAPSHOTS = ("open_transactions", "partition_states", "leader_epochs", "local_segments")
