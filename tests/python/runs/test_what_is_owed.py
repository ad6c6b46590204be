"""What a killed command or a lost table leaves for the next command to mend."""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict
from pathlib import Path

import pytest
from log_support import Log
from spark_support import fold_records, read_capture, rows, spark_of, with_clusters

from moldau.compiled.dbt import DbtError, dbt
from moldau.engines.spark.catalog import register
from moldau.runs.compare import compare
from moldau.runs.decide import decide
from moldau.runs.resume import finish_interrupted
from moldau.sessions.open_run import next_run_id
from moldau.sessions.session import Session
from moldau.warehouse.create import create
from moldau.warehouse.durable import write_durably
from moldau.warehouse.seeds import seed

pytestmark = pytest.mark.spark

AT_MS = 1_800_000_000_000


def test_a_run_that_wrote_its_row_is_not_closed_twice(session: Session) -> None:
    session = with_clusters(session, {"owed": "{}"})
    fold_records(session, {"owed": read_capture("cleanup-noplugin")})
    run = decide(session, "cycle", ["owed"], AT_MS, is_dry_run=True)
    journal = session.warehouse / "_moldau" / "runs" / f"{run.run_id}.json"
    write_durably(journal, json.dumps(asdict(run)))
    finish_interrupted(session)
    assert not journal.exists()
    of_run = f"from state.runs where run_id = '{run.run_id}'"
    assert rows(session, f"select count(*) {of_run}") == [(1,)]


class Killed(Exception):
    pass


def decide_until(monkeypatch: pytest.MonkeyPatch, where: str, session: Session, name: str) -> None:
    """A cycle of this cluster that is killed where it would call this function."""

    def die(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(where, die)
        decide(session, "cycle", [name], AT_MS, is_dry_run=False)


def test_decisions_that_a_killed_run_wrote_last_are_recorded_and_no_dbt_run_comes_between(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = with_clusters(session, {"interrupted": "{}"})
    log = Log()
    log.streams("g", stored=3)
    fold_records(session, {"interrupted": log.records})
    run_models = Session.run_models

    def run_without_the_last(session: Session, *names: str) -> None:
        run_models(session, *(name for name in names if name != "record_group_decision_changes"))

    with monkeypatch.context() as patch:  # before the journal tells of it
        patch.setattr(Session, "run_models", run_without_the_last)
        decide_until(monkeypatch, "moldau.runs.stages.count_decided", session, "interrupted")
    spark_of(session).sql("drop view if exists run.parameters")
    with pytest.raises(DbtError, match="has not ended in this warehouse"):
        dbt("run", "--select", "stg_run__slice", warehouse=session.warehouse)
    finish_interrupted(session)
    recorded = "from history.decision_changes where cluster_id = 'interrupted'"
    assert rows(session, f"select subject, reason_code {recorded}") == [("cleanup g", "NO_PLUGIN")]
    shown = "from marts.decisions where cluster_id = 'interrupted'"
    assert rows(session, f"select count(*) {shown}") == [(1,)]
    dbt("run", "--select", "stg_run__slice", warehouse=session.warehouse)


def test_a_killed_run_ends_under_the_rule_set_that_it_decided_under(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plugin = f"authority: moldau, plugin: {{name: directory, path: {tmp_path}}}"
    before = with_clusters(session, {"switched": f"{{{plugin}, ruleset: {{groups: kafka_4_4}}}}"})
    log = Log()
    log.streams("g", stored=3)
    fold_records(before, {"switched": log.records})
    decide_until(monkeypatch, "moldau.runs.stages.apply", before, "switched")
    finish_interrupted(with_clusters(session, {"switched": f"{{{plugin}}}"}))
    cleared = "select step, outcome from history.epoch_clears where cluster_id = "
    assert rows(session, f"{cleared} 'switched' order by step") == [
        ("barrier", "marked_uncertain"),
        ("finalise", "cleared"),
    ]


def test_a_compare_after_one_that_was_killed(session: Session) -> None:
    session = with_clusters(session, {"compared": "{}"})
    left = session.warehouse / "_moldau" / "compare" / next_run_id(session, "compare") / "a"
    left.mkdir(parents=True)
    (left / "part-0.parquet").write_bytes(b"half a file")
    run = compare(session, "groups", ("kip_1331_v1", "kafka_4_4"), ["compared"], AT_MS)
    assert run.run_id == left.parent.name
    in_force = "from state.settings where cluster_id = 'compared' and valid_to_ms is null"
    assert rows(session, f"select count(*) {in_force}") == [(1,)]
    assert rows(
        session, f"select counts['differences'] from state.runs where run_id = '{run.run_id}'"
    ) == [(run.counts["differences"],)]


def test_lost_seeds_are_filled_again(session: Session) -> None:
    name, count = "seeds.rule_sets", "select count(*) from seeds.rule_sets"
    before = rows(session, count)
    assert before != [(0,)]
    spark_of(session, name).sql(f"drop table {name}")
    shutil.rmtree(session.warehouse / name.replace(".", "/"))
    made = create(session.warehouse)
    assert [table.full_name for table in made] == [name]
    register(spark_of(session), session.warehouse, [name])
    seed(session.warehouse)
    assert rows(session, count) == before
