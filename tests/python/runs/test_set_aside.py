"""What cannot be finished, or was noted by another version, holds up nothing else."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from log_support import Log
from spark_support import Killed, change, dying_at, fresh, rows, with_clusters

from moldau.cli import moldau
from moldau.compiled.dbt import DbtError
from moldau.errors import MoldauError
from moldau.reading.health.status import read_status
from moldau.runs.again import drop, retry
from moldau.runs.decide import decide
from moldau.runs.idle import read_notes
from moldau.runs.load import load
from moldau.runs.resume import finish_interrupted
from moldau.sessions.brought import Brought
from moldau.sessions.journal import OF_A_LOAD, journal_of, note, read, run_of, staged_folder
from moldau.sessions.open_run import next_run_id
from moldau.sessions.run import Run
from moldau.sessions.session import Session
from moldau.warehouse.aside import read_aside, set_aside
from moldau.warehouse.damage import open_table
from moldau.warehouse.notes import write_note
from moldau.warehouse.paths import IDLE, RUNS

AT_MS = 1_800_000_000_000


@pytest.fixture
def aside(session: Session) -> Iterator[Session]:
    """The session, of which nothing is set aside after the test."""
    yield with_clusters(session, {"aside": "{}"})
    shutil.rmtree(session.warehouse / "_moldau" / "aside", ignore_errors=True)
    session.set_aside.clear()


@pytest.fixture
def unfoldable(aside: Session) -> Iterator[None]:
    """A check of this name, which no fold of the group `no` can pass."""
    groups = aside.warehouse / "state" / "groups"
    open_table(groups).alter.add_constraint({"unfoldable": "group_id <> 'no'"})
    yield
    open_table(groups).alter.drop_constraint("unfoldable", raise_if_not_exists=False)
    change(aside, "delete from state.groups where group_id = 'no'")


def file_of(folder: Path, log: Log) -> Path:
    file = folder / "records.jsonl"
    file.write_text("".join(json.dumps(record.as_line()) + "\n" for record in log.records))
    return file


def failing_load(session: Session, folder: Path, partition: int) -> str:
    """A load of the group `no`, tried twice; gives its run_id."""
    log = Log(partition)
    log.streams("no", stored=3)
    log.commit("no")
    with pytest.raises(DbtError, match=r"fold_groups: .* 1 rows failed validation check"):
        load(session, [file_of(folder, log)], "aside", "records")
    finish_interrupted(session)
    return session.set_aside.pop().run_id


def said(session: Session, *words: str) -> str:
    answer = CliRunner().invoke(moldau, [*words, "--warehouse", str(session.warehouse)])
    return answer.output


@pytest.mark.usefixtures("unfoldable")
def test_a_load_that_cannot_be_finished_is_set_aside_until_somebody_decides(
    aside: Session, tmp_path: Path
) -> None:
    run_id = failing_load(aside, tmp_path, partition=1)
    [entry] = read_aside(aside.warehouse)
    assert (entry.run_id, "1 rows failed validation check" in entry.reason) == (run_id, True)
    for verb in ("status", "doctor"):
        assert f"`moldau load --retry {run_id}` or `--drop {run_id}`" in said(aside, verb)
    of_run = f"from state.runs where run_id = '{run_id}'"
    told = [(["aside"], "failed", None)]
    assert rows(aside, f"select cluster_ids, status, decided_at_ms {of_run}") == told
    # all else goes on, and the records can be loaded as if they had never come
    raw = f"select count(*) from raw.records where run_id = '{run_id}'"
    assert rows(aside, raw) == [(0,)]
    other = Log(2)
    other.streams("yes", stored=4)
    assert load(aside, [file_of(tmp_path, other)], "aside", "records").run_id > run_id
    assert decide(aside, "cycle", ["aside"], AT_MS, is_dry_run=True).counts["decided"] == 1
    with pytest.raises(MoldauError, match=r"cannot be finished now either .* failed validation"):
        retry(aside, run_id)
    [entry] = read_aside(aside.warehouse)
    assert entry.run_id > run_id
    open_table(aside.warehouse / "state" / "groups").alter.drop_constraint("unfoldable")
    finished = retry(aside, entry.run_id)
    assert (finished.rows_new, finished.rows_already_there) == (2, 0)
    assert read_aside(aside.warehouse) == [] == read_status(aside.warehouse).set_aside
    stored = "select group_id, stored_description_topology_epoch from state.groups"
    expected = [("no", 3), ("yes", 4)]
    assert rows(aside, f"{stored} where cluster_id = 'aside' order by 1") == expected
    for table in ("raw.records", "decoded.group_records"):
        count = f"select count(*), count(distinct run_id) from {table} where cluster_id = 'aside'"
        assert rows(aside, count) == [(3, 2)]
    # what it brought is newer than the last decision, though the load itself was older
    assert decide(aside, "cycle", ["aside"], AT_MS, is_dry_run=True).counts["decided"] == 1


@pytest.mark.usefixtures("unfoldable")
def test_what_is_dropped_can_be_loaded_again(aside: Session, tmp_path: Path) -> None:
    run_id = failing_load(aside, tmp_path, partition=3)
    with pytest.raises(MoldauError, match=rf"'7' is not set aside: {run_id}"):
        drop(aside, "7")
    drop(aside, run_id)
    assert read_aside(aside.warehouse) == []
    open_table(aside.warehouse / "state" / "groups").alter.drop_constraint("unfoldable")
    again = load(aside, [tmp_path / "records.jsonl"], "aside", "records")
    assert (again.rows_new, again.rows_already_there) == (2, 0)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "it is empty or not JSON"),
        ("[]", "it is no JSON object"),
        ('{"version": 2}', "it has version 2, and this moldau writes 1"),
        ('{"run_id": "x", "kind": "cycle", "cluster_ids": [], "at_ms": 0, "moon": 1}', "moon: "),
        ('{"run_id": 7, "kind": "cycle", "cluster_ids": [], "at_ms": 0}', "run_id: "),
        ('{"run_id": "x", "kind": "cycle", "cluster_ids": [""], "at_ms": 0}', "cluster_ids.0: "),
    ],
)
def test_a_note_that_is_not_understood_stops_nobody(
    aside: Session, content: str, reason: str
) -> None:
    journal = aside.warehouse / RUNS / "00000000-cycle.json"
    load = aside.warehouse / RUNS / "00000000-load.json"
    idle = aside.warehouse / IDLE / "cycle.json"
    for file in (journal, load, idle):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
    assert read_notes(aside.warehouse, "cycle").clusters == {}
    finish_interrupted(aside)
    aside.set_aside.clear()
    found = read_aside(aside.warehouse)
    assert [entry.run_id for entry in found] == ["00000000-cycle", "00000000-load"]
    assert found[0].reason.startswith(reason)
    assert "the next cycle decides anew" in said(aside, "status")
    with pytest.raises(MoldauError, match="the next cycle decides anew"):
        retry(aside, "00000000-cycle")
    with pytest.raises(MoldauError, match="drop it and load its files again"):
        retry(aside, "00000000-load")
    for entry in found:
        drop(aside, entry.run_id)
    change(aside, "delete from state.runs where run_id < '00000001'")


def test_what_no_command_named_is_set_aside_without_a_number(aside: Session) -> None:
    stray = aside.warehouse / RUNS / "._00000007-cycle.json"
    stray.write_text("")
    before = next_run_id(aside, "cycle")
    finish_interrupted(aside)
    assert [entry.run_id for entry in read_aside(aside.warehouse)] == ["._00000007-cycle"]
    assert next_run_id(aside, "cycle") == before
    stray.write_text("")
    finish_interrupted(aside)
    for name in ("._00000007-cycle", "._00000007-cycle+"):
        drop(aside, name)
    assert read_aside(aside.warehouse) == []


@pytest.mark.parametrize("is_of_0_1", [False, True])
def test_a_staged_load_without_its_rows_is_set_aside(aside: Session, is_of_0_1: bool) -> None:
    run_id = next_run_id(aside, "load")
    brought = Brought(run_id, "records", "aside", rows=1)
    if is_of_0_1:
        write_note(staged_folder(aside.warehouse, run_id) / OF_A_LOAD, brought)
    else:
        note(aside.warehouse, run_of(brought))
    finish_interrupted(aside)
    assert [entry.run_id for entry in read_aside(aside.warehouse)] == [run_id]


def staged_rows(session: Session) -> list[Path]:
    return list((session.warehouse / "_moldau" / "loads").rglob("*.parquet"))


@pytest.mark.usefixtures("unfoldable")
def test_a_retry_that_dies_before_the_load_is_its_own_loses_nothing(
    aside: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = failing_load(aside, tmp_path, partition=4)

    def die(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr("moldau.runs.again.os.rename", die)
        retry(fresh(aside), run_id)
    finish_interrupted(fresh(aside))
    assert run_id in [entry.run_id for entry in read_aside(aside.warehouse)]
    open_table(aside.warehouse / "state" / "groups").alter.drop_constraint("unfoldable")
    assert retry(fresh(aside), run_id).rows_new == 2


@pytest.mark.usefixtures("unfoldable")
def test_a_load_that_moldau_0_1_set_aside_is_tried_again_whoever_dies(
    aside: Session, tmp_path: Path
) -> None:
    run_id = failing_load(aside, tmp_path, partition=5)
    [entry] = read_aside(aside.warehouse)
    brought = read(entry.moved).brought
    entry.moved.unlink()
    entry.staged.rename(entry.moved)
    write_note(entry.moved / OF_A_LOAD, brought)
    open_table(aside.warehouse / "state" / "groups").alter.drop_constraint("unfoldable")
    with dying_at("before_run_row"):
        retry(fresh(aside), run_id)
    finish_interrupted(fresh(aside))
    assert read_aside(aside.warehouse) == []
    assert staged_rows(aside) == [] == list((aside.warehouse / RUNS).iterdir())
    loaded = "select count(*) from raw.records where cluster_id = 'aside' and partition_index = 5"
    assert rows(aside, loaded) == [(2,)]


def test_a_copy_of_a_journal_holds_up_nobody(aside: Session) -> None:
    run = Run(next_run_id(aside, "cycle"), "cycle", ["aside"], AT_MS)
    note(aside.warehouse, run)
    journal_of(aside.warehouse, run.run_id).rename(aside.warehouse / RUNS / "copy.json")
    finish_interrupted(aside)
    [entry] = read_aside(aside.warehouse)
    assert (entry.run_id, entry.reason) == ("copy", f"it is of {run.run_id}")


def test_the_reason_that_was_told_first_stays(
    aside: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = journal_of(aside.warehouse, "00000000-load")
    journal.write_text("{}")
    staged_folder(aside.warehouse, "00000000-load").mkdir()
    rename = os.rename

    def die(source: Path, target: Path) -> None:
        if source == journal:
            raise Killed
        rename(source, target)

    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr("moldau.warehouse.aside.os.rename", die)
        set_aside(aside.warehouse, journal, "why it was")
    set_aside(aside.warehouse, journal, "its staged rows are gone")
    assert [entry.reason for entry in read_aside(aside.warehouse)] == ["why it was"]
