"""Small files of tables that only grow are joined: same rows, few files, whoever reads or dies."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner
from deltalake import DeltaTable, QueryBuilder
from deltalake.exceptions import DeltaError

from moldau.cli import moldau
from moldau.engines.duckdb.delta_views import create_view, open_duckdb
from moldau.errors import MoldauError
from moldau.sessions.run import Run
from moldau.sessions.run_rows import append_rows
from moldau.settings import load_settings
from moldau.settings.maintain import Maintain
from moldau.warehouse import commit, upkeep
from moldau.warehouse.append import append
from moldau.warehouse.ask import ask_rows
from moldau.warehouse.create import create
from moldau.warehouse.damage import data_files, find_log_damage, open_table
from moldau.warehouse.delta_log import write_commit
from moldau.warehouse.files import FILE_BYTES
from moldau.warehouse.left import find_lost
from moldau.warehouse.paths import REFUSED
from moldau.warehouse.upkeep import MANY, SELDOM, join_small_files, maintain
from moldau.warehouse.verify import has_checksums

CHECKPOINTS = 50  # commits between two
CALLS, SNAPSHOTS = "history.plugin_calls", "raw.local_segments"
RUNS = "state.runs"


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    create(tmp_path)
    return tmp_path


def folder_of(warehouse: Path, table: str) -> Path:
    return warehouse.joinpath(*table.split("."))


def add(warehouse: Path, table: str, number: int, size: int = 1) -> None:
    chance = random.Random(number)
    text = f"{chance.getrandbits(8 * size):x}"
    segment = {
        "base_offset": number, "size_bytes": 1, "max_timestamp_ms": -1, "is_active": False,
        "record_count": None,
    }  # fmt: skip
    row: dict[str, Any] = {
        CALLS: {
            "call_id": f"{number:04d}", "run_id": f"{number:08d}-cycle", "cluster_id": "c",
            "group_id": "g", "operation": "delete", "topology_epoch": number, "outcome": "success",
            "message": text, "started_at_ms": number, "finished_at_ms": number,
        },
        SNAPSHOTS: {
            "cluster_id": "c", "topic_id": text, "topic_name": "t", "partition_index": number,
            "broker_id": 1, "segments": [segment] * (number % 3), "run_id": f"{number:08d}-load",
        },
    }[table]  # fmt: skip
    schema = pa.schema(open_table(folder_of(warehouse, table)).schema().to_arrow())
    append(warehouse, table, pa.Table.from_pylist([row], schema).to_batches())


def rows_of(warehouse: Path, table: str) -> list[tuple[Any, ...]]:
    """By DuckDB, as a run reads it."""
    connection = open_duckdb([table.split(".")[0]])
    create_view(connection, warehouse, table)
    return connection.sql(f"select * from {table} order by all").fetchall()


@pytest.mark.parametrize("table", [CALLS, SNAPSHOTS])
def test_the_same_rows_are_in_one_file(warehouse: Path, table: str) -> None:
    for number in range(12):
        add(warehouse, table, number)
    before = rows_of(warehouse, table)
    assert len(before) == 12
    opened = open_table(folder_of(warehouse, table))
    assert join_small_files(opened) == 12
    latest = open_table(folder_of(warehouse, table))
    assert latest.version() == opened.version()
    [file] = data_files(latest)
    assert has_checksums(file)
    assert rows_of(warehouse, table) == before
    [last] = latest.history(1)
    told = (last["operation"], last["operationMetrics"])
    assert told == ("OPTIMIZE", {"numAddedFiles": "1", "numRemovedFiles": "12"})
    one = ask_rows(warehouse, table, "select count(*) from t where run_id like '00000007%'")
    assert one == [(1,)], "its statistics say what it holds"
    assert join_small_files(latest) == 0


def test_full_files_stay(warehouse: Path) -> None:
    add(warehouse, CALLS, 1000, size=FILE_BYTES)
    [full] = data_files(open_table(folder_of(warehouse, CALLS)))
    for number in range(12):
        add(warehouse, CALLS, number)
    join_small_files(open_table(folder_of(warehouse, CALLS)))
    files = data_files(open_table(folder_of(warehouse, CALLS)))
    assert len(files) == 2
    assert full in files


def test_one_run_joins_no_more_than_is_said(
    warehouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(24):
        add(warehouse, CALLS, number)
    before = rows_of(warehouse, CALLS)
    size = sum(
        Path(file).stat().st_size for file in data_files(open_table(folder_of(warehouse, CALLS)))
    )
    monkeypatch.setattr(upkeep, "AT_ONCE_BYTES", size // 2)
    assert 8 <= join_small_files(open_table(folder_of(warehouse, CALLS))) <= 12
    assert rows_of(warehouse, CALLS) == before


def test_files_that_are_nearly_full_do_not_hold_up_small_ones(
    warehouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(6):
        add(warehouse, CALLS, number, size=3000)
    files = data_files(open_table(folder_of(warehouse, CALLS)))
    monkeypatch.setattr(upkeep, "AT_ONCE_BYTES", sum(Path(file).stat().st_size for file in files))
    for number in range(6, 18):
        add(warehouse, CALLS, number)
    assert join_small_files(open_table(folder_of(warehouse, CALLS))) > 11


def test_whoever_comes_first_has_the_version(
    warehouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(12):
        add(warehouse, CALLS, number)
    write = commit.write_commit

    def outrun(*words: Any) -> None:
        with monkeypatch.context() as patch:
            patch.setattr(commit, "write_commit", write)
            add(warehouse, CALLS, 12)
        write(*words)

    on_disk = len(list(folder_of(warehouse, CALLS).glob("*.parquet")))
    monkeypatch.setattr(commit, "write_commit", outrun)
    assert join_small_files(open_table(folder_of(warehouse, CALLS))) == 0
    assert len(rows_of(warehouse, CALLS)) == 13
    assert len(list(folder_of(warehouse, CALLS).glob("*.parquet"))) == on_disk + 1


@pytest.mark.parametrize("moment", ["write_files", "commit_joined"])
def test_who_dies_meanwhile_changes_nothing(
    warehouse: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    class Killed(BaseException):
        pass

    def die(*_: Any, **__: Any) -> Any:
        raise Killed

    for number in range(12):
        add(warehouse, CALLS, number)
    before = rows_of(warehouse, CALLS)
    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(upkeep, moment, die)
        join_small_files(open_table(folder_of(warehouse, CALLS)))
    assert rows_of(warehouse, CALLS) == before
    assert join_small_files(open_table(folder_of(warehouse, CALLS))) == 12
    assert rows_of(warehouse, CALLS) == before


def test_many_runs_leave_few_files(warehouse: Path) -> None:
    """Every run writes a row, also one that has nothing to do."""
    for _ in range(60):
        append_rows(warehouse, [Run("", "cycle", ["c"], 0)])
    opened = open_table(folder_of(warehouse, RUNS))
    assert len(data_files(opened)) < 2 * MANY
    ids = ask_rows(warehouse, RUNS, "select run_id from t where kind = 'cycle' order by 1")
    assert len(ids) == 60
    numbers = [int(run_id[:8]) for (run_id,) in ids]
    assert numbers == [*range(numbers[0], numbers[0] + 60)]
    assert find_lost(warehouse) is None


def keep_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """moldau.yml allows a day at least."""
    monkeypatch.setattr(Maintain, "hours_of", lambda *_: 0)


def test_runs_delete_what_nobody_needs(warehouse: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also what had gone before a checkpoint: the log does not name it any more."""
    for _ in range(MANY + 1):
        append_rows(warehouse, [Run("", "cycle", ["c"], 0)])
    folder = folder_of(warehouse, RUNS)
    assert len(list(folder.glob("*.parquet"))) > MANY, "files of the last week stay"
    open_table(folder).create_checkpoint()
    keep_nothing(monkeypatch)
    old, young = (warehouse / REFUSED / f"{number}.jsonl" for number in range(2))
    old.parent.mkdir()
    for file in (old, young):
        file.touch()
    os.utime(old, (1, 1))
    for _ in range(SELDOM):
        append_rows(warehouse, [Run("", "cycle", ["c"], 0)])
    assert len(list(folder.glob("*.parquet"))) < 3 * MANY
    found = ask_rows(warehouse, RUNS, "select count(*) from t where kind = 'cycle'")
    assert found == [(MANY + SELDOM + 1,)]
    assert (old.exists(), young.exists()) == (False, True)
    assert find_lost(warehouse) is None


