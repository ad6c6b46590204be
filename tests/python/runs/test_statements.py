"""How many Delta writes and statements each verb costs: they are what a run waits for.

Those of the dry runs and of a load are counted in `test_engines_alike.py`, for both engines.
"""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from encode import encode_key, encode_value
from log_support import Log
from spark_support import commits, fold_records, in_spark, rows, statements, with_clusters, writes

from moldau.compiled.graph import helpers_under, models, models_tagged
from moldau.project import SAMPLES
from moldau.runs.decide import decide
from moldau.runs.in_dbt import looked_at
from moldau.runs.load import load
from moldau.sessions.session import Engines, Session

AT_MS = 1_800_000_000_000
DAY_MS = 86_400_000
OF_A_CYCLE = {
    "decisions.cleanup_eligibility": 1,
    "history.plugin_calls": 1,
    "state.groups": 1,
    "history.epoch_clears": 1,
    "history.decision_changes": 1,
    "state.runs": 1,
}


@pytest.fixture(scope="module")
def clusters(session: Session, tmp_path_factory: pytest.TempPathFactory) -> Session:
    """Two clusters that record their settings with the first run: one row of state more."""
    folder = tmp_path_factory.mktemp("descriptions")
    plugin = f"authority: moldau, plugin: {{name: directory, path: {folder}}}"
    session = with_clusters(
        session,
        {
            "costs of the draft": f"{{{plugin}}}",
            "costs of 4.4": f"{{{plugin}, ruleset: {{groups: kafka_4_4}}}}",
        },
    )
    log = Log()
    log.streams("eligible", stored=3)
    log.streams("eligible too", stored=5)
    log.streams("never pushed")
    log.commit("never pushed", at_ms=AT_MS - 30 * DAY_MS)
    fold_records(session, {name: log.records for name in session.settings.clusters})
    return session


def test_a_cycle_of_the_draft_writes_six_times(clusters: Session) -> None:
    """Case 139: one write clears every group."""
    assert writes(clusters, "cycle", "costs of the draft", AT_MS) == OF_A_CYCLE


def test_calls_are_made_in_slices_of_a_thousand(session: Session, tmp_path: Path) -> None:
    plugin = f"authority: moldau, plugin: {{name: directory, path: {tmp_path}}}"
    session = with_clusters(session, {"costs of many": f"{{{plugin}}}"})
    log = Log()
    for number in range(1_001):
        log.streams(f"g{number}", stored=3)
    fold_records(session, {"costs of many": log.records})
    told = writes(session, "cycle", "costs of many", AT_MS)
    assert told == OF_A_CYCLE | {"history.plugin_calls": 2}
    made = "select count(*), count(distinct group_id) from history.plugin_calls"
    assert rows(session, f"{made} where cluster_id = 'costs of many'") == [(1_001, 1_001)]


def test_a_cycle_of_kafka_4_4_writes_seven_times(clusters: Session) -> None:
    told = writes(clusters, "cycle", "costs of 4.4", AT_MS)
    assert told == OF_A_CYCLE | {"state.groups": 2}, "the barrier, and what comes after the calls"


def test_a_sweep_writes_seven_times(clusters: Session) -> None:
    assert writes(clusters, "sweep", "costs of the draft", AT_MS) == {
        "decisions.offset_expirations": 1,
        "decisions.group_sweeps": 1,
        "state.group_offsets": 1,
        "state.groups": 1,
        "history.tombstones": 1,
        "history.decision_changes": 1,
        "state.runs": 1,
    }


def test_a_run_that_finds_nothing_due_writes_its_row(clusters: Session) -> None:
    decide(clusters, "cycle", ["costs of the draft"], AT_MS + 1, is_dry_run=False)
    before = cycles_counted(clusters)
    told = writes(clusters, "cycle", "costs of the draft", AT_MS + 2)
    assert told == {"state.runs": 1}
    assert cycles_counted(clusters) == before + 1, "case 127: also when nothing is eligible"


