"""What a run has to look at again though nothing of its own partition or checkpoint changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from mirror_maker import Sync
from mirror_support import (
    CheckpointRecord,
    CommitRecord,
    SyncRecord,
    TaskStart,
    commit_records,
    flow_settings,
    fold_checkpoints,
    fold_starts,
    fold_syncs,
    with_flows,
)
from spark_support import fold_records, fold_snapshots, fresh, parquet_of, rows

from moldau.runs.decide import decide
from moldau.sessions.session import Session

BEHIND, ENDED, NEGATIVE, MOVED = "behind", "ended", "negative", "moved"
NAMES = (BEHIND, ENDED, NEGATIVE, MOVED)
Row = tuple[Any, ...]
Told = dict[str, dict[str, list[Row]]]  # step -> what -> rows
STATE = {
    "topic_id": "AAAAAAAAAAAAAAAAAAAAAQ", "topic_name": f"{ENDED}-from.t", "partition_index": 0,
    "broker_id": 0, "is_leader": True, "leader_epoch": 0, "log_start_offset": 0,
    "local_log_start_offset": 0, "last_stable_offset": 150, "high_watermark": 150,
    "log_end_offset": 150, "latest_tiered_offset": -1, "taken_at_ms": 2_000,
    "cluster_id": f"{ENDED}-to",
}  # fmt: skip
NUMBERS = {"partition_index": pa.int32(), "broker_id": pa.int32(), "leader_epoch": pa.int32()}


def source(name: str) -> str:
    return f"{name}-from"


def target(name: str) -> str:
    return f"{name}-to"


def synced(offset: int, u: int, d: int, topic: str = "t") -> SyncRecord:
    return SyncRecord(topic, Sync(u, d, offset, offset))


def fold_ends(session: Session, several: list[dict[str, Any]]) -> None:
    schema = pa.schema(
        [
            (
                name,
                NUMBERS.get(name) or (pa.int64() if type(value) is int else pa.scalar(value).type),
            )
            for name, value in STATE.items()
        ]
    )
    table = pa.Table.from_pylist(several, schema=schema)
    relation = parquet_of(session, table)
    fold_snapshots(session, [target(ENDED)], {"partition_states": relation})


@pytest.fixture(scope="module")
def told(session: Session) -> Iterator[Told]:
    flows = {name: flow_settings(source(name), target(name), "full_history") for name in NAMES}
    configured = with_flows(session, flows)
    found: Told = {}

    def translate(step: str) -> None:
        at_ms = 10_000 + len(found)
        clusters = [source(name) for name in NAMES]
        decide(fresh(configured), "translate", clusters, at_ms, is_dry_run=False)
        of_flows = f"flow in {NAMES}"
        found[step] = {
            "translations": rows(
                session,
                "select flow, translated_offset, reason_code from decisions.offset_translations "
                f"where {of_flows} order by all",
            ),
            "writes": rows(
                session,
                "select flow, target_topic_name, to_offset from decisions.target_offset_writes "
                f"where {of_flows} order by all",
            ),
        }

    first = synced(0, 100, 200)
    fold_syncs(configured, {(source(name), target(name)): [first] for name in NAMES})
    fold_syncs(configured, {(source(MOVED), "elsewhere"): [synced(0, 90, 10)]})
    fold_starts(configured, [TaskStart(source(BEHIND), BEHIND, 1, 2, True)])
    fold_ends(configured, [STATE])
    fold_records(
        configured,
        {source(name): commit_records([CommitRecord("g", "t", 150, 5_000)]) for name in NAMES},
    )
    mirror = source(NEGATIVE), target(NEGATIVE)
    checkpoints = [
        CheckpointRecord("g", f"{source(NEGATIVE)}.t", 140, 201, 4_000),
        CheckpointRecord("g", f"{source(NEGATIVE)}.unsynced", 140, 77, 4_000),
    ]
    fold_checkpoints(configured, {mirror: checkpoints})
    translate("first")
    fold_syncs(configured, {(source(BEHIND), target(BEHIND)): [synced(1, 5, 5, "other")]})
    fold_ends(configured, [])
    checkpoints += [
        CheckpointRecord("g", f"{source(NEGATIVE)}.t", 145, -7, 4_500),
        CheckpointRecord("g", f"{source(NEGATIVE)}.unsynced", 145, -7, 4_500),
    ]
    fold_checkpoints(configured, {mirror: checkpoints})
    elsewhere = flow_settings(source(MOVED), "elsewhere", "full_history")
    configured = with_flows(session, flows | {MOVED: elsewhere})
    translate("later")
    yield found


def test_a_flow_that_has_caught_up_translates_what_waited_for_it(told: Told) -> None:
    """The sync that was missing is of another topic."""
    assert (BEHIND, None, "SYNCS_NOT_CAUGHT_UP") in told["first"]["translations"]
    assert (BEHIND, 201, "EMIT_FIRST") in told["later"]["translations"]


def test_a_target_whose_end_is_not_known_any_more_ends_nowhere(told: Told) -> None:
    assert (ENDED, 201, "WOULD_EXCEED_TARGET_END") in told["first"]["translations"]
    assert (ENDED, 201, "EMIT_FIRST") in told["later"]["translations"]


def test_a_negative_checkpoint_guards_nothing_and_is_not_offered(told: Told) -> None:
    """MirrorMaker reads it as it is; Kafka's OffsetAndMetadata takes no such offset."""
    assert (NEGATIVE, 201, "SKIP_REPEATED") in told["first"]["translations"]
    assert (NEGATIVE, 201, "EMIT_ADVANCED") in told["later"]["translations"]
    offered = [row[1:] for row in told["later"]["writes"] if row[0] == NEGATIVE]
    assert offered == [(f"{source(NEGATIVE)}.t", 201)]


def test_checkpoints_of_another_mirror_neither_guard_nor_lead_anywhere(told: Told) -> None:
    """The flow has another target: what was emitted for the first one is 201 there."""
    assert (MOVED, 201, "EMIT_FIRST") in told["first"]["translations"]
    assert (MOVED, 11, "EMIT_FIRST") in told["later"]["translations"]
    assert (MOVED, f"{source(MOVED)}.t", 11) in told["later"]["writes"]
