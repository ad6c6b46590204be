"""Tiered storage: what is waiting to be uploaded to it, and to be deleted from it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from moldau.domains.domain import Domain, Explained, Kind, Subjects, Topics

if TYPE_CHECKING:
    import pyarrow as pa

    from moldau.loading.shape import Shape


def _remote_log_records(keys: pa.Array, values: pa.Array) -> pa.RecordBatch:
    from moldau.records.flat import remote_log_records

    return remote_log_records(keys, values)


def _partition_states() -> Shape:
    from moldau.loading.shape import Shape
    from moldau.loading.shapes import OPTIONAL, flag, int32, int64, name

    offsets = (
        "log_start_offset", "local_log_start_offset", "last_stable_offset", "high_watermark",
        "log_end_offset",
    )  # fmt: skip
    members = (
        name("topic_id", **OPTIONAL),
        name("topic"),
        int32("partition"),
        int32("broker_id"),
        flag("is_leader"),
        int32("leader_epoch", minimum=-1, **OPTIONAL),
        *(int64(offset, minimum=-1, **OPTIONAL) for offset in offsets),
        int64("taken_at_ms"),
    )
    return Shape("partition_states", members, is_snapshot=True)


def _leader_epochs() -> Shape:
    from moldau.loading.shape import Shape
    from moldau.loading.shapes import int32, int64, name, ordered

    epoch = (int32("epoch", "leader_epoch"), int64("start_offset"))
    members = (
        name("topic_id"),
        name("topic"),
        int32("partition"),
        ordered("epochs", "leader_epoch", "start_offset", *epoch),
    )
    return Shape("leader_epochs", members, is_snapshot=True)


def _local_segments() -> Shape:
    from moldau.loading.shape import Shape
    from moldau.loading.shapes import OPTIONAL, flag, int32, int64, name, ordered

    segment = (
        int64("base_offset"),
        int64("size_bytes"),
        int64("max_timestamp_ms", minimum=-1),
        flag("is_active"),
        int64("record_count", **OPTIONAL),
    )
    members = (
        name("topic_id"),
        name("topic"),
        int32("partition"),
        int32("broker_id"),
        ordered("segments", "base_offset", "base_offset", *segment),
    )
    return Shape("local_segments", members, is_snapshot=True)


def _topic_configs() -> Shape:
    from moldau.loading.shape import Shape
    from moldau.loading.shapes import config_texts, int64, name

    members = (name("topic_id"), name("topic"), config_texts("configs"), int64("valid_from_ms"))
    return Shape("topic_configs", members)


def _explain(
    warehouse: Path, text: str, cluster: str | None, at_ms: int | None
) -> Explained | None:
    from moldau.reading.explain.tiers import COLUMNS, explain_tier_subject, tier_rows
    from moldau.reading.explain.tiers_words import tier_in_words

    found = explain_tier_subject(warehouse, text, cluster, at_ms)
    if found is None:
        return None
    return Explained(list(tier_in_words(found)), list(tier_rows(found)), COLUMNS)


DOMAIN = Domain(
    name="tiers",
    kinds=(
        Kind(
            name="tiers",
            summary="Decide what waits to be uploaded to or deleted from tiered storage.",
            decides="which local segments wait to be uploaded to tiered storage, which remote "
            "ones to be deleted",
            applies="applies nothing: brokers upload and delete",
            decisions="upload_candidates and decisions.delete_candidates, and every partition "
            "in marts.tier_lag",
            place=40,
        ),
    ),
    verbs={"what-if": "Decide under other settings and show what differs."},
    topics=(
        Topics(
            "remote_log_metadata",
            "decoded.remote_log_records",
            _remote_log_records,
            is_read_again=True,
        ),
    ),
    files={
        "partition_states": _partition_states,
        "leader_epochs": _leader_epochs,
        "local_segments": _local_segments,
        "topic_configs": _topic_configs,
    },
    reasoned="int_tiers__decisions_reasoned",
    subjects=Subjects(
        forms=(
            "tier TOPIC-PARTITION",
            "upload TOPIC-PARTITION BASE_OFFSET on BROKER",
            "delete TOPIC-PARTITION SEGMENT_ID",
        ),
        explain=_explain,
    ),
)
