"""The clean-up cycle applied: calls, the conditional clear, the barrier; the case numbers are those
of the specification, sections 10.4 and 10.8.
"""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from log_support import Log
from spark_support import (
    change,
    dying_at,
    fold_records,
    rows,
    while_called,
    with_clusters,
)

from moldau.literals import literal
from moldau.runs.decide import decide
from moldau.runs.resume import finish_interrupted
from moldau.sessions.run import FAILURES, Run, failed_calls
from moldau.sessions.session import Session
from moldau.warehouse.paths import CALLS

AT_MS = 1_800_000_000_000
GROUPS = (
    "good",
    "fail-once",
    "perm",
    "hang",
    "wait-raced",
    "wait-revived",
    "wait-gone",
    "wait-classic",
)
Told = dict[str, Any]
RULE_SETS = {"draft": "kip_1331_draft", "v2": "kip_1331_v2", "barrier": "kafka_4_4"}


def moldau_yml(folder: Path, ruleset: str) -> str:
    plugin = f"{{name: scripted, folder: {folder}, failing: fail, timeout_seconds: 8}}"
    return f"{{authority: moldau, ruleset: {{groups: {ruleset}}}, plugin: {plugin}}}"


def log_of(groups: tuple[str, ...]) -> Log:
    """Empty streams groups without offsets, with a description stored at 3 and one refused at 2."""
    log = Log()
    for group in groups:
        log.streams(group, stored=3, failed=2)
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


@pytest.fixture(scope="module")
def cycled(session: Session, tmp_path_factory: pytest.TempPathFactory) -> Told:
    """One cycle over three clusters of the same groups, and another after the plugin healed."""
    folders = {name: tmp_path_factory.mktemp(name) for name in RULE_SETS}
    session = with_clusters(
        session, {name: moldau_yml(folders[name], RULE_SETS[name]) for name in RULE_SETS}
    )
    fold_records(session, {name: log_of(GROUPS).records for name in RULE_SETS})
    waiting = [f / g for f in folders.values() for g in GROUPS if g.startswith("wait")]
    thread = while_called(waiting, lambda: move(session))
    first = decide(session, "cycle", list(RULE_SETS), AT_MS, is_dry_run=False)
    thread.join(timeout=60)
    told: Told = {"session": session, "run": first}
    told |= {name: told_of(session, name, first) for name in RULE_SETS}
    for folder in folders.values():
        (folder / "healed").touch()
    second = decide(session, "cycle", list(RULE_SETS), AT_MS + 1, is_dry_run=False)
    told |= {f"{name} again": told_of(session, name, second) for name in RULE_SETS}
    return told


def told_of(session: Session, cluster: str, run: Run) -> Told:
    return {
        "calls": calls(session, cluster, run.run_id),
        "clears": clears(session, cluster, run.run_id),
        "epochs": epochs(session, cluster),
    }


def move(session: Session) -> None:
    """One is pushed to again, one joined, one deleted, one converted; in every cluster."""
    change(
        session,
        f"""
        update state.groups set
            stored_description_topology_epoch =
                if(group_id = 'wait-raced', 9, stored_description_topology_epoch),
            group_state = case group_id
                when 'wait-revived' then 'STABLE' when 'wait-gone' then 'DEAD' else group_state
            end,
            group_type = if(group_id = 'wait-classic', 'classic', group_type),
            is_deleted = group_id = 'wait-gone',
            deleted_by = if(group_id = 'wait-gone', 'broker', deleted_by)
        where cluster_id in {tuple(RULE_SETS)} and group_id like 'wait-%'
        """,
    )


def test_each_call_has_its_outcome_whatever_the_others_do(cycled: Told) -> None:
    """145: a call that hangs costs its time-out, a failed one is retried by the next cycle."""
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


def test_the_next_cycle_sees_what_another_writer_left(cycled: Told) -> None:
    """It left no run_id: the epoch is observed anew, and what is no streams group is not asked."""
    for name in ("draft", "v2"):
        again = cycled[f"{name} again"]
        assert again["clears"]["wait-raced clear"] == ("cleared", 9, -1)
        assert again["epochs"]["wait-raced"] == -1
    for name in RULE_SETS:
        assert not {"wait-gone", "wait-classic"} & set(cycled[f"{name} again"]["calls"])


