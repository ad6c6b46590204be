"""`moldau explain`: the values, the threshold, the blocker, the next instant, as stored."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from rows_support import Write

from moldau.cli.explain import explain
from moldau.errors import MoldauError
from moldau.reading.explain.found_rows import rows_of
from moldau.reading.explain.groups import explain_subject
from moldau.reading.explain.groups_words import in_words

NOON = 1_756_728_000_000  # 2025-09-01T12:00:00Z
HOUR = 3_600_000

GROUP: dict[str, Any] = {
    "cluster_id": "east",
    "group_id": "app",
    "group_type": "streams",
    "group_state": "EMPTY",
    "group_epoch": 5,
    "stored_description_topology_epoch": -2,
    "failed_description_topology_epoch": -1,
    "empty_since_at_ms": NOON,
    "subscribed_topics": [],
    "is_readable": True,
    "changed_in_run_id": "00000001-load",
}
OFFSET: dict[str, Any] = {
    "cluster_id": "east",
    "group_id": "app",
    "topic_name": "orders",
    "partition_index": 0,
    "committed_offset": 42,
    "commit_at_ms": NOON,
    "is_readable": True,
}
DECIDED: dict[str, Any] = {
    "cluster_id": "east",
    "group_id": "app",
    "run_id": "00000002-cycle",
    "changed_in_run_id": "00000002-cycle",
    "ruleset": "kip_1331_draft",
    "settings_hash": "abc",
    "decided_at_ms": NOON + HOUR,
}
CLEANUP = DECIDED | {
    "decision": "not_eligible",
    "reason_code": "OFFSETS_NOT_EXPIRED",
    "observed_epoch": -2,
    "next_due_at_ms": NOON + 2 * HOUR,
}
KEPT = DECIDED | {
    "topic_name": "orders",
    "partition_index": 0,
    "decision": "keep",
    "reason_code": "RETENTION_NOT_ELAPSED",
    "expiry_clock": "commit",
    "expires_at_ms": NOON + 2 * HOUR,
}
SETTINGS = {
    "cluster_id": "east",
    "authority": "broker",
    "offsets_retention_ms": 2 * HOUR,
    "settings_hash": "abc",
}


@pytest.fixture
def filled(warehouse: Path, write: Write) -> Path:
    write("state.groups", GROUP)
    write("state.group_offsets", OFFSET)
    write("state.settings", SETTINGS)
    write("state.open_transactions")
    write("decisions.cleanup_eligibility", CLEANUP)
    write("decisions.offset_expirations", KEPT)
    write("decisions.group_sweeps")
    write(
        "history.decision_changes",
        {
            "domain": "groups",
            "cluster_id": "east",
            "subject": "cleanup app",
            "run_id": "00000002-cycle",
            "decision": "not_eligible",
            "reason_code": "OFFSETS_NOT_EXPIRED",
            "previous_decision": "not_eligible",
            "previous_reason_code": "NOT_EMPTY",
            "ruleset": "kip_1331_draft",
            "decided_at_ms": NOON + HOUR,
        },
    )
    return warehouse


def words(warehouse: Path, text: str, cluster: str | None = None) -> str:
    return "\n".join(in_words(explain_subject(warehouse, text, cluster)))


def test_a_cleanup_decision_is_told_with_its_values(filled: Path) -> None:
    assert words(filled, "cleanup app").splitlines() == [
        "Streams group app in cluster east: EMPTY since 2025-09-01T12:00:00Z, 0 members",
        "  group epoch 5, topology epoch 0, stored description epoch uncertain, "
        "failed description epoch none",
        "  subscribed topics: none",
        "",
        "Clean-up cycle: not eligible (OFFSETS_NOT_EXPIRED)",
        "  why: At least one committed offset of the group has not expired yet.",
        "  seen: stored description epoch uncertain",
        "  threshold: offsets.retention.minutes = 120",
        "  blocked by offset orders-0 (RETENTION_NOT_ELAPSED, expires at 2025-09-01T14:00:00Z) "
        "as of 2025-09-01T13:00:00Z",
        "  next: the answer changes at 2025-09-01T14:00:00Z if nothing else happens",
        "  decided for 2025-09-01T13:00:00Z under kip_1331_draft in run 00000002-cycle",
        "  last change: was not_eligible (NOT_EMPTY) before run 00000002-cycle, "
        "at 2025-09-01T13:00:00Z",
    ]


def test_an_offset_is_told_with_its_clock(filled: Path) -> None:
    text = words(filled, "offset app orders-0")
    assert "Offset orders-0: keep (RETENTION_NOT_ELAPSED)" in text
    assert "seen: offset 42 committed at 2025-09-01T12:00:00Z" in text
    assert "expires at 2025-09-01T14:00:00Z, counted from the commit" in text
    assert "(offsets.retention.minutes = 120)" in text
    assert "Clean-up" not in text


def test_a_group_id_explains_everything_about_the_group(filled: Path) -> None:
    text = words(filled, "app")
    assert text.index("Clean-up cycle:") < text.index("Sweep:") < text.index("Offset orders-0:")
    assert "Sweep: not decided yet: `moldau sweep --dry-run --cluster east` decides" in text


def test_a_group_id_tells_where_an_application_would_start(filled: Path, write: Write) -> None:
    assert "started with" not in words(filled, "cleanup app")
    lost = OFFSET | {"topic_name": "lost", "committed_offset": 4}
    write("state.group_offsets", lost)
    log = {"cluster_id": "east", "partition_index": 0, "is_leader": True, "taken_at_ms": NOON}
    ends = {"log_start_offset": 10, "last_stable_offset": 45, "high_watermark": 50}
    for name in ("lost", "orders"):
        write("state.partition_states", log | ends | {"log_end_offset": 50, "topic_name": name})
    write("state.leader_epochs", {"cluster_id": "west"})
    for code, decision in (("BELOW_LOG_START", "reset"), ("COMMITTED", "continue")):
        reason = {"decision_table": "start_positions", "reason_code": code}
        write("seeds.reason_codes", reason | {"decision": decision, "reason_text": "Because."})
    told = words(filled, "app").split("started with these offsets:\n")[1]
    assert told.splitlines() == [
        "  lost-0: meets its auto.offset.reset (earliest is 10, latest 50, or 45 with "
        "read_committed)",
        "    why: Because. (BELOW_LOG_START)",
        "  1 partition goes on from the committed offset (COMMITTED)",
    ]
    rows = rows_of(explain_subject(filled, "app"))
    starts = [(row["subject"], row["decision"]) for row in rows if "start " in row["subject"]]
    assert starts == [("start app lost-0", "reset"), ("start app orders-0", "continue")]


def test_open_transactions_are_named_by_producer(filled: Path, write: Write) -> None:
    pending = {"cluster_id": "east", "group_id": "app", "topic_name": "orders"}
    write("state.open_transactions", pending | {"producer_id": 7})
    write("state.group_offsets", OFFSET | {"topic_name": "paid"})
    write(
        "decisions.offset_expirations",
        KEPT | {"topic_name": "paid", "reason_code": "PENDING_TRANSACTION"},
    )
    write("state.open_transactions", pending | {"topic_name": "paid", "producer_id": 8})
    text = words(filled, "offset app paid-0")
    assert "blocked by the open transaction of producer 8 on paid-0" in text
    assert "producer 7" not in text
    assert "time alone changes nothing" in text


def test_a_group_that_changed_since_is_said(filled: Path, write: Write) -> None:
    write("state.groups", GROUP | {"group_id": "new", "changed_in_run_id": "00000003-load"})
    write("decisions.cleanup_eligibility", CLEANUP | {"group_id": "new"})
    assert "the group changed since, in run 00000003-load" in words(filled, "cleanup new")


def test_several_clusters_need_a_choice(filled: Path, write: Write) -> None:
    write("state.groups", GROUP | {"cluster_id": "west"})
    with pytest.raises(MoldauError, match=r"--cluster \(east, west\)"):
        explain_subject(filled, "app")
    assert "cluster west" in words(filled, "app", "west")
    with pytest.raises(MoldauError, match="not in cluster 'north'"):
        explain_subject(filled, "app", "north")


def test_a_name_that_nothing_has_is_refused_with_a_close_one(filled: Path) -> None:
    with pytest.raises(MoldauError, match=r"did you mean 'app'\?"):
        explain_subject(filled, "cleanup appp")
    with pytest.raises(MoldauError, match="nothing is known about 'offset app orders-9'"):
        explain_subject(filled, "offset app orders-9")


def test_a_deleted_group_has_no_sweep(warehouse: Path, write: Write) -> None:
    gone = GROUP | {"is_deleted": True, "group_state": "DEAD", "deleted_by": "broker"}
    write("state.groups", gone | {"deleted_at_ms": NOON})
    text = words(warehouse, "app")
    assert "deleted by broker at 2025-09-01T12:00:00Z" in text
    assert "Sweep: the group is deleted" in text


@pytest.mark.parametrize(
    "name", ["", "a'b", 'a"b', "a\\b", "a\0b", "🦀", "x" * 32_768, "cleanup app", "two  words"]
)
def test_odd_group_ids_are_explained(warehouse: Path, write: Write, name: str) -> None:
    write("state.groups", GROUP | {"group_id": name})
    write("state.group_offsets", OFFSET | {"group_id": name, "topic_name": "o 'x'"})
    assert "Clean-up cycle" in words(warehouse, f"cleanup {name}")
    assert "Offset o 'x'-0" in words(warehouse, f"offset {name} o 'x'-0")
    assert "\0" not in words(warehouse, name)


def test_a_subject_wins_over_a_group_called_like_one(filled: Path, write: Write) -> None:
    write("state.groups", GROUP | {"group_id": "cleanup app"})
    assert explain_subject(filled, "cleanup app").group["group_id"] == "app"
    assert explain_subject(filled, "cleanup cleanup app").group["group_id"] == "cleanup app"


def test_json_has_the_same_facts(filled: Path) -> None:
    result = CliRunner().invoke(
        explain, ["cleanup", "app", "--warehouse", str(filled), "--format", "json"]
    )
    assert result.exit_code == 0, result.output
    [row] = json.loads(result.stdout)
    assert row["subject"] == "cleanup app"
    assert row["next_change_at_ms"] == NOON + 2 * HOUR
    assert row["reason_text"].startswith("At least one committed offset")


def test_every_reason_has_a_sentence() -> None:
    from moldau.reading.explain.phrases import reason_texts

    assert all(text.endswith(".") and "{" not in text for text in reason_texts().values())
