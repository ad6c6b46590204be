"""The demo as a person runs it: its story, and the tables it leaves."""

from __future__ import annotations

from pathlib import Path

import pytest
from shell_support import Shell

from moldau.reading.tables.query import query

pytestmark = pytest.mark.processes


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demo") / "w"


@pytest.fixture(scope="module")
def story(shell: Shell, warehouse: Path) -> str:
    told = shell("demo", "--engine", "duckdb", "--warehouse", str(warehouse), COLUMNS="200")
    assert told.code == 0, told.err
    return told.out


def rows(warehouse: Path, statement: str) -> list[tuple[object, ...]]:
    return list(query(warehouse, statement).rows)


def test_the_failed_delete_is_retried_by_the_next_cycle(story: str, warehouse: Path) -> None:
    calls = rows(
        warehouse,
        "select group_id, outcome from history.plugin_calls where cluster_id = 'own' "
        "order by run_id, group_id",
    )
    assert calls[:3] == [
        ("c-repeat-off", "transient_failure"),
        ("c-txn-off", "success"),
        ("c-vanish-off", "success"),
    ]
    assert calls[3:] == [("c-repeat-off", "success")]
    assert "being upgraded" in story


def test_each_description_is_deleted_before_its_group(story: str, warehouse: Path) -> None:
    removed = rows(
        warehouse,
        "select t.group_id, c.finished_at_ms < t.removed_at_ms from history.tombstones as t "
        "join history.plugin_calls as c using (cluster_id, group_id) "
        "where t.topic_name is null and c.outcome = 'success' order by 1",
    )
    assert removed == [(name, True) for name in ("c-repeat-off", "c-txn-off", "c-vanish-off")]


def test_requests_are_answered(story: str, warehouse: Path) -> None:
    """A gate, a failed push with its back-off, one that is stored, a deletion held back."""
    gates = "select reason_code from decisions.heartbeat_gates order by received_at_ms"
    assert rows(warehouse, gates) == [
        ("REQUIRED",), ("BACKOFF_ACTIVE",), ("REQUIRED",), ("ALREADY_STORED",),
    ]  # fmt: skip
    pushes = "select outcome, backoff_action from decisions.topology_push_results order by 1 desc"
    assert rows(warehouse, pushes) == [("transient_failure", "ARM"), ("success", "CLEAR")]
    deleted = "select group_id, error_code from decisions.group_deletion_results order by 1"
    assert rows(warehouse, deleted) == [
        ("g-streams-nopush", "NONE"), ("g-streams-push", "GROUP_DELETION_FAILED"),
    ]  # fmt: skip
    assert "Topology description plugin failed to delete the topology." in story


def test_groups_go_on_in_the_other_cluster(story: str, warehouse: Path) -> None:
    """By every sync, and by the 64 that MirrorMaker keeps, which says of 700 what it wrote."""
    asked = (
        "select flow, upstream_offset, translated_offset from decisions.offset_translations "
        "where group_id = 'g-mid' and topic_name = 'orders' and partition_index = 0 order by flow"
    )
    assert rows(warehouse, asked) == [("a-to-b", 701, 701), ("a-to-b-as-kafka", 701, 1)]
    written = (
        "select downstream_offset from decoded.checkpoints where group_id = 'g-mid' "
        "and topic_name = 'A.orders' and partition_index = 0 order by log_offset desc limit 1"
    )
    assert rows(warehouse, written) == [(1,)]
    assert "record 701 lies at 701 of A.orders-0, says the sync at offset" in story


def test_the_predictions_are_what_the_broker_did(story: str) -> None:
    lines = [line.split() for line in story.splitlines()]
    assert ["c-vanish-off", "eligible", "defer", "removed"] in [line[:4] for line in lines]


def test_a_replay_asks_for_what_the_real_producers_asked_for(story: str, warehouse: Path) -> None:
    """By Kafka's rules; those of before make larger requests, the paced ones fewer."""
    asked = {
        ruleset: (requests, topics)
        for ruleset, requests, topics in rows(
            warehouse, "select ruleset, requests, topics from marts.metadata_replay_totals"
        )
    }
    recorded = (
        "select count(distinct (producer_id, at_ms)), count(*) from raw.producer_events "
        "where event = 'requested'"
    )
    assert rows(warehouse, recorded) == [asked["kafka_2_5"]] == [(35, 55)]
    topics = {ruleset: count for ruleset, (_, count) in asked.items()}
    assert topics["paced"] < topics["kafka_2_5"] < topics["kip_526_draft"] < topics["before_2_5"]
    assert "as recorded (Kafka 4.4)" in story
    evicted = "select count(*) from decisions.metadata_topics where decision = 'evict'"
    assert rows(warehouse, evicted) == [(6,)]
