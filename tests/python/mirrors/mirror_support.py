"""Puts mirrored partitions, commits and checkpoints into a warehouse, as loads would bring them."""

from __future__ import annotations

import base64
import dataclasses
import struct
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from decoded_support import decoded
from encode import encode_key, encode_value
from log_support import FAMILY
from mirror_maker import Sync
from spark_support import Record, change, fold, parquet_of, rows

from moldau.records import families
from moldau.sessions.session import Session
from moldau.settings import load_settings


@dataclass(frozen=True)
class SyncRecord:
    """A record of a syncs topic; the sync has its log offset."""

    topic: str
    sync: Sync
    partition: int = 0


@dataclass(frozen=True)
class CommitRecord:
    """`offset` None: the group's offset is removed. `topic_id` None: a value before v4."""

    group: str
    topic: str
    offset: int | None
    at_ms: int
    partition: int = 0
    topic_id: str | None = None


@dataclass(frozen=True)
class CheckpointRecord:
    """A record of a checkpoints topic, with MM2's names of topics on the target."""

    group: str
    topic: str
    upstream: int
    downstream: int
    at_ms: int = 0
    partition: int = 0
    metadata: str = ""


@dataclass(frozen=True)
class TaskStart:
    source: str
    flow: str
    started_at_ms: int
    syncs_end_offset: int
    checkpoints_readable: bool


def text(value: str) -> bytes:
    """Section 3: STRING."""
    encoded = value.encode()
    return struct.pack(">h", len(encoded)) + encoded


def sync_bytes(topic: str, partition: int, u: int, d: int) -> tuple[bytes, bytes]:
    return text(topic) + struct.pack(">i", partition), struct.pack(">qq", u, d)


def checkpoint_bytes(record: CheckpointRecord) -> tuple[bytes, bytes]:
    key = text(record.group) + text(record.topic) + struct.pack(">i", record.partition)
    offsets = struct.pack(">hqq", 0, record.upstream, record.downstream)
    return key, offsets + text(record.metadata)


