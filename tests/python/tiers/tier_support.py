"""Puts partitions of the reference into a warehouse, as loads would bring them."""

from __future__ import annotations

import base64
import hashlib
import random
import struct
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import spark_support
from decoded_support import LEADER_EPOCHS, remote_log_records
from encode import encode_value
from kafka_metadata import Event, Metadata
from kafka_reference import Config, Partition
from spark_support import fold, parquet_of

from moldau.records.families import REMOTE_LOG_METADATA
from moldau.sessions.session import Session

LOG_TOPIC = "__remote_log_metadata"
LOG_PARTITIONS = 50
NAMES = {
    "is_tiered": "remote.storage.enable",
    "is_copy_disabled": "remote.log.copy.disable",
    "retention_ms": "retention.ms",
    "retention_bytes": "retention.bytes",
    "local_retention_ms": "local.retention.ms",
    "local_retention_bytes": "local.retention.bytes",
    "copy_lag_ms": "remote.copy.lag.ms",
    "copy_lag_bytes": "remote.copy.lag.bytes",
}
LOCAL = pa.struct(
    [
        ("base_offset", pa.int64()),
        ("size_bytes", pa.int64()),
        ("max_timestamp_ms", pa.int64()),
        ("is_active", pa.bool_()),
        ("record_count", pa.int64()),
    ]
)


def uuid_of(text: str) -> bytes:
    return hashlib.md5(text.encode(), usedforsecurity=False).digest()


def kafkas_text(uuid: bytes) -> str:
    return base64.urlsafe_b64encode(uuid).decode().rstrip("=")


def bytes_of(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "==")


@dataclass(frozen=True)
class Tiered:
    """A topic of one partition, with the events of its remote segments in their order.

    `partition.metadata` has been told of them; segment ids are in Kafka's text form.
    """

    topic: str
    partition: Partition
    events: tuple[Event, ...] = ()
    is_known: bool = True  # else no snapshot tells of it
    is_told: bool = True  # else no configs are loaded
    is_led: bool = True  # else the snapshot knows a follower only
    followers: tuple[Partition, ...] = ()
    configs: Mapping[str, str] | None = None  # more of them
    index: int = 0
    taken_at_ms: int = 0  # of the snapshot
    incarnation: str = ""  # of topics of one name; "" is the one of most tests

    @property
    def topic_id(self) -> str:
        return kafkas_text(uuid_of(f"{self.topic}{self.incarnation}"))

    def id_of(self, name: str) -> str:
        return kafkas_text(uuid_of(f"{self.topic}{self.incarnation} {name}"))


def tiered(topic: str, partition: Partition, events: Iterable[Event], **more: Any) -> Tiered:
    """Segments get ids in place of their names: an id is one cluster's, a name one partition's."""
    unnamed = Tiered(topic, partition, **more)
    told = tuple(replace(event, segment_id=unnamed.id_of(event.segment_id)) for event in events)
    return replace(unnamed, partition=replace(partition, metadata=Metadata(told)), events=told)


@dataclass(frozen=True)
class Record:
    """A record of __remote_log_metadata."""

    log_partition: int
    log_offset: int
    value: bytes
    at_ms: int


def log_of(several: Iterable[Tiered]) -> list[Record]:
    """All their events, one topic behind the other, each in the partition where Kafka writes it."""
    ends: dict[int, int] = defaultdict(int)
    found = []
    for one in several:
        log_partition = metadata_partition(bytes_of(one.topic_id), one.index)
        for event in one.events:
            value = encoded(one, event)
            found.append(Record(log_partition, ends[log_partition], value, max(event.at_ms, 0)))
            ends[log_partition] += 1
    return found


