"""Worlds of tiered storage that are folded and decided about, many clusters at once."""

from __future__ import annotations

import base64
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
from decoded_support import LEADER_EPOCHS
from spark_support import fold, fold_snapshots, parquet_of, rows, with_clusters

from moldau.records import families
from moldau.runs.decide import decide
from moldau.sessions.session import Session

INTERVAL_MS = 1000
SETTINGS = f"{{remote.log.manager.task.interval.ms: {INTERVAL_MS}, ruleset: {{tiers: kafka_4_4}}}}"
METRICS = (
    "RemoteCopyLagBytes",
    "RemoteCopyLagSegments",
    "RemoteDeleteLagBytes",
    "RemoteDeleteLagSegments",
)
_PARTITION = {
    "cluster_id": pa.string(),
    "topic_id": pa.string(),
    "topic_name": pa.string(),
    "partition_index": pa.int32(),
}
_OFFSETS = (
    "log_start_offset",
    "local_log_start_offset",
    "last_stable_offset",
    "high_watermark",
    "log_end_offset",
    "latest_tiered_offset",
    "taken_at_ms",
)
_SEGMENT = {
    "base_offset": pa.int64(),
    "size_bytes": pa.int64(),
    "max_timestamp_ms": pa.int64(),
    "is_active": pa.bool_(),
    "record_count": pa.int64(),
}
SNAPSHOTS: dict[str, dict[str, pa.DataType]] = {
    "partition_states": _PARTITION
    | {"broker_id": pa.int32(), "leader_epoch": pa.int32(), "is_leader": pa.bool_()}
    | dict.fromkeys(_OFFSETS, pa.int64()),
    "leader_epochs": _PARTITION | {"epochs": LEADER_EPOCHS},
    "local_segments": _PARTITION
    | {"broker_id": pa.int32(), "segments": pa.list_(pa.struct(_SEGMENT))},
    "topic_configs": {
        "cluster_id": pa.string(),
        "topic_id": pa.string(),
        "topic_name": pa.string(),
        "valid_from_ms": pa.int64(),
        "configs": pa.map_(pa.string(), pa.string()),
    },
}


def id_of(name: str) -> str:
    """The id of a topic or a segment that a test names, in Kafka's text form."""
    found = uuid.uuid5(uuid.NAMESPACE_OID, name)
    return base64.urlsafe_b64encode(found.bytes).decode().rstrip("=")


@dataclass
class World:
    """What is loaded about one cluster: decoded segment events, and rows of each snapshot."""

    events: pa.Table
    snapshots: dict[str, list[dict[str, Any]]] = field(
        default_factory=lambda: {kind: [] for kind in SNAPSHOTS}
    )

    def add_topic(self, name: str, topic_id: str, configs: Mapping[str, str]) -> None:
        told = {"remote.storage.enable": "true", **configs}
        topic = {"topic_id": topic_id, "topic_name": name}
        config = topic | {"valid_from_ms": 0, "configs": list(told.items())}
        self.snapshots["topic_configs"].append(config)

    def add_partition(
        self,
        topic: tuple[str, str, int],
        epochs: Sequence[tuple[int, int]],
        segments: Sequence[Mapping[str, Any]],
        offsets: Mapping[str, int],
        is_leader: bool = True,
    ) -> None:
        """`topic`: name, id and partition; `segments` with the last one active."""
        named = dict(zip(("topic_name", "topic_id", "partition_index"), topic, strict=True))
        on_broker = named | {"broker_id": 1}
        state = on_broker | {"is_leader": is_leader, "leader_epoch": epochs[-1][0]} | offsets
        self.snapshots["partition_states"].append(state)
        lineage = [{"leader_epoch": epoch, "start_offset": start} for epoch, start in epochs]
        self.snapshots["leader_epochs"].append(named | {"epochs": lineage})
        self.snapshots["local_segments"].append(on_broker | {"segments": list(segments)})


def decide_worlds(session: Session, worlds: Mapping[str, World], at_ms: int) -> Session:
    """Fold what each cluster has, and decide about all of them at one instant."""
    session = with_clusters(session, dict.fromkeys(worlds, SETTINGS))
    clusters = list(worlds)
    events = [
        world.events.append_column("cluster_id", pa.array([name] * world.events.num_rows))
        for name, world in worlds.items()
    ]
    table = pa.concat_tables(events, promote_options="default")
    relation = parquet_of(session, table)
    fold(session, clusters, f"select * from {relation}", families.REMOTE_LOG_METADATA)
    told = {
        kind: [
            row | {"cluster_id": name}
            for name, world in worlds.items()
            for row in world.snapshots[kind]
        ]
        for kind in SNAPSHOTS
    }
    relations = {
        kind: parquet_of(session, pa.Table.from_pylist(told[kind], pa.schema(types)))
        for kind, types in SNAPSHOTS.items()
    }
    fold_snapshots(session, clusters, relations)
    decide(session, "tiers", clusters, at_ms, is_dry_run=False)
    return session


def gauges(session: Session, clusters: Sequence[str]) -> dict[str, dict[str, dict[str, int]]]:
    """Cluster -> topic, or (broker) -> metric -> what Kafka shows."""
    found: dict[str, dict[str, dict[str, int]]] = {name: {} for name in clusters}
    for mart, name in (("kafka_gauges_by_topic", "topic_name"), ("kafka_gauges_by_broker", "null")):
        for cluster, topic, metric, value in rows(
            session,
            f"select cluster_id, coalesce({name}, '(broker)'), metric_name, kafka_value "
            f"from marts.{mart}",
        ):
            if cluster in found:
                found[cluster].setdefault(topic, {})[metric] = value
    return found