def with_flows(session: Session, flows: Mapping[str, str], clusters: Iterable[str] = ()) -> Session:
    """The session under a moldau.yml with these flows, each as YAML."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "moldau.yml"
        lines = [f"  {name}: {settings}\n" for name, settings in flows.items()]
        known = [f"  {name}: {{}}\n" for name in clusters]
        file.write_text("clusters:\n" + "".join(known) + "flows:\n" + "".join(lines))
        settings = load_settings(file, session.warehouse)
    return dataclasses.replace(session, settings=settings)


def flow_settings(source: str, target: str, ruleset: str, **more: Any) -> str:
    settings = {"source": source, "target": target, "ruleset": ruleset, **more}
    return "{" + ", ".join(f"{name}: {_yaml(value)}" for name, value in settings.items()) + "}"


def _yaml(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else f"'{value}'"


def decoded_records(
    family: str, cluster: str, topic: str, records: Sequence[tuple[int, int, bytes, bytes]]
) -> pa.Table:
    """(log offset, time, key, value) with the columns that a load writes to the decoded table."""
    keys = pa.array([key for _, _, key, _ in records], pa.binary())
    values = pa.array([value for _, _, _, value in records], pa.binary())
    told = decoded(family, keys, values)
    count = len(records)
    columns = {
        "cluster_id": pa.array([cluster] * count, pa.string()),
        "log_topic_name": pa.array([topic] * count, pa.string()),
        "log_partition_index": pa.array([0] * count, pa.int32()),
        "log_offset": pa.array([offset for offset, *_ in records], pa.int64()),
        "recorded_at_ms": pa.array([at_ms for _, at_ms, _, _ in records], pa.int64()),
    }
    columns |= dict(zip(told.schema.names, told.columns, strict=True))
    return pa.table(columns)


Mirror = tuple[str, str]  # clusters: source and target


def sync_table(syncs: Mapping[Mirror, Sequence[SyncRecord]]) -> pa.Table:
    """Of the syncs topics of several sources."""
    return pa.concat_tables(
        decoded_records(
            families.OFFSET_SYNCS,
            source,
            f"mm2-offset-syncs.{target}.internal",
            [
                (
                    one.sync.log_offset,
                    one.sync.at_ms,
                    *sync_bytes(one.topic, one.partition, one.sync.u, one.sync.d),
                )
                for one in several
            ],
        )
        for (source, target), several in syncs.items()
    )


def checkpoint_table(checkpoints: Mapping[Mirror, Sequence[CheckpointRecord]]) -> pa.Table:
    """The whole checkpoints topic of each target."""
    return pa.concat_tables(
        decoded_records(
            families.CHECKPOINTS,
            target,
            f"{source}.checkpoints.internal",
            [
                (log_offset, one.at_ms, *checkpoint_bytes(one))
                for log_offset, one in enumerate(several)
            ],
        )
        for (source, target), several in checkpoints.items()
    )


def start_table(starts: Sequence[TaskStart]) -> pa.Table:
    return pa.table(
        {
            "cluster_id": [one.source for one in starts],
            "flow": [one.flow for one in starts],
            "started_at_ms": [one.started_at_ms for one in starts],
            "syncs_end_offset": [one.syncs_end_offset for one in starts],
            "checkpoints_readable": [one.checkpoints_readable for one in starts],
        }
    )


def fold_syncs(session: Session, syncs: Mapping[Mirror, Sequence[SyncRecord]]) -> None:
    """What one load brings of the syncs topics of several sources."""
    clusters = [source for source, _ in syncs]
    _fold(session, families.OFFSET_SYNCS, clusters, sync_table(syncs))


def fold_checkpoints(
    session: Session, checkpoints: Mapping[Mirror, Sequence[CheckpointRecord]]
) -> None:
    clusters = [target for _, target in checkpoints]
    _fold(session, families.CHECKPOINTS, clusters, checkpoint_table(checkpoints))


def fold_starts(session: Session, starts: Sequence[TaskStart]) -> None:
    clusters = sorted({one.source for one in starts})
    _fold(session, "mirror_task_starts", clusters, start_table(starts))


def _fold(session: Session, kind: str, clusters: Sequence[str], table: pa.Table) -> None:
    fold(session, clusters, f"select * from {parquet_of(session, table)}", kind)


def kept_snapshot(session: Session, taken: pa.Table) -> str:
    """As a load does, which keeps every snapshot in raw; gives the query that it folds."""
    relation = parquet_of(session, taken)
    last = max(taken["taken_at_ms"].to_pylist())
    change(
        session,
        f"insert into raw.partition_states by name select *, '{last:08d}-load' as run_id "
        f"from {relation}",
    )
    return f"select * from {relation}"


def commit_records(commits: Sequence[CommitRecord], first_log_offset: int = 0) -> list[Record]:
    """All in one partition of __consumer_offsets."""
    return [
        Record(0, log_offset, one.at_ms, _commit_key(one), _commit_value(one))
        for log_offset, one in enumerate(commits, first_log_offset)
    ]


def _commit_key(one: CommitRecord) -> bytes | None:
    names = {"group": one.group, "topic": one.topic, "partition": one.partition}
    return encode_key(FAMILY, 1, names)


def _commit_value(one: CommitRecord) -> bytes | None:
    if one.offset is None:
        return None
    value: dict[str, Any] = {"offset": one.offset, "commitTimestamp": one.at_ms}
    if one.topic_id is None:
        return encode_value(FAMILY, 1, 3, value)
    topic_id = base64.urlsafe_b64decode(one.topic_id + "==")
    return encode_value(FAMILY, 1, 4, value | {"topicId": topic_id})


TRANSLATIONS = (
    "flow",
    "group_id",
    "topic_name",
    "partition_index",
    "target_topic_name",
    "upstream_offset",
    "translated_offset",
    "lower_bound",
    "upper_bound",
    "reread_max",
    "sync_log_offset",
    "incarnation",
    "is_anchored",
    "decision",
    "reason_code",
    "run_id",
)


@dataclass(frozen=True)
class Translated:
    """A row of decisions.offset_translations."""

    flow: str
    group_id: str
    topic_name: str
    partition_index: int
    target_topic_name: str
    upstream_offset: int | None
    translated_offset: int | None
    lower_bound: int | None
    upper_bound: int | None
    reread_max: int | None
    sync_log_offset: int | None
    incarnation: int | None
    is_anchored: bool
    decision: str
    reason_code: str
    run_id: str


Key = tuple[str, str, str]  # flow, group, topic


def translations(session: Session, *sources: str) -> dict[Key, Translated]:
    """By flow, group and topic, of the flows that begin at these clusters."""
    names = ", ".join(f"'{source}'" for source in sources)
    columns = ", ".join(TRANSLATIONS)
    found: dict[Key, Translated] = {}
    for row in rows(
        session,
        f"select {columns} from decisions.offset_translations where cluster_id in ({names})",
    ):
        one = Translated(*row)
        key = (one.flow, one.group_id, one.topic_name)
        assert key not in found, key
        found[key] = one
    return found
