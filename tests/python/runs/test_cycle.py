"""The clean-up cycle applied: calls, the conditional clear, the barrier; the case numbers are those
of the specification, sections 10.4 and 10.8.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from log_support import Log
from spark_support import fold_records, rows, with_clusters

from moldau.runs.decide import decide
from moldau.runs.run import FAILURES, literal
from moldau.runs.session import Session

AT_MS = 1_800_000_000_000
GROUPS = ("good", "fail-once", "perm", "hang", "wait-raced", "wait-revived", "wait-gone")
Told = dict[str, Any]
RULE_SETS = {"draft": "kip_1331_draft", "v2": "kip_1331_v2", "barrier": "kafka_4_4"}


def moldau_yml(folder: Path, ruleset: str) -> str:
    plugin = f"{{name: scripted, folder: {folder}, failing: fail, timeout_seconds: 8}}"
    return f"{{authority: moldau, ruleset: {{groups: {ruleset}}}, plugin: {plugin}}}"


def log_of(groups: tuple[str, ...]) -> Log:
    """Empty streams groups without offsets, whose description is stored at epoch 3."""
    log = Log()
    for group in groups:
        log.streams(group, stored=3)
    return log


def clears(session: Session, cluster: str, run_id: str) -> dict[str, tuple[str, str, int, int]]:
    found = rows(
        session,
        "select concat(group_id, ' ', step), step, outcome, observed_epoch, epoch_after "
        f"from history.epoch_clears where cluster_id = '{cluster}' and run_id = '{run_id}'",
    )
    return {row[0]: row[2:] for row in found}


def calls(session: Session, cluster: str, run_id: str) -> dict[str, tuple[str, str]]:
    found = rows(
        session,
        "select group_id, outcome, message from history.plugin_calls "
        f"where cluster_id = '{cluster}' and run_id = '{run_id}'",
    )
    return {row[0]: row[1:] for row in found}


def epochs(session: Session, cluster: str) -> dict[str, int]:
    statement = "select group_id, stored_description_topology_epoch from state.groups"
    return dict(rows(session, f"{statement} where cluster_id = '{cluster}'"))


def while_called(folder: Path, change: Callable[[str], None]) -> threading.Thread:
    """Another writer: changes each `wait-` group while its call is in progress."""

    def write() -> None:
        deadline = time.monotonic() + 120
        waiting = {group for group in GROUPS if group.startswith("wait")}
        while waiting and time.monotonic() < deadline:
            for group in sorted(waiting):
                if (folder / f"{group}.called").exists():
                    change(group)
                    (folder / f"{group}.go").touch()
                    waiting.remove(group)
            time.sleep(0.05)

    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    return thread


@pytest.fixture(scope="module")
def cycled(session: Session, tmp_path_factory: pytest.TempPathFactory) -> Told:
    """One cycle over three clusters of the same groups, and another after the plugin healed."""
    folders = {name: tmp_path_factory.mktemp(name) for name in RULE_SETS}
    session = with_clusters(
        session, {name: moldau_yml(folders[name], RULE_SETS[name]) for name in RULE_SETS}
    )
    fold_records(session, {name: log_of(GROUPS).records for name in RULE_SETS})
    told: Told = {"session": session, "folders": folders}
    for name in RULE_SETS:
        thread = while_called(folders[name], lambda group, name=name: move(session, name, group))
        first = decide(session, "cycle", [name], AT_MS, is_dry_run=False)
        thread.join(timeout=60)
        told[name] = {
            "run": first,
            "calls": calls(session, name, first.run_id),
            "clears": clears(session, name, first.run_id),
            "epochs": epochs(session, name),
        }
        (folders[name] / "healed").touch()
        second = decide(session, "cycle", [name], AT_MS + 1, is_dry_run=False)
        told[f"{name} again"] = {
            "run": second,
            "calls": calls(session, name, second.run_id),
            "clears": clears(session, name, second.run_id),
            "epochs": epochs(session, name),
        }
    return told


def move(session: Session, cluster: str, group: str) -> None:
    changes = {
        "wait-raced": "stored_description_topology_epoch = 9",
        "wait-revived": "group_state = 'STABLE', member_count = 1",
        "wait-gone": "group_state = 'DEAD', is_deleted = true, deleted_by = 'broker'",
    }
    session.spark.sql(
        f"update state.groups set {changes[group]} "
        f"where cluster_id = '{cluster}' and group_id = '{group}'"
    )


def test_each_call_has_its_outcome_whatever_the_others_do(cycled: Told) -> None:
    """137, 145: a call that hangs costs its time-out, a failed one is retried by the next cycle."""
    for name in RULE_SETS:
        assert cycled[name]["calls"] == {
            "good": ("success", None),
            "fail-once": ("transient_failure", "plugin offline"),
            "perm": ("permanent_failure", "not supported'; drop table state.groups; --"),
            "hang": ("timeout", "no answer in 8 s"),
            **{group: ("success", None) for group in GROUPS if group.startswith("wait")},
        }
        again = cycled[f"{name} again"]
        assert again["calls"]["fail-once"] == ("success", None)
        assert again["epochs"]["fail-once"] == -1
        assert "good" not in again["calls"]


def test_an_epoch_is_cleared_only_if_it_is_the_one_observed(cycled: Told) -> None:
    """73, 74, 125, 143: nothing is written where a push came between."""
    for name in ("draft", "v2"):
        assert cycled[name]["clears"] == {
            "good clear": ("cleared", 3, -1),
            "wait-raced clear": ("lost_race", 3, 9),
            "wait-revived clear": ("cleared", 3, -1),
            "wait-gone clear": ("group_gone", 3, None),
        }
        found = cycled[name]["epochs"]
        assert (found["good"], found["wait-raced"], found["wait-gone"]) == (-1, 9, 3)
        assert (found["fail-once"], found["perm"], found["hang"]) == (3, 3, 3)


def test_with_a_barrier_every_delete_is_settled_from_minus_two(cycled: Told) -> None:
    """80, 140: a failed delete stays at -2, a push that came between becomes -2."""
    told = cycled["barrier"]
    assert {step for step in told["clears"] if step.endswith("barrier")} == {
        f"{group} barrier" for group in GROUPS
    }
    assert told["clears"]["good barrier"] == ("marked_uncertain", 3, -2)
    assert told["clears"]["good finalise"] == ("cleared", 3, -1)
    assert told["clears"]["wait-raced finalise"] == ("lost_race", 3, -2)
    assert told["clears"]["wait-gone finalise"] == ("group_gone", 3, None)
    found = told["epochs"]
    assert (found["good"], found["wait-raced"]) == (-1, -2)
    assert (found["fail-once"], found["perm"], found["hang"]) == (-2, -2, -2)


def test_a_group_at_minus_two_gets_no_second_barrier(cycled: Told) -> None:
    """DIFFERENCES.md A2."""
    again = cycled["barrier again"]["clears"]
    assert again == {
        "fail-once finalise": ("cleared", -2, -1),
        "wait-raced finalise": ("cleared", -2, -1),
    }


def test_the_counts_tell_what_was_done(cycled: Told) -> None:
    counts = cycled["draft"]["run"].counts
    assert counts["eligible"] == 7
    assert counts["deletes_success"] == 4
    assert [counts[name] for name in FAILURES] == [1, 1, 1]
    assert (counts["cleared"], counts["lost_race"], counts["group_gone"]) == (2, 1, 1)


def test_a_call_that_hangs_holds_nothing(cycled: Told) -> None:
    run = cycled["draft"]["run"]
    took = rows(
        cycled["session"],
        "select max(finished_at_ms) - min(started_at_ms) from history.plugin_calls "
        f"where run_id = '{run.run_id}'",
    )[0][0]
    assert took < 2 * 8_000, "one time-out, not one for each group behind it"


def test_a_group_that_was_revived_drops_out_at_the_barrier(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """100, 142: what changed between the decision and the barrier is not asked of the plugin."""
    groups = ("gone", "revived", "unstored", "stays", "classic")
    session = with_clusters(session, {"dropped": moldau_yml(tmp_path, "kafka_4_4")})
    fold_records(session, {"dropped": log_of(groups).records})

    def another_writer(point: str) -> None:
        if point == "after_decide":
            for group, change in (
                ("gone", "group_state = 'DEAD', is_deleted = true"),
                ("revived", "group_state = 'STABLE'"),
                ("unstored", "stored_description_topology_epoch = -1"),
                ("classic", "group_type = 'classic'"),
            ):
                session.spark.sql(
                    f"update state.groups set {change} "
                    f"where cluster_id = 'dropped' and group_id = '{group}'"
                )

    monkeypatch.setattr("moldau.runs.decide.die_at", another_writer)
    run = decide(session, "cycle", ["dropped"], AT_MS, is_dry_run=False)
    assert set(calls(session, "dropped", run.run_id)) == {"stays"}
    assert clears(session, "dropped", run.run_id) == {
        "stays barrier": ("marked_uncertain", 3, -2),
        "stays finalise": ("cleared", 3, -1),
        "gone barrier": ("group_gone", 3, None),
        "revived barrier": ("lost_race", 3, 3),
        "unstored barrier": ("nothing_stored", 3, -1),
        "classic barrier": ("not_streams", 3, 3),
    }
    assert epochs(session, "dropped")["revived"] == 3


def test_nothing_at_all_without_a_plugin_or_in_a_dry_run_or_for_the_broker(
    session: Session, tmp_path: Path
) -> None:
    """124, 127."""
    clusters = {
        "no plugin": "{authority: moldau}",
        "dry": moldau_yml(tmp_path, "kafka_4_4"),
        "by the broker": "{group.streams.topology.description.plugin.class: Plugin}",
    }
    session = with_clusters(session, clusters)
    fold_records(session, {name: log_of(("g",)).records for name in clusters})
    counts = {
        name: decide(session, "cycle", [name], AT_MS, is_dry_run=name == "dry").counts
        for name in clusters
    }
    assert counts["no plugin"] == {"decided": 1, "not_eligible": 1}
    assert counts["dry"] == counts["by the broker"] == {"decided": 1, "eligible": 1}
    for name in clusters:
        assert epochs(session, name) == {"g": 3}
        where = f"where cluster_id = {literal(name)}"
        for table in ("plugin_calls", "epoch_clears"):
            assert rows(session, f"select count(*) from history.{table} {where}") == [(0,)]


def test_records_leave_epochs_alone_that_moldau_has_written(
    session: Session, tmp_path: Path
) -> None:
    """Until the group is tombstoned; the broker's own log still says 3."""
    session = with_clusters(session, {"owned": moldau_yml(tmp_path, "kip_1331_draft")})
    log = log_of(("kept", "reborn"))
    fold_records(session, {"owned": log.records})
    decide(session, "cycle", ["owned"], AT_MS, is_dry_run=False)
    assert epochs(session, "owned") == {"kept": -1, "reborn": -1}
    log.streams("kept", stored=3, epoch=4)
    log.add(log.group_key("reborn"), None)
    log.streams("reborn", stored=5)
    fold_records(session, {"owned": log.records[2:]})
    assert epochs(session, "owned") == {"kept": -1, "reborn": 5}
