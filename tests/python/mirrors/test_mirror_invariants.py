"""The invariants of translations among dbt's tests find what they are there for.

I1 to I6, I8 and I9 of the specification are dbt's; I7, a run that is repeated on the same tables,
is `test_what_is_decided_again_is_the_same` of test_mirror_capture.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from mirror_support import CheckpointRecord, checkpoint_bytes, sync_bytes
from spark_support import change, insert_row, rows_of_singular_test

from moldau.literals import literal
from moldau.sessions.session import Session

FLOW, TWIN, CLUSTER = "violated", "violated sparse", "violated"
BEFORE, DECIDED, AFTER = "00000001-load", "00000002-translate", "00000003-load"
PLACE = {"topic_name": "orders", "partition_index": 0}
SYNC: dict[str, Any] = PLACE | {
    "flow": FLOW, "syncs_incarnation": 0, "sync_log_offset": 4, "upstream_offset": 404,
    "downstream_offset": 404, "incarnation": 0, "parity_incarnation": 0, "segment_index": 0,
    "gap_before": False, "is_admitted": True, "recorded_at_ms": 1, "changed_in_run_id": BEFORE,
}  # fmt: skip
WAITING = SYNC | {"sync_log_offset": 5, "upstream_offset": 450, "is_admitted": False}
ELSEWHERE = SYNC | {"sync_log_offset": 1, "upstream_offset": 101, "incarnation": -1}
TRANSLATED: dict[str, Any] = PLACE | {
    "flow": FLOW, "cluster_id": CLUSTER, "group_id": "right", "target_topic_name": "e.orders",
    "run_id": DECIDED, "changed_in_run_id": DECIDED, "ruleset": "full_history",
    "settings_hash": "", "decision": "emit", "reason_code": "EMIT_FIRST", "decided_at_ms": 1,
    "upstream_offset": 500, "translated_offset": 405, "syncs_incarnation": 0,
    "sync_log_offset": 4, "incarnation": 0, "parity_incarnation": 0, "is_anchored": False,
}  # fmt: skip
EMITTED: dict[str, Any] = {
    "flow": FLOW, "group_id": "right", "target_topic_name": "e.orders", "partition_index": 0,
    "run_id": DECIDED, "topic_name": "orders", "upstream_offset": 500, "downstream_offset": 405,
    "metadata": "", "reason_code": "EMIT_ADVANCED", "ruleset": "full_history", "decided_at_ms": 1,
    "emitted_at_ms": 1, "previous_upstream_offset": 400, "previous_downstream_offset": 304,
}  # fmt: skip
RECORD: dict[str, Any] = {
    "cluster_id": CLUSTER, "log_partition_index": 0, "recorded_at_ms": 1, "run_id": BEFORE,
    "decode_status": "ok", "is_tombstone": False, "partition_index": 3, "upstream_offset": 5,
    "downstream_offset": 7, "value_version": 0,
}  # fmt: skip
SYNCED = RECORD | {"log_topic_name": "syncs", "topic_name": "tópico"}
CHECKPOINTED = RECORD | {
    "log_topic_name": "checkpoints", "topic_name": "tópico", "group_id": "é", "metadata": "m",
}  # fmt: skip
COMMITTED: dict[str, Any] = PLACE | {
    "cluster_id": CLUSTER, "committed_offset": 500, "is_deleted": False, "is_readable": True,
    "commit_log_offset": 0, "tombstone_log_offset": -1,
}  # fmt: skip
END: dict[str, Any] = {
    "cluster_id": "violated target", "topic_name": "e.orders", "partition_index": 0,
    "broker_id": 0, "is_leader": True, "changed_in_run_id": BEFORE,
}  # fmt: skip


def flow(name: str) -> dict[str, Any]:
    return {
        "flow": name, "source_cluster_id": CLUSTER, "target_cluster_id": "violated target",
        "ruleset": "", "topics_pattern": "", "groups_pattern": "", "separator": ".",
        "syncs_cluster_id": "", "syncs_topic_name": "", "checkpoints_topic_name": "",
        "keeps_topic_names": False, "clamp_first": False, "anchored": False,
        "is_exactly_once": False, "settings_hash": "", "settings": "{}", "valid_from_ms": 1,
        "run_id": BEFORE,
    }  # fmt: skip


def group(name: str, **more: Any) -> dict[str, Any]:
    return TRANSLATED | {"group_id": name, **more}


def sparse(name: str, offset: int, sync: int) -> dict[str, Any]:
    return group(
        name, flow=TWIN, ruleset="sparse_reads_checkpoints", translated_offset=offset,
        sync_log_offset=sync, incarnation=None, parity_incarnation=None,
    )  # fmt: skip


def emitted(name: str, reason: str, upstream: int, downstream: int, **more: Any) -> dict[str, Any]:
    offsets = {"upstream_offset": upstream, "downstream_offset": downstream}
    return EMITTED | {"group_id": name, "reason_code": reason, **offsets, **more}


ROWS: dict[str, list[dict[str, Any]]] = {
    "state.flows": [flow(FLOW), flow(TWIN)],
    "state.offset_syncs": [SYNC, WAITING, ELSEWHERE, SYNC | {"flow": TWIN}],
    "state.partition_states": [END | {"log_end_offset": 405, "taken_at_ms": 2, "run_id": BEFORE}],
    "state.group_offsets": [
        COMMITTED | {"group_id": "right", "changed_in_run_id": BEFORE},
        COMMITTED | {"group_id": "forgotten", "changed_in_run_id": BEFORE},
        COMMITTED | {"group_id": "new", "changed_in_run_id": AFTER},
    ],
    "decisions.offset_translations": [
        TRANSLATED,
        group("on the sync", upstream_offset=404, translated_offset=404),
        group("ahead of its sync", translated_offset=406),
        group("ahead on its sync", upstream_offset=404, translated_offset=405),
        group("before its sync", upstream_offset=403, translated_offset=404),
        group("by a sync that waits", sync_log_offset=5),
        group("by no sync", sync_log_offset=77),
        group("by another incarnation", sync_log_offset=1, translated_offset=102),
        group("before the start", translated_offset=-1),
        group("behind one that is behind", upstream_offset=600, translated_offset=300),
        group("worse than 64 slots", translated_offset=304, sync_log_offset=1),
        group("as good as 64 slots"),
        group("waits where they do not", upstream_offset=460, translated_offset=405),
        sparse("worse than 64 slots", 405, sync=4),
        sparse("as good as 64 slots", 405, sync=4),
        sparse("waits where they do not", 451, sync=5),
    ],
    "history.checkpoints": [
        EMITTED,
        emitted("first", "EMIT_FIRST", 5, 5, previous_downstream_offset=None),
        emitted("went back", "EMIT_GROUP_REWIND", 300, 203),
        emitted("began anew", "EMIT_NEW_INCARNATION", 500, 11),
        emitted("forgot", "EMIT_ADVANCED", 500, 304, ruleset="sparse_restart_forgets"),
        emitted("repeated", "EMIT_ADVANCED", 450, 304),
        emitted("fell back", "EMIT_ADVANCED", 450, 101),
        emitted("fell back with its group", "EMIT_ADVANCED", 300, 203),
        emitted("went back without its group", "EMIT_GROUP_REWIND", 450, 203),
    ],
    "decoded.offset_syncs": [
        SYNCED | {"log_offset": 0},
        SYNCED | {"log_offset": 1, "downstream_offset": 8},
        SYNCED | {"log_offset": 2, "topic_name": "topico"},
    ],
    "decoded.checkpoints": [
        CHECKPOINTED | {"log_offset": 0},
        CHECKPOINTED | {"log_offset": 1, "metadata": "n"},
        CHECKPOINTED | {"log_offset": 2, "decode_status": "ok_trailing"},
    ],
}


@pytest.fixture(scope="module")
def violated(session: Session) -> Iterator[Session]:
    for table, found in ROWS.items():
        for row in found:
            insert_row(session, table, row)
    one = CheckpointRecord("é", "tópico", 5, 7, partition=3, metadata="m")
    written = {"syncs": sync_bytes("tópico", 3, 5, 7), "checkpoints": checkpoint_bytes(one)}
    for topic, (key, value) in written.items():
        change(
            session,
            f"insert into raw.records by name select {literal(CLUSTER)} as cluster_id, "
            f"{literal(topic)} as topic_name, 0 as partition_index, log_offset, "
            f"1 as recorded_at_ms, x'{key.hex()}' as record_key, x'{value.hex()}' as record_value, "
            f"{literal(BEFORE)} as run_id from (select explode(array(0L, 1L, 2L)) as log_offset)",
        )
    yield session
    for table in (*ROWS, "raw.records"):
        name = "flow" if table in ("state.offset_syncs", "history.checkpoints") else "cluster_id"
        name = "source_cluster_id" if table == "state.flows" else name
        change(session, f"delete from {table} where {name} like 'violated%'")


def found(session: Session, test: str) -> set[str]:
    """Groups of the flow that dbt's test names; log topics and offsets where it has no groups."""
    return {
        str(row.get("group_id") or f"{row['log_topic_name']} {row['log_offset']}")
        for row in rows_of_singular_test(session, f"assert_{test}")
        if FLOW in (row.get("flow"), row.get("cluster_id"))
    }


@pytest.mark.parametrize(
    ("test", "violations"),
    [
        (
            "every_translation_is_proven_by_its_sync",
            {
                "ahead of its sync", "ahead on its sync", "before its sync",
                "by a sync that waits", "by no sync", "by another incarnation",
                "worse than 64 slots",
            },
        ),
        (
            "checkpoints_only_advance",
            {
                "repeated", "fell back", "fell back with its group",
                "went back without its group",
            },
        ),
        ("translations_lie_within_the_target", {"ahead of its sync", "before the start"}),
        ("all_syncs_translate_no_worse_than_64_slots", {"worse than 64 slots"}),
        (
            "translations_grow_with_commits",
            {
                "behind one that is behind",
                "by another incarnation",
                "before the start",
                "worse than 64 slots",
            },
        ),
        ("mirror_records_encode_to_their_bytes", {"syncs 1", "syncs 2", "checkpoints 1"}),
        ("every_commit_has_a_translation", {"forgotten"}),
    ],
)  # fmt: skip
def test_what_is_wrong_is_found(violated: Session, test: str, violations: set[str]) -> None:
    assert found(violated, test) == violations