def encoded(one: Tiered, event: Event) -> bytes:
    partition = {"name": one.topic, "id": bytes_of(one.topic_id), "partition": one.index}
    value: dict[str, Any] = {
        "remoteLogSegmentId": {"topicIdPartition": partition, "id": bytes_of(event.segment_id)},
        "brokerId": event.broker_id,
        "eventTimestampMs": event.at_ms,
        "customMetadata": event.custom,
        "remoteLogSegmentState": event.state,
    }
    copy = event.copy
    if copy is None:
        return encode_value(REMOTE_LOG_METADATA, 1, 0, value)
    epochs = [{"leaderEpoch": epoch, "offset": start} for epoch, start in copy.epochs.items()]
    value |= {
        "startOffset": copy.start,
        "endOffset": copy.end,
        "maxTimestampMs": copy.max_timestamp_ms,
        "segmentLeaderEpochs": epochs,
        "segmentSizeInBytes": copy.size,
    }
    return encode_value(REMOTE_LOG_METADATA, 0, 0, value)


def metadata_partition(topic_id: bytes, index: int, count: int = LOG_PARTITIONS) -> int:
    """The partition of __remote_log_metadata that has the events of a topic's partition."""
    most: int
    least: int
    most, least = struct.unpack(">qq", topic_id)
    value = 1
    for part in (_long_hash(least), _long_hash(most), index):
        value = (31 * value + part) & 0xFFFFFFFF
    return (_murmur2(struct.pack(">I", value)) & 0x7FFFFFFF) % count


def _long_hash(value: int) -> int:
    value &= 0xFFFFFFFFFFFFFFFF
    return (value ^ value >> 32) & 0xFFFFFFFF


def _murmur2(data: bytes) -> int:
    """Of four bytes."""
    magic, mask = 0x5BD1E995, 0xFFFFFFFF
    k = int.from_bytes(data, "little")
    k = k * magic & mask
    k = (k ^ k >> 24) * magic & mask
    h = ((0x9747B28C ^ 4) * magic & mask) ^ k
    h = (h ^ h >> 13) * magic & mask
    return h ^ h >> 15


def records_table(records: Mapping[str, Sequence[Record]]) -> pa.Table:
    """By cluster; with the columns that a load writes to decoded.remote_log_records."""
    flat = [(cluster, record) for cluster, several in records.items() for record in several]
    values = pa.array([record.value for _, record in flat], pa.binary())
    decoded = remote_log_records(pa.nulls(len(flat), pa.binary()), values)
    columns = {
        "cluster_id": pa.array([cluster for cluster, _ in flat], pa.string()),
        "log_topic_name": pa.array([LOG_TOPIC] * len(flat), pa.string()),
        "log_partition_index": pa.array([one.log_partition for _, one in flat], pa.int32()),
        "log_offset": pa.array([one.log_offset for _, one in flat], pa.int64()),
        "recorded_at_ms": pa.array([one.at_ms for _, one in flat], pa.int64()),
    }
    columns |= dict(zip(decoded.schema.names, decoded.columns, strict=True))
    return pa.table(columns)


def fold_log(session: Session, records: Mapping[str, Sequence[Record]]) -> None:
    relation = parquet_of(session, records_table(records))
    fold(session, list(records), f"select * from {relation}", REMOTE_LOG_METADATA)


def fold_tiers(session: Session, clusters: Mapping[str, Sequence[Tiered]]) -> None:
    """All that loads bring of these topics, in two folds for all clusters."""
    fold_log(session, {cluster: log_of(several) for cluster, several in clusters.items()})
    fold_snapshots(session, clusters)


def fold_snapshots(session: Session, clusters: Mapping[str, Sequence[Tiered]]) -> None:
    flat = [
        (cluster, one) for cluster, several in clusters.items() for one in several if one.is_known
    ]
    on_brokers = [*flat, *_followers(flat)]
    told = {
        "partition_states": partition_states(on_brokers),
        "leader_epochs": leader_epochs(flat),
        "local_segments": local_segments(on_brokers),
        "topic_configs": topic_configs([row for row in flat if row[1].is_told]),
    }
    relations = {kind: parquet_of(session, table) for kind, table in told.items()}
    spark_support.fold_snapshots(session, list(clusters), relations)