def test_metrics_and_calls_are_shown(cycled: Told) -> None:
    """145: each cycle counts again what it finds."""
    prefix, session = "streams-group-topology-description-", cycled["session"]
    shown = "select metric_name, value from marts.metrics where metric_name like "
    counts = {
        name.removeprefix(prefix).removesuffix("-count"): value
        for name, value in rows(session, f"{shown} '%-count' and cluster_id = 'draft'")
    }
    asked = rows(
        session,
        "select outcome, count(*) from marts.plugin_calls where cluster_id = 'draft' "
        "group by outcome",
    )
    assert counts["cleanup-cycle"] == 2
    assert counts["cleanup-eligible"] == len(GROUPS) + 4  # three failed, one lost the race
    assert counts["delete-success"] == dict(asked)["success"] == 5 + 2
    assert counts["delete-error"] == 3 + 2  # one hangs again, one is refused again
    assert dict(asked) == {
        "success": 7, "permanent_failure": 2, "transient_failure": 1, "timeout": 2,
    }  # fmt: skip
    assert counts["set-success"] == counts["get-error"] == 0
    rates = rows(session, f"{shown} '%-rate' and cluster_id = 'draft' and value > 0")
    assert {name.removeprefix(prefix) for name, _ in rates} <= {
        "cleanup-cycle-rate", "cleanup-eligible-rate", "delete-success-rate", "delete-error-rate",
    }  # fmt: skip


def test_cycles_stay_counted_when_the_settings_change(cycled: Told) -> None:
    """Also those of before moldau was relieved; from then on no more are."""
    counted = (
        "select value from marts.metrics where cluster_id = 'draft' and metric_name = "
        "'streams-group-topology-description-cleanup-cycle-count'"
    )
    before = rows(cycled["session"], counted)
    relieved = with_clusters(cycled["session"], {"draft": "{authority: broker}"})
    decide(relieved, "cycle", ["draft"], AT_MS + 2, is_dry_run=False)
    assert rows(relieved, counted) == before == [(2,)]


def test_an_epoch_is_cleared_only_if_it_is_the_one_observed(cycled: Told) -> None:
    """74, 76, 125, 143: nothing is written where a push or a conversion came between."""
    for name in ("draft", "v2"):
        assert cycled[name]["clears"] == {
            "good clear": ("cleared", 3, -1),
            "wait-raced clear": ("lost_race", 3, 9),
            "wait-revived clear": ("cleared", 3, -1),
            "wait-gone clear": ("group_gone", 3, None),
            "wait-classic clear": ("not_streams", 3, 3),
        }
        found = cycled[name]["epochs"]
        assert found["wait-classic"] == 3
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
    assert told["clears"]["wait-classic finalise"] == ("not_streams", 3, -2)
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
    counts = cycled["run"].counts
    assert counts["eligible"] == 3 * len(GROUPS)
    assert counts["deletes_success"] == 3 * 5
    assert [counts[name] for name in FAILURES if name in counts] == [3, 3, 3]
    assert (counts["cleared"], counts["lost_race"], counts["group_gone"]) == (3 * 2, 3, 3)


def test_a_clear_leaves_all_else_as_it_was(cycled: Told) -> None:
    """73: the epoch that was refused stays."""
    session, names = cycled["session"], tuple(RULE_SETS)
    kept = "select distinct failed_description_topology_epoch from state.groups "
    assert rows(session, f"{kept} where cluster_id in {names} and group_id <> 'wait-gone'") == [
        (2,)
    ]
    written = f"from history.epoch_clears where run_id = '{cycled['run'].run_id}'"
    assert rows(session, f"select count(*) {written} and outcome = 'cleared'") == [(6,)]


def test_a_call_that_hangs_holds_nothing(cycled: Told) -> None:
    """Every other call of every cluster was made before the first that hangs was given up."""
    assert rows(
        cycled["session"],
        "select max(started_at_ms) < min(finished_at_ms) filter (where outcome = 'timeout') "
        f"from history.plugin_calls where run_id = '{cycled['run'].run_id}'",
    ) == [(True,)]