def test_a_run_of_tiers_makes_few_models() -> None:
    made = {
        model.name for stage in ("decide", "apply") for model in models_tagged(f"{stage}_tiers")
    }
    assert len(made | helpers_under(made).keys()) <= 45


def test_a_whole_run_by_dbt_makes_what_it_reads() -> None:
    """Its selector takes what other runs made before its barriers, too: 56 views and lists."""
    read = set(looked_at("cycle"))
    tagged = [*models_tagged("decide_cycle"), *models_tagged("apply_cycle")]
    assert {model.key for model in tagged} <= read
    assert (
        len([model for model in models().values() if model.is_helper and model.key in read]) <= 26
    )


def test_requests_cost_as_many_statements_for_one_as_for_many(
    session: Session, tmp_path: Path
) -> None:
    """Under kafka_4_4, too, where the barrier goes before the calls."""
    plugin = f"authority: moldau, plugin: {{name: directory, path: {tmp_path}}}"
    cluster = "costs of requests"
    session = with_clusters(session, {cluster: f"{{{plugin}, ruleset: {{groups: kafka_4_4}}}}"})
    log = Log()
    for number in range(20):
        log.streams(f"g{number}")
        log.member(f"g{number}", "m", 19)
        key = encode_key("consumer_offsets", 23, {"groupId": f"g{number}"})
        log.add(key, encode_value("consumer_offsets", 23, 0, {"epoch": 3}))
    fold_records(session, {cluster: log.records})
    told = []
    for turn, groups in enumerate((1, 1, 20)):  # the first run makes its views
        for kind, more in (
            ("heartbeats", {"request_version": 1, "member_epoch": 1, "response_error": "NONE"}),
            ("topology_pushes", {"topology_epoch": 3, "topology_description": {}}),
        ):
            lines = [
                {
                    "request_id": f"{turn} {number} {place}", "group_id": f"g{number}",
                    "member_id": "m", "received_at_ms": place, "status_codes": None,
                } | more
                for number in range(groups) for place in range(groups)
            ]  # fmt: skip
            file = tmp_path / f"{turn}.jsonl"
            file.write_text("".join(json.dumps(line) + "\n" for line in lines))
            load(session, [file], cluster, kind)
        with statements() as given:
            counts = decide(session, "requests", [cluster], AT_MS, is_dry_run=False).counts
        assert counts["sets_success"] == groups**2
        told.append(len(given))
    assert told[2] == told[1], told


def test_a_load_that_changes_no_state_writes_its_rows_without_spark(
    session: Session, tmp_path: Path
) -> None:
    """Records that are there already, and those of a topic that nothing folds."""
    group_records = SAMPLES / "west" / "__consumer_offsets.later.jsonl"
    heartbeats = tmp_path / "heartbeats.jsonl"
    place = {"topic": "heartbeats", "partition": 0, "offset": 0, "timestamp_ms": AT_MS}
    heartbeats.write_text(json.dumps(place | {"key_base64": "AA==", "value_base64": None}))
    load(session, [group_records], "brought twice", "records")
    before = commits(session.warehouse)
    engines = Engines(session.warehouse, lambda: pytest.fail("Spark was started"))
    apart = in_spark(dataclasses.replace(session, engines=engines))
    assert load(apart, [group_records], "brought twice", "records").rows_new == 0
    assert commits(session.warehouse) - before == 1
    assert load(apart, [heartbeats], "brought twice", "records").rows_new > 0
    assert commits(session.warehouse) - before == 4, "raw, decoded, its row"


def cycles_counted(session: Session) -> float:
    [(counted,)] = rows(
        session,
        "select value from marts.metrics where cluster_id = 'costs of the draft' "
        "and metric_name = 'streams-group-topology-description-cleanup-cycle-count'",
    )
    return float(counted)