Rows = Sequence[tuple[str, Tiered]]


def _followers(rows: Rows) -> Rows:
    return [
        (cluster, replace(one, partition=follower, is_led=False))
        for cluster, one in rows
        for follower in one.followers
    ]


def _partitions(rows: Rows) -> dict[str, pa.Array]:
    return {
        "cluster_id": pa.array([cluster for cluster, _ in rows], pa.string()),
        "topic_id": pa.array([one.topic_id for _, one in rows], pa.string()),
        "topic_name": pa.array([one.topic for _, one in rows], pa.string()),
        "partition_index": pa.array([one.index for _, one in rows], pa.int32()),
    }


def partition_states(rows: Rows) -> pa.Table:
    partitions = [one.partition for _, one in rows]
    leader_epochs = [max(one.lineage, default=0) for one in partitions]
    offsets = {
        "log_start_offset": [one.log_start for one in partitions],
        "local_log_start_offset": [one.local_log_start for one in partitions],
        "last_stable_offset": [one.last_stable for one in partitions],
        "high_watermark": [one.high_watermark for one in partitions],
        "log_end_offset": [one.log_end for one in partitions],
        "latest_tiered_offset": [None for _ in partitions],
        "taken_at_ms": [one.taken_at_ms for _, one in rows],
    }
    return pa.table(
        {
            **_partitions(rows),
            "broker_id": pa.array([one.broker_id for one in partitions], pa.int32()),
            "is_leader": pa.array([one.is_led for _, one in rows], pa.bool_()),
            "leader_epoch": pa.array(leader_epochs, pa.int32()),
            **{name: pa.array(values, pa.int64()) for name, values in offsets.items()},
        }
    )


def leader_epochs(rows: Rows) -> pa.Table:
    lineages = [
        [
            {"leader_epoch": epoch, "start_offset": start}
            for epoch, start in sorted(one.partition.lineage.items())
        ]
        for _, one in rows
    ]
    return pa.table({**_partitions(rows), "epochs": pa.array(lineages, LEADER_EPOCHS)})


def local_segments(rows: Rows) -> pa.Table:
    segments = [
        [
            {
                "base_offset": segment.base,
                "size_bytes": segment.size,
                "max_timestamp_ms": segment.max_timestamp_ms,
                "is_active": position + 1 == len(one.partition.local),
                "record_count": segment.record_count,
            }
            for position, segment in enumerate(one.partition.local)
        ]
        for _, one in rows
    ]
    brokers = [one.partition.broker_id for _, one in rows]
    return pa.table(
        {
            **_partitions(rows),
            "broker_id": pa.array(brokers, pa.int32()),
            "segments": pa.array(segments, pa.list_(LOCAL)),
        }
    )


def topic_configs(rows: Rows, valid_from_ms: int = 0) -> pa.Table:
    configs = [
        list((configs_of(one.partition.config) | dict(one.configs or {})).items())
        for _, one in rows
    ]
    columns = _partitions(rows)
    del columns["partition_index"]
    return pa.table(
        {
            **columns,
            "configs": pa.array(configs, pa.map_(pa.string(), pa.string())),
            "valid_from_ms": pa.array([valid_from_ms] * len(rows), pa.int64()),
        }
    )


def configs_of(config: Config) -> dict[str, str]:
    return {name: str(getattr(config, field)).lower() for field, name in NAMES.items()}


def in_chunks(records: Sequence[Record], count: int, chance: random.Random) -> list[list[Record]]:
    """The same records in any order, in so many loads."""
    mixed = list(records)
    chance.shuffle(mixed)
    chunks: list[list[Record]] = [[] for _ in range(count)]
    for record in mixed:
        chance.choice(chunks).append(record)
    return chunks
