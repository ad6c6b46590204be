"""Tiered storage: what is waiting to be uploaded to it, and to be deleted from it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from moldau.declared.domain import Domain, Explained, Kind, Subjects, Topics, files_of

if TYPE_CHECKING:
    from moldau.loading.shape import Shape


def _shapes() -> Iterator[Shape]:
    from moldau.loading.shape import Shape
    from moldau.loading.shapes import OPTIONAL, config_texts, flag, int32, int64, name, ordered

    topic = (name("topic_id"), name("topic"))
    partition, broker = int32("partition"), int32("broker_id")
    offsets = (
        "log_start_offset", "local_log_start_offset", "last_stable_offset", "high_watermark",
        "log_end_offset",
    )  # fmt: skip
    state = (
        name("topic_id", **OPTIONAL),
        name("topic"),
        partition,
        int32("broker_id", minimum=-1),
        flag("is_leader"),
        int32("leader_epoch", minimum=-1, **OPTIONAL),
        *(int64(offset, minimum=-1, **OPTIONAL) for offset in offsets),
        int64("latest_tiered_offset", minimum=-1, **OPTIONAL),
        int64("taken_at_ms"),
    )
    yield Shape("partition_states", state, is_snapshot=True)
    epoch = (int32("epoch", "leader_epoch"), int64("start_offset"))
    epochs = ordered("epochs", "leader_epoch", "start_offset", *epoch)
    yield Shape("leader_epochs", (*topic, partition, epochs), is_snapshot=True)
    segment = (
        int64("base_offset"),
        int64("size_bytes"),
        int64("max_timestamp_ms", minimum=-1),
        flag("is_active"),
        int64("record_count", **OPTIONAL),
    )
    segments = ordered("segments", "base_offset", "base_offset", *segment)
    yield Shape("local_segments", (*topic, partition, broker, segments), is_snapshot=True)
    yield Shape("topic_configs", (*topic, config_texts("configs"), int64("valid_from_ms")))


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
    topics=(Topics("remote_log_metadata", "decoded.remote_log_records", is_read_again=True),),
    files=files_of(_shapes, "partition_states", "leader_epochs", "local_segments", "topic_configs"),
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