def test_a_group_that_was_revived_drops_out_at_the_barrier(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """100, 137: what changed between the decision and the barrier is not asked of the plugin, and
    a group that cannot be read holds up no other.
    """
    groups = ("gone", "revived", "unstored", "stays", "classic")
    session = with_clusters(session, {"dropped": moldau_yml(tmp_path, "kafka_4_4")})
    log = log_of(groups)
    log.add(log.group_key("unreadable"), b"\x00\x63")
    fold_records(session, {"dropped": log.records})

    def another_writer(point: str) -> None:
        if point == "after_decide":
            for group, changed in (
                ("gone", "group_state = 'DEAD', is_deleted = true"),
                ("revived", "group_state = 'STABLE'"),
                ("unstored", "stored_description_topology_epoch = -1"),
                ("classic", "group_type = 'classic'"),
            ):
                change(
                    session,
                    f"update state.groups set {changed} "
                    f"where cluster_id = 'dropped' and group_id = '{group}'",
                )

    monkeypatch.setattr("moldau.runs.stages.die_at", another_writer)
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


def test_a_plugin_that_ends_its_process_fails_what_was_under_way_and_stops_nothing(
    session: Session,
) -> None:
    """Its folder stands in a variable: the worker process reads it, and nobody else has."""
    folder = session.warehouse.parent / "ending"
    folder.mkdir()
    place = Path("${env:MOLDAU_WAREHOUSE}/../ending")
    yml = moldau_yml(place, "kafka_4_4").replace("timeout_seconds: 8", "timeout_seconds: 25")
    yml = yml.replace(f"{place}", f"'{place}'")
    clusters = {"ending": yml}
    session = with_clusters(session, clusters)
    fold_records(session, {"ending": log_of(("crash", "g1", "g2")).records})
    asked = folder / "calls.txt"

    def answered() -> int:
        journals = (session.warehouse / CALLS).rglob("*.jsonl")
        return sum(file.read_text().count('["ended"') for file in journals)

    def end() -> None:
        deadline = time.monotonic() + 60
        while answered() < 2 and time.monotonic() < deadline:
            time.sleep(0.05)
        (folder / "end").touch()

    thread = threading.Thread(target=end, daemon=True)
    thread.start()
    run = decide(session, "cycle", list(clusters), AT_MS, is_dry_run=False)
    thread.join()
    ended = "the plugin ended the process that called it (calls under way: 1)"
    assert calls(session, "ending", run.run_id) == {
        "crash": ("transient_failure", ended),
        "g1": ("success", None),
        "g2": ("success", None),
    }
    assert sorted(asked.read_text().split()) == ["g1", "g2"], "what was answered is not repeated"
    assert epochs(session, "ending") == {"crash": -2, "g1": -1, "g2": -1}
    assert failed_calls(run) == run.counts["deletes_transient_failure"] == 1
    assert (run.counts["deletes_success"], run.counts["cleared"]) == (2, 2)
    assert finish_interrupted(session) == []
    assert not (session.warehouse / CALLS).exists()
    again = decide(session, "cycle", list(clusters), AT_MS + 1, is_dry_run=False)
    assert calls(session, "ending", again.run_id) == {"crash": ("transient_failure", ended)}
    [(stored,)] = rows(session, "select settings from state.settings where cluster_id = 'ending'")
    assert json.loads(stored)["plugin"] == {
        "name": "scripted",
        "folder": "${env:MOLDAU_WAREHOUSE}***",
        "failing": "***",
        "timeout_seconds": 25,
    }


def test_an_authority_that_was_withdrawn_between_call_and_clear_is_respected(
    session: Session, tmp_path: Path
) -> None:
    yml = moldau_yml(tmp_path, "kip_1331_draft")
    before = with_clusters(session, {"withdrawn": yml, "kept on": yml})
    fold_records(before, {name: log_of(("g",)).records for name in ("withdrawn", "kept on")})
    with dying_at("after_call"):
        decide(before, "cycle", ["withdrawn", "kept on"], AT_MS, is_dry_run=False)
    after = with_clusters(session, {"withdrawn": "{authority: broker}", "kept on": yml})
    [run] = finish_interrupted(after)
    assert run.counts["cleared"] == 1
    assert (epochs(session, "withdrawn"), epochs(session, "kept on")) == ({"g": 3}, {"g": -1})


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
    dry = decide(session, "cycle", ["dry"], AT_MS, is_dry_run=True)
    others = decide(session, "cycle", ["no plugin", "by the broker"], AT_MS, is_dry_run=False)
    assert dry.counts == {"decided": 1, "eligible": 1}
    assert others.counts == {"decided": 2, "eligible": 1, "not_eligible": 1}
    for name in clusters:
        assert epochs(session, name) == {"g": 3}
        where = f"where cluster_id = {literal(name)}"
        for table in ("plugin_calls", "epoch_clears"):
            assert rows(session, f"select count(*) from history.{table} {where}") == [(0,)]


@pytest.fixture(scope="module")
def written(session: Session, tmp_path_factory: pytest.TempPathFactory) -> Told:
    """Epochs of two clusters after their cycle, and after what was loaded behind it."""
    yml = moldau_yml(tmp_path_factory.mktemp("written"), "kip_1331_draft")
    session = with_clusters(session, {"owned": yml, "late": yml})
    owned, late = log_of(("kept", "reborn")), Log()
    late.add(late.group_key("g"), None)
    late.streams("g", stored=3)
    fold_records(session, {"owned": owned.records, "late": late.records[1:]})
    decide(session, "cycle", ["owned", "late"], AT_MS, is_dry_run=False)
    told = {name: [epochs(session, name)] for name in ("owned", "late")}
    owned.streams("kept", stored=3, epoch=4)
    owned.add(owned.group_key("reborn"), None)
    owned.streams("reborn", stored=5)
    fold_records(session, {"owned": owned.records[2:], "late": late.records[:1]})
    return {name: [*before, epochs(session, name)] for name, before in told.items()}


def test_records_leave_epochs_alone_that_moldau_has_written(written: Told) -> None:
    """Until the group is tombstoned; the broker's own log still says 3."""
    assert written["owned"] == [{"kept": -1, "reborn": -1}, {"kept": -1, "reborn": 5}]


def test_a_tombstone_of_an_earlier_life_that_is_loaded_late_changes_nothing(written: Told) -> None:
    assert written["late"] == [{"g": -1}, {"g": -1}]
