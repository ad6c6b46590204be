"""`moldau explain push REQUEST` and its like: the stored answer to a request."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from rows_support import Write

from moldau.cli.explain import explain
from moldau.errors import MoldauError
from moldau.reading.explain.requests import explain_request, request_in_words

NOON = 1_756_728_000_000  # 2025-09-01T12:00:00Z
ANSWERED: dict[str, Any] = {
    "cluster_id": "east",
    "group_id": "app",
    "received_at_ms": NOON,
    "run_id": "00000002-requests",
    "changed_in_run_id": "00000002-requests",
    "ruleset": "kafka_4_4",
    "decided_at_ms": NOON + 1,
    "is_dry_run": False,
    "backoff": None,
}
BACKOFF = {
    "topology_epoch": 3,
    "attempts": 1,
    "next_attempt_at_ms": NOON + 60_000,
    "armed_at_ms": NOON,
}
GATE = ANSWERED | {
    "request_id": "h 1",
    "member_id": "m",
    "decision": "not_required",
    "reason_code": "BACKOFF_ACTIVE",
    "topology_description_required": False,
    "current_topology_epoch": 3,
    "stored_description_topology_epoch": -2,
    "failed_description_topology_epoch": -1,
    "next_attempt_at_ms": NOON + 60_000,
    "backoff": BACKOFF,
    "is_dry_run": True,
}
PUSH = ANSWERED | {
    "request_id": "p1",
    "member_id": "m",
    "topology_epoch": 3,
    "decision": "transient_failure",
    "outcome": "transient_failure",
    "reason_code": "PLUGIN_FAILED",
    "error_code": "STREAMS_TOPOLOGY_DESCRIPTION_UPDATE_FAILED",
    "error_message": "offline\x07",
    "backoff_action": "ARM",
    "stored_epoch_before": -1,
    "stored_epoch_after": -2,
    "failed_epoch_after": -1,
    "findings": ["node a: unknown successor b"],
    "call_id": "call",
    "backoff": BACKOFF,
}
DELETION = ANSWERED | {
    "request_id": "d1",
    "decision": "refused",
    "reason_code": "NOT_EMPTY",
    "error_code": "NON_EMPTY_GROUP",
}
CALL = {
    "call_id": "call",
    "run_id": "00000002-requests",
    "cluster_id": "east",
    "group_id": "app",
    "operation": "set",
    "topology_epoch": 3,
    "outcome": "transient_failure",
    "message": "offline\x07",
    "started_at_ms": NOON,
    "finished_at_ms": NOON + 12,
}


@pytest.fixture
def answered(warehouse: Path, write: Write) -> Path:
    write("decisions.heartbeat_gates", GATE)
    write("decisions.topology_push_results", PUSH)
    write("decisions.group_deletion_results", DELETION, DELETION | {"group_id": "other"})
    write("history.plugin_calls", CALL)
    return warehouse


def words(warehouse: Path, text: str) -> str:
    found = explain_request(warehouse, text, None)
    assert found
    return "\n".join(request_in_words(found))


def test_a_heartbeat_that_met_an_open_window(answered: Path) -> None:
    told = words(answered, "heartbeat h 1")
    assert told.startswith("Heartbeat h 1 of member m for group app in cluster east, received 2025")
    assert "not required (BACKOFF_ACTIVE)" in told
    assert "seen: topology epoch 3, stored uncertain, permanently refused none" in told
    assert "topology epoch 3, armed 2 times, open until 2025-09-01T12:01:00" in told
    assert "a dry run: the next run of requests answers it" in told


def test_a_push_that_the_plugin_failed(answered: Path) -> None:
    told = words(answered, "push p1")
    assert "answered: STREAMS_TOPOLOGY_DESCRIPTION_UPDATE_FAILED, offline" in told
    assert "plugin: set, transient failure in 12 ms: offline" in told
    assert "stored epoch: none, then uncertain" in told
    assert "the topology: node a: unknown successor b" in told
    assert "\x07" not in told


def test_a_deletion_is_one_answer_a_group_unless_one_is_named(answered: Path) -> None:
    assert words(answered, "deletion d1").count("Deletion d1 for group") == 2
    told = words(answered, "deletion d1 other")
    assert told.count("Deletion d1 for group") == 1
    assert "for group other" in told and "NON_EMPTY_GROUP" in told


def test_what_is_no_request_is_not_answered_for(answered: Path) -> None:
    for text in ("push", "push h 1", "join p1", "cleanup app"):
        assert explain_request(answered, text, None) is None


def test_of_several_clusters_one_is_chosen(answered: Path, write: Write) -> None:
    write("decisions.classic_join_results")
    write("decisions.heartbeat_gates", GATE, GATE | {"cluster_id": "west"})
    with pytest.raises(MoldauError, match="several clusters"):
        explain_request(answered, "heartbeat h 1", None)
    found = explain_request(answered, "heartbeat h 1", "west")
    assert found and [row["cluster_id"] for row in found.answers] == ["west"]


def test_the_command_has_it_as_a_table_too(answered: Path) -> None:
    told = CliRunner().invoke(
        explain, ["push", "p1", "--warehouse", str(answered), "--format", "csv"]
    )
    assert told.exit_code == 0, told.output
    assert "east,push p1,transient_failure,PLUGIN_FAILED" in told.stdout
