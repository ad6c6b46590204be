"""The invariants among dbt's tests find what they are there for."""

from __future__ import annotations

from typing import Any

import pytest
from spark_support import change, insert_row, rows_of_singular_test

from moldau.sessions.session import Session

LIVES = {
    "never stored": [("record", -1, "1"), ("removed", "", "3")],
    "cleared": [("record", 4, "1"), ("success", "", "2"), ("removed", "", "3")],
    "cleared by the broker": [("record", 4, "1"), ("record", -1, "2"), ("removed", "", "3")],
    "never asked": [("record", 4, "1"), ("removed", "", "3")],
    "refused": [("record", 4, "1"), ("permanent_failure", "", "2"), ("removed", "", "3")],
    "answered too late": [("record", 4, "1"), ("success", "late", "2"), ("removed", "", "3")],
    "asked in an earlier life only": [
        ("record", 4, "1"),
        ("success", "", "2"),
        ("removed", "", "3"),
        ("record", 5, "4"),
        ("removed", "", "5"),
    ],
}
VIOLATIONS = {"never asked", "refused", "answered too late", "asked in an earlier life only"}
TABLES = ("decoded.group_records", "history.plugin_calls", "history.tombstones")


@pytest.fixture
def lives(session: Session) -> Any:
    for group, events in LIVES.items():
        for index, (what, how, run) in enumerate(events):
            _insert(session, group, index, what, how, f"{int(run):08d}-of-life")
    yield session
    for table in TABLES:
        change(session, f"delete from {table} where cluster_id = 'violated'")


def _insert(session: Session, group: str, index: int, what: str, how: Any, run_id: str) -> None:
    at_ms = 1_000 * int(run_id[:8])
    row: dict[str, Any] = {"cluster_id": "violated", "group_id": group, "run_id": run_id}
    if what == "record":
        table = "decoded.group_records"
        row |= {
            "partition_index": 0,
            "log_offset": index,
            "recorded_at_ms": at_ms,
            "record_type": 17,
            "decode_status": "ok",
            "is_tombstone": False,
            "stored_description_topology_epoch": how,
        }
    elif what == "removed":
        table = "history.tombstones"
        row |= {"ruleset": "kafka_4_4", "group_type": "streams", "has_plugin": True}
        row |= {"removed_by": "sweep", "decided_at_ms": at_ms, "removed_at_ms": at_ms}
    else:
        table = "history.plugin_calls"
        row |= {"call_id": f"{group} {run_id}", "operation": "delete", "topology_epoch": 4}
        row |= {"outcome": what, "started_at_ms": at_ms}
        row |= {"finished_at_ms": at_ms + (60_000 if how == "late" else 1)}
    insert_row(session, table, row)


def test_a_description_that_outlives_its_group_is_found(lives: Session) -> None:
    name = "assert_no_tombstone_before_the_description_was_deleted"
    found = rows_of_singular_test(lives, name)
    assert {row["group_id"] for row in found if row["cluster_id"] == "violated"} == VIOLATIONS
