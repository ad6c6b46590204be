"""Runs in which nothing can have changed, told without Spark; and everything that forbids it."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from log_support import Log
from spark_support import dicts, fold_records, rows, with_clusters

from moldau.reading.tables.publish import PUBLISHED
from moldau.runs.decide import decide
from moldau.runs.idle import idle_run, read_notes
from moldau.sessions.run import Run
from moldau.sessions.session import Session
from moldau.warehouse.damage import open_table
from moldau.warehouse.durable import write_durably
from moldau.warehouse.paths import RUNS, SEEDED

AT_MS = 1_800_000_000_000
DAY_MS = 86_400_000
YOUNG, WAITING = "idle young", "idle waiting"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("idle")


@pytest.fixture(scope="module")
def quiet(session: Session, folder: Path) -> Session:
    """One cluster whose offset comes due in a day, another that has an eligible group."""
    plugin = f"authority: moldau, plugin: {{name: directory, path: {folder}}}"
    session = with_clusters(session, {YOUNG: f"{{{plugin}}}", WAITING: f"{{{plugin}}}"})
    young, waiting = Log(), Log()
    young.streams("g", stored=3)
    young.commit("g", at_ms=AT_MS - 6 * DAY_MS)
    waiting.streams("g", stored=3)
    fold_records(session, {YOUNG: young.records, WAITING: waiting.records})
    for kind in ("sweep", "cycle", "sweep"):  # each rests on what the other has decided, too
        decide(session, kind, [YOUNG, WAITING], AT_MS, is_dry_run=True)
    return session


def idle(
    session: Session, kind: str = "cycle", clusters: Sequence[str] = (YOUNG,), at_ms: int = AT_MS
) -> Run | None:
    return idle_run(session.settings, kind, clusters, at_ms, is_dry_run=False)


@pytest.mark.parametrize(
    ("kind", "counts"),
    [
        ("cycle", {"not_eligible": 1, "decided": 0}),
        ("sweep", {"offsets_keep": 1, "keep": 1, "decided": 0}),
    ],
)
def test_the_row_of_an_idle_run(quiet: Session, kind: str, counts: dict[str, int]) -> None:
    [(last,)] = rows(quiet, "select max(run_id) from state.runs")
    run = idle(quiet, kind, at_ms=AT_MS + 1)
    assert run is not None
    assert int(run.run_id[:8]) == int(last[:8]) + 1
    [told] = dicts(quiet, f"select * from state.runs where run_id = '{run.run_id}'")
    told["counts"] = dict(told["counts"])
    assert dict(told.pop("table_versions"))["state.groups"] > 0
    assert told.pop("started_at_ms") <= told.pop("finished_at_ms")
    assert told == {
        "run_id": f"{run.run_id[:8]}-{kind}",
        "kind": kind,
        "cluster_ids": [YOUNG],
        "status": "succeeded",
        "is_dry_run": False,
        "decided_at_ms": AT_MS + 1,
        "counts": counts,
        "engine": None,
    }


def test_an_idle_run_publishes_with_its_clock(quiet: Session) -> None:
    told = quiet.settings.model_copy(update={"publish": ["groups"]})
    assert idle_run(told, "cycle", [YOUNG], AT_MS + 1, is_dry_run=False)
    published = quiet.warehouse / PUBLISHED / "groups"
    before = open_table(published).version()
    assert idle_run(told, "cycle", [YOUNG], AT_MS + 2, is_dry_run=False)
    assert open_table(published).version() == before + 1


@pytest.mark.parametrize(("at_ms", "is_idle"), [
    (AT_MS - 1, False),  # decisions that were made later do not hold
    (AT_MS + DAY_MS - 1, True),
    (AT_MS + DAY_MS, False),  # the offset expires
])  # fmt: skip
def test_a_run_is_idle_until_a_decision_comes_due(
    quiet: Session, at_ms: int, is_idle: bool
) -> None:
    for kind in ("cycle", "sweep"):
        assert (idle(quiet, kind, at_ms=at_ms) is not None) == is_idle


def test_a_cluster_with_something_to_apply_is_never_idle(quiet: Session) -> None:
    assert idle(quiet, clusters=[WAITING]) is None
    assert idle(quiet, clusters=[YOUNG, WAITING]) is None


def test_without_a_name_every_known_cluster_counts(quiet: Session) -> None:
    notes = read_notes(quiet.warehouse, "cycle")
    assert {YOUNG, WAITING} <= set(notes.known)
    assert WAITING not in notes.clusters
    assert idle(quiet, clusters=[]) is None


def test_other_settings(quiet: Session) -> None:
    other = with_clusters(quiet, {YOUNG: "{offsets.retention.minutes: 5}"})
    assert idle(other) is None


def _journal(session: Session) -> None:
    write_durably(session.warehouse / RUNS / "00000001-cycle.json", "{}")


def _other_seeds(session: Session) -> None:
    (session.warehouse / SEEDED).write_text("what an older moldau has loaded")


def _lost_file(session: Session) -> None:
    for file in (session.warehouse / "state" / "groups").glob("*.parquet"):
        file.rename(file.with_suffix(".lost"))


def _torn_commit(session: Session) -> None:
    log = session.warehouse / "state" / "group_offsets" / "_delta_log"
    (log / f"{len(list(log.glob('*.json'))):020d}.json").write_text('{"add": ')


@pytest.mark.parametrize("harm", [_journal, _other_seeds, _lost_file, _torn_commit])
def test_what_a_session_would_mend_or_refuse(
    quiet: Session, harm: Callable[[Session], None], tmp_path: Path
) -> None:
    """On a copy: the session's own warehouse stays whole."""
    copy = tmp_path / "w"
    shutil.copytree(quiet.warehouse, copy, ignore=shutil.ignore_patterns("run", "dbt"))
    settings = quiet.settings.model_copy(update={"warehouse": copy})
    session = dataclasses.replace(quiet, warehouse=copy, settings=settings)
    assert idle(session) is not None
    harm(session)
    assert idle(session) is None


def test_a_fault_is_not_passed_by(quiet: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOLDAU_FAIL_AT", "after_decide")
    assert idle(quiet) is None


def test_any_change_of_what_was_read(quiet: Session) -> None:
    """The last of the module: from here on nothing is idle."""
    log = Log()
    log.streams("another", stored=-1)
    fold_records(quiet, {"idle elsewhere": log.records})
    assert idle(quiet) is None
    decide(quiet, "cycle", [YOUNG], AT_MS, is_dry_run=False)
    assert idle(quiet) is not None