def test_the_log_of_runs_is_no_longer_than_its_bound(
    warehouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many come within its day; who has a table open reads on, and moves on."""
    kept = 2 * CHECKPOINTS
    monkeypatch.setattr(upkeep, "LOG_OF_RUNS", kept)
    folder = folder_of(warehouse, RUNS)
    longest, early = 0, None
    for number in range(2 * SELDOM):
        append_rows(warehouse, [Run("", "cycle", ["c"], 0)])
        early = early or DeltaTable(folder)
        if number > SELDOM:
            longest = max(longest, len(list((folder / "_delta_log").iterdir())))
    assert longest < kept + CHECKPOINTS + SELDOM + 10
    newest = open_table(folder).version()
    assert count(DeltaTable(folder, version=newest - kept)) < count(open_table(folder))
    with pytest.raises(DeltaError):
        DeltaTable(folder, version=0)
    assert early is not None
    assert count(early) == 1
    early.update_incremental()
    assert (early.version(), count(early)) == (newest, 2 * SELDOM)
    assert find_log_damage(folder) is None
    assert find_lost(warehouse) is None


def test_a_table_may_keep_its_log(warehouse: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upkeep, "LOG_OF_RUNS", 1)
    folder = folder_of(warehouse, RUNS)
    open_table(folder).alter.set_table_properties({"delta.enableExpiredLogCleanup": "false"})
    for _ in range(SELDOM):
        append_rows(warehouse, [Run("", "cycle", ["c"], 0)])
    assert DeltaTable(folder, version=0).version() == 0


def count(opened: DeltaTable) -> int:
    found = QueryBuilder().register("t", opened).execute("select count(*) as n from t")
    return int(pa.table(found.read_all())["n"][0].as_py())


def test_a_version_of_the_retention_is_read_on(warehouse: Path) -> None:
    for number in range(12):
        add(warehouse, CALLS, number)
    folder = folder_of(warehouse, CALLS)
    before = DeltaTable(folder)
    maintain(warehouse, CALLS, Maintain().hours_of)
    add(warehouse, CALLS, 12)
    earlier = DeltaTable(folder, version=before.version())
    for opened in (before, earlier):
        found = QueryBuilder().register("t", opened).execute("select count(*) as n from t")
        assert pa.table(found.read_all()).to_pylist() == [{"n": 12}]


def test_moldau_yml_says_how_long_files_stay(tmp_path: Path) -> None:
    config = tmp_path / "moldau.yml"
    config.write_text(
        "maintain:\n  retention_hours: 48\n  tables: {state.groups: {retention_hours: 168}}\n"
    )
    told = load_settings(config).maintain
    assert [told.hours_of(name) for name in ("state.groups", CALLS)] == [168, 48]
    assert Maintain().hours_of(CALLS) is None


@pytest.mark.parametrize(
    ("told", "why"),
    [
        ("{retention_hours: 23}", "retention_hours"),
        ("{retention_hours: 169}", "retention_hours"),
        ("{tables: {state.group: {retention_hours: 48}}}", "a table of the warehouse"),
        ("{tables: {state.groups: {hours: 48}}}", "hours"),
    ],
)
def test_what_it_may_not_say_is_named(tmp_path: Path, told: str, why: str) -> None:
    config = tmp_path / "moldau.yml"
    config.write_text(f"maintain: {told}\n")
    with pytest.raises(MoldauError, match=why):
        load_settings(config)


def test_the_table_itself_may_say_how_long(
    warehouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As Delta's own VACUUM, of Spark or of a library, would hold it."""
    for number in range(12):
        add(warehouse, CALLS, number)
    name = "delta.deletedFileRetentionDuration"
    opened = open_table(folder_of(warehouse, CALLS))
    opened.alter.set_table_properties({name: "interval 0 hours"})
    done = maintain(warehouse, CALLS, Maintain().hours_of)
    assert (done.files_joined, done.files_deleted) == (12, 12)


def test_status_and_doctor_say_what_is_overdue_and_why(warehouse: Path) -> None:
    for number in range(4 * MANY):
        add(warehouse, CALLS, number)
    assert "history.plugin_calls has 64 small files: runs join them" in said_by(warehouse, "status")
    assert "history.plugin_calls has 64 small files: runs join them" in said_by(warehouse, "doctor")
    protocol = {"minReaderVersion": 1, "minWriterVersion": 7, "writerFeatures": ["rowTracking"]}
    folder = folder_of(warehouse, CALLS)
    write_commit(folder, open_table(folder).version() + 1, [{"protocol": protocol}])
    left = "features of Delta leave them to another writer"
    assert left in said_by(warehouse, "status")
    assert left in said_by(warehouse, "doctor")
    assert left in told_by(warehouse)[CALLS]["left"]
    assert len(data_files(open_table(folder))) == 4 * MANY


def said_by(warehouse: Path, verb: str) -> str:
    return CliRunner().invoke(moldau, [verb, "--warehouse", str(warehouse)]).output


def told_by(warehouse: Path, *words: str) -> dict[str, dict[str, Any]]:
    asked = ["maintain", *words, "--warehouse", str(warehouse), "--format", "json"]
    answer = CliRunner().invoke(moldau, asked)
    assert answer.exit_code == 0, answer.output
    return {row.pop("table"): row for row in json.loads(answer.stdout)}


def test_maintain_does_all_at_once_and_says_what_it_frees(
    warehouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(24):
        add(warehouse, CALLS, number)
        if number < 5:
            add(warehouse, SNAPSHOTS, number)
    before = rows_of(warehouse, CALLS)
    orphan = folder_of(warehouse, CALLS) / "part-0-orphan.snappy.parquet"
    orphan.write_bytes(b"of a run that was killed")
    nothing = {"files_deleted": 0, "bytes_freed": 0, "left": None}
    due = {CALLS: {"files_joined": 24, **nothing}}
    assert told_by(warehouse, "--dry-run") == due
    assert len(data_files(open_table(folder_of(warehouse, CALLS)))) == 24
    assert told_by(warehouse) == due
    assert len(data_files(open_table(folder_of(warehouse, CALLS)))) == 1
    assert told_by(warehouse) == {}, "files of the last week stay"
    keep_nothing(monkeypatch)
    on_disk = {str(file) for file in folder_of(warehouse, CALLS).glob("*.parquet")}
    unneeded = on_disk - set(data_files(open_table(folder_of(warehouse, CALLS))))
    freed = sum(Path(file).stat().st_size for file in unneeded)
    gone = {CALLS: {"files_joined": 0, "files_deleted": 25, "bytes_freed": freed, "left": None}}
    assert told_by(warehouse, CALLS, "--dry-run") == gone == told_by(warehouse, CALLS)
    assert not orphan.exists()
    assert rows_of(warehouse, CALLS) == before
    assert find_lost(warehouse) is None
    append_rows(warehouse, [Run("", "cycle", ["c"], 0)])


def test_maintain_names_what_is_no_table(warehouse: Path, tmp_path: Path) -> None:
    for asked, said in (("state.run", "there is no table 'state.run'"), ("", "no warehouse")):
        place = warehouse if asked else tmp_path / "elsewhere"
        words = ["maintain", *filter(None, [asked]), "--warehouse", str(place)]
        answer = CliRunner().invoke(moldau, words)
        assert isinstance(answer.exception, MoldauError)
        assert said in str(answer.exception)
