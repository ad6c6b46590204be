"""`moldau explain tier`: a partition of tiered storage in words, as stored."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from rows_support import Write

from moldau.cli.explain import explain
from moldau.errors import MoldauError
from moldau.reading.explain.tiers import explain_tier, explain_tier_subject
from moldau.reading.explain.tiers_words import tier_in_words

NOON = 1_756_728_000_000  # 2025-09-01T12:00:00Z
HOUR = 3_600_000
TOPIC: dict[str, Any] = {"cluster_id": "east", "topic_id": "id", "topic_name": "orders"}
PLACE: dict[str, Any] = TOPIC | {"partition_index": 0}
DECIDED: dict[str, Any] = PLACE | {
    "run_id": "00000007-tiers", "ruleset": "kafka_4_4", "settings_hash": "abc",
    "changed_in_run_id": "00000007-tiers", "decided_at_ms": NOON,
}  # fmt: skip


def local(base: int, reason: str, **more: Any) -> dict[str, Any]:
    decision = "upload" if reason == "ELIGIBLE" else "keep"
    return DECIDED | {
        "broker_id": 1, "base_offset": base, "next_base_offset": base + 100, "size_bytes": 1,
        "decision": decision, "reason_code": reason, **more,
    }  # fmt: skip


def remote(start: int, reason: str, position: int | None, **more: Any) -> dict[str, Any]:
    decision = "keep" if reason == "NOT_BREACHED" else "delete"
    return DECIDED | {
        "segment_id": f"s{start}", "start_offset": start, "end_offset": start + 99,
        "size_bytes": 10, "decision": decision, "reason_code": reason, "walk_position": position,
        **more,
    }  # fmt: skip


MEASURED: dict[str, Any] = PLACE | {
    "run_id": "00000007-tiers", "ruleset": "kafka_4_4", "is_measured": True, "measured_at_ms": NOON,
}  # fmt: skip


@pytest.fixture(autouse=True)
def tables_of_marts(write_empty: Callable[..., None]) -> None:
    write_empty("marts.tier_lag", "marts.tier_partitions")


@pytest.fixture
def lagging(write: Write, warehouse: Path) -> Path:
    write(
        "decisions.upload_candidates",
        local(0, "ALREADY_COPIED"),
        local(100, "ELIGIBLE", lag_before=200, lag_after=100),
        local(200, "ELIGIBLE", lag_before=100, lag_after=0, max_timestamp_ms=NOON - HOUR),
        local(300, "ACTIVE"),
        local(0, "NOT_LEADER", broker_id=2),
    )
    write(
        "decisions.delete_candidates",
        remote(0, "RETENTION_TIME", 1, lag_before=100, lag_after=0),
        remote(100, "NOT_BREACHED", 2, next_due_at_ms=NOON + HOUR),
        remote(900, "DELETE_STARTED", None),
    )
    write(
        "state.tier_lag",
        MEASURED | {
            "broker_id": 1, "upload_tier_lag": 200, "upload_lag_segments": 2, "upload_lag_bytes": 2,
            "upload_in_flight": 100, "upload_blocked_by_lso": 0, "upload_delayed": 0,
            "delete_tier_lag": 100, "delete_tier_lag_sum": 200, "delete_lag_segments": 2,
            "delete_lag_bytes": 20, "over_deleted_bytes": 10,
        },
    )  # fmt: skip
    write(
        "state.partition_states",
        PLACE | {
            "broker_id": 1, "is_leader": True, "log_start_offset": 0, "log_end_offset": 400,
            "local_log_start_offset": 0, "last_stable_offset": None, "taken_at_ms": NOON - HOUR,
        },
    )  # fmt: skip
    write(
        "state.leader_epochs",
        PLACE | {"epochs": [{"leader_epoch": 3, "start_offset": 0}]},
    )
    write(
        "state.topic_configs",
        TOPIC | {"valid_from_ms": 0, "configs": {"retention.ms": "5", "retention.bytes": "7"}},
        TOPIC | {"valid_from_ms": NOON + HOUR, "configs": {"retention.ms": "6"}},
    )
    topics = {"orders": {"retention.bytes": 9, "remote.storage.enable": True}}
    write(
        "state.settings",
        {
            "cluster_id": "east",
            "settings_hash": "abc",
            "rulesets": {"tiers": "kafka_4_4"},
            "settings": json.dumps({"topics": topics}),
        },
    )
    write("seeds.rule_sets", {"domain": "tiers", "ruleset": "kafka_4_4"})
    return warehouse


def words(warehouse: Path, cluster: str | None = None) -> str:
    return "\n".join(tier_in_words(explain_tier(warehouse, "orders-0", cluster)))


def test_it_says_what_waits_and_why_in_the_order_of_the_walks(lagging: Path) -> None:
    said = words(lagging)
    assert "Partition orders-0 in cluster east, led by broker 1" in said
    assert "last stable offset unknown, as of 2025-09-01T11:00:00Z" in said
    assert "leader epochs: 3 from 0" in said
    assert "upload lag: 200 offsets in 2 segments, 2 bytes; 100 in flight" in said
    assert "delete lag: 100 offsets; 200 offsets in 2 segments, 20 bytes; 10 bytes too much" in said
    walk = [line.strip() for line in said.splitlines() if line.strip()[:1].isdigit()]
    assert walk == [
        "0 to 99, 1 segment, 1 bytes: keep (ALREADY_COPIED)",
        "100 to 299, 2 segments, 2 bytes, newest record 2025-09-01T11:00:00Z: upload "
        "(ELIGIBLE, lag 200 -> 0)",
        "300 to 399, 1 segment, 1 bytes: keep (ACTIVE)",
        "0 to 99, 1 segment of broker 2, 1 bytes: keep (NOT_LEADER)",
        "0 to 99, 1 segment, 10 bytes: delete (RETENTION_TIME, lag 100 -> 0)",
        "100 to 199, 1 segment, 10 bytes: keep (NOT_BREACHED)",
        "900 to 999, 1 segment, 10 bytes: delete (DELETE_STARTED)",
    ]
    assert "why: The newest record of the segment is older than retention.ms." in said
    assert "next: decided anew at 2025-09-01T13:00:00Z if nothing else happens" in said
    assert "decided for 2025-09-01T12:00:00Z under kafka_4_4 in run 00000007-tiers" in said


def test_configs_are_those_that_held_and_moldau_yml_comes_first(lagging: Path) -> None:
    assert explain_tier(lagging, "orders-0", None).configs == {
        "remote.storage.enable": "true (moldau.yml)",
        "retention.ms": "5 (loaded)",
        "retention.bytes": "9 (moldau.yml)",
        "remote.log.copy.disable": "false (of the broker)",
        "remote.copy.lag.ms": "0 (of the broker)",
        "remote.copy.lag.bytes": "9 (of the broker)",
    }


def test_unknown_lag_is_said_to_be_unknown(write: Write, warehouse: Path) -> None:
    write("decisions.delete_candidates", remote(0, "DELETE_STARTED", None))
    write("state.tier_lag", MEASURED | {"delete_tier_lag_sum": 100, "delete_lag_segments": 1})
    said = words(warehouse)
    assert "leader unknown" in said
    assert "upload lag: none is told. No local segments of the leader are loaded." in said
    assert "delete lag: unknown; 100 offsets in 1 segments" in said
    assert "configs: nothing is told" in said
    assert "Upload of local segments: there are none" in said


@pytest.mark.parametrize(
    ("text", "cluster", "said"),
    [
        ("orders", None, "is not TOPIC-PARTITION"),
        ("orders-x", None, "is not TOPIC-PARTITION"),
        ("other-0", None, "nothing is decided about the segments of 'other-0'"),
        ("orders-0", "west", "not in cluster 'west', but in east"),
    ],
)
def test_what_is_not_there_is_refused(
    lagging: Path, text: str, cluster: str | None, said: str
) -> None:
    with pytest.raises(MoldauError, match=said):
        explain_tier(lagging, text, cluster)


def test_a_topic_that_was_created_again_is_not_mixed_with_the_old_one(
    lagging: Path, write: Write
) -> None:
    write("decisions.delete_candidates", remote(5000, "TOPIC_DELETED", None) | {"topic_id": "old"})
    assert "TOPIC_DELETED" not in words(lagging)


def test_the_leader_is_the_newest_that_tells_of_the_topic(lagging: Path, write: Write) -> None:
    """Partition states without a topic id are for the lag of groups alone."""
    state = PLACE | {"is_leader": True, "taken_at_ms": NOON}
    before = {"broker_id": 0, "taken_at_ms": NOON - 1}
    write("state.partition_states", state | {"leader_epoch": 5} | before)
    write("state.partition_states", state | {"broker_id": 3, "leader_epoch": 5})
    write("state.partition_states", state | {"broker_id": 2, "leader_epoch": 5})
    write("state.partition_states", state | {"broker_id": 7, "leader_epoch": 9, "topic_id": None})
    said = words(lagging)
    assert "led by broker 2" in said
    assert "delete (DELETE_STARTED)" in said


def test_a_delete_that_is_retried_and_one_that_is_not_are_two_answers(
    lagging: Path, write: Write
) -> None:
    """As one span it would end before it starts."""
    write(
        "decisions.delete_candidates", remote(2000, "DELETE_STARTED", 3, lag_before=9, lag_after=8)
    )
    said = words(lagging)
    assert "2000 to 2099, 1 segment, 10 bytes: delete (DELETE_STARTED, lag 9 -> 8)" in said
    assert "900 to 999, 1 segment, 10 bytes: delete (DELETE_STARTED)\n" in said


def test_without_lineage_no_delete_lag_is_told(write: Write, warehouse: Path) -> None:
    write("decisions.delete_candidates", remote(0, "NO_SNAPSHOT", None, decision="keep"))
    write("state.tier_lag", MEASURED | {"delete_tier_lag_sum": None})
    said = words(warehouse)
    assert "delete lag: none is told. No leader or no lineage of the partition is loaded" in said


@pytest.mark.parametrize(
    ("subject", "expected", "hidden"),
    [
        ("upload orders-0 100 on 1", "100 to 199, 1 segment", "Deletion of remote segments"),
        ("upload orders-0 0 on 2", "0 to 99, 1 segment of broker 2", "ALREADY_COPIED"),
        ("delete orders-0 s100", "100 to 199, 1 segment, 10 bytes: keep", "Upload of local"),
        ("tier orders-0", "Upload of local segments", "there are none"),
    ],
)
def test_a_subject_of_a_decision_is_explained(
    lagging: Path, subject: str, expected: str, hidden: str
) -> None:
    """As one word or as several."""
    for asked in ([subject], subject.split(" ")):
        answer = CliRunner().invoke(explain, [*asked, "--warehouse", str(lagging)])
        assert (answer.exit_code, expected in answer.output) == (0, True), answer.output
        assert hidden not in answer.output


@pytest.mark.parametrize("subject", ["upload orders-0 100 on 2", "delete orders-0 s101"])
def test_a_segment_that_nothing_is_decided_about_is_refused(lagging: Path, subject: str) -> None:
    with pytest.raises(MoldauError, match="`moldau explain tier orders-0` shows the segments"):
        explain_tier_subject(lagging, subject, None)


def test_rows_for_programs(lagging: Path) -> None:
    answer = CliRunner().invoke(
        explain, ["tier", "orders-0", "--warehouse", str(lagging), "--format", "json"]
    )
    rows = json.loads(answer.output)
    assert [row["subject"] for row in rows][:2] == [
        "upload orders-0 0 on 1",
        "upload orders-0 100 on 1",
    ]
    assert rows[-1]["subject"] == "delete orders-0 s900"
    assert (rows[1]["lag_before"], rows[1]["lag_after"], rows[1]["end_offset"]) == (200, 100, 199)
