"""A damaged table is named, with the file and what can be done."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import resource
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from deltalake import DeltaTable
from rows_support import Write

from moldau.errors import MoldauError
from moldau.reading.health.doctor import examine
from moldau.reading.health.status import read_status
from moldau.warehouse.contracts import Column, tables
from moldau.warehouse.create import create
from moldau.warehouse.damage import DamagedError, UnreadableError, find_log_damage, open_table
from moldau.warehouse.intact import find_damage, intact_table

RUNS = tables()["state.runs"]


@pytest.fixture
def log(warehouse: Path, write: Write) -> Path:
    for number in range(3):
        write("state.runs", {"run_id": str(number), "counts": []})
    return warehouse / "state" / "runs" / "_delta_log"


def commit(log: Path, version: int) -> Path:
    return log / f"{version:020d}.json"


def version_of(table: DeltaTable | None) -> int | None:
    return table and table.version()


@pytest.mark.usefixtures("log")
def test_a_whole_table_has_no_damage(warehouse: Path) -> None:
    assert find_damage(warehouse, RUNS) is None


def test_a_table_with_a_checkpoint_needs_no_older_commits(warehouse: Path, log: Path) -> None:
    DeltaTable(str(log.parent)).create_checkpoint()
    commit(log, 0).unlink()
    assert find_damage(warehouse, RUNS) is None


def test_a_table_that_was_looked_at_is_looked_at_again(
    warehouse: Path, log: Path, write: Write, tmp_path: Path
) -> None:
    folder = log.parent
    copied = shutil.copytree(folder, tmp_path / "copied")
    assert version_of(intact_table(folder)) == 2
    write("state.runs", {"run_id": "3", "counts": []})
    assert version_of(intact_table(folder)) == 3
    file = next(folder.glob("*.parquet"))
    file.rename(tmp_path / file.name)
    assert intact_table(folder) is None
    (tmp_path / file.name).rename(file)
    assert version_of(intact_table(folder)) == 3
    DeltaTable(folder).create_checkpoint()
    assert version_of(intact_table(folder)) == 3
    checkpoint = next(log.glob("*.checkpoint.parquet"))
    checkpoint.write_bytes(checkpoint.read_bytes()[:40])
    assert intact_table(folder) is None
    shutil.rmtree(folder)
    copied.rename(folder)
    assert version_of(intact_table(folder)) == 2


def test_deletion_vectors_and_checkpoints_of_spark_are_no_damage(hidden_rows: Path) -> None:
    assert find_log_damage(hidden_rows / "state" / "hidden_rows") is None


def test_a_missing_deletion_vector_is_named(tmp_path: Path, hidden_rows: Path) -> None:
    table = shutil.copytree(hidden_rows / "state" / "hidden_rows", tmp_path / "t")
    for path in (table / "_delta_log").glob("*checkpoint*"):
        path.unlink()
    [vector] = table.glob("deletion_vector_*.bin")
    assert find_log_damage(table) is None
    vector.unlink()
    assert find_log_damage(table) == f"the deletion vector {vector.name} is missing"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "_delta_log/00000000000000000001.json is empty"),
        (b"\n\n", "00000000000000000001.json is empty"),
        (b'{"commitInfo":{}}\n{"add":{"pa', "00000000000000000001.json, line 2 is not JSON"),
        (b"\0\0\0\0", "line 1 is not JSON"),
        (b"[1]", "line 1 is not JSON"),
    ],
)
def test_an_empty_or_torn_commit_is_named(
    warehouse: Path, log: Path, content: bytes, words: str
) -> None:
    commit(log, 1).write_bytes(content)
    message = find_damage(warehouse, RUNS)
    assert message is not None
    assert words in message
    assert message.startswith("state.runs in ")
    assert "nothing was changed" in message


def test_a_missing_commit_is_named(warehouse: Path, log: Path) -> None:
    commit(log, 1).unlink()
    assert "00000000000000000001.json is missing" in str(find_damage(warehouse, RUNS))


def test_a_missing_data_file_is_named(warehouse: Path, log: Path) -> None:
    file = sorted(log.parent.glob("*.parquet"))[0]
    file.unlink()
    assert f"the data file {file.name} is missing" in str(find_damage(warehouse, RUNS))


def test_a_data_file_of_an_older_version_may_be_gone(warehouse: Path, log: Path) -> None:
    table = DeltaTable(str(log.parent))
    before = set(table.file_uris())
    table.optimize.compact()
    for path in before - set(DeltaTable(str(log.parent)).file_uris()):
        Path(path).unlink()
    assert find_damage(warehouse, RUNS) is None


def test_an_empty_checkpoint_is_named(warehouse: Path, log: Path) -> None:
    DeltaTable(str(log.parent)).create_checkpoint()
    [checkpoint] = log.glob("*.checkpoint.parquet")
    checkpoint.write_bytes(b"")
    assert f"{checkpoint.name} is empty" in str(find_damage(warehouse, RUNS))


def test_a_torn_checkpoint_cannot_be_opened(warehouse: Path, log: Path) -> None:
    DeltaTable(str(log.parent)).create_checkpoint()
    [checkpoint] = log.glob("*.checkpoint.parquet")
    checkpoint.write_bytes(checkpoint.read_bytes()[:50])
    assert "is torn" in str(find_damage(warehouse, RUNS))


def test_a_folder_without_a_log_is_named(warehouse: Path, log: Path) -> None:
    shutil.rmtree(log)
    assert "has no _delta_log" in str(find_damage(warehouse, RUNS))
    log.mkdir()
    assert "holds no commit" in str(find_damage(warehouse, RUNS))


def test_a_missing_table_says_what_makes_one(warehouse: Path) -> None:
    assert "state.runs is missing" in str(find_damage(warehouse, RUNS))
    assert "moldau init" in str(find_damage(warehouse, RUNS))


@pytest.mark.usefixtures("log")
def test_other_columns_are_named(warehouse: Path) -> None:
    others = [column for column in RUNS.columns if column.name not in ("status", "kind")]
    other = dataclasses.replace(
        RUNS, columns=(*others, Column("kind", "array<int>"), Column("mood", "string"))
    )
    message = str(find_damage(warehouse, other))
    assert "mood is missing" in message
    assert "status is not expected" in message
    assert "kind is string instead of array<int>" in message


@pytest.mark.usefixtures("log")
def test_a_small_table_is_checked_in_milliseconds(warehouse: Path) -> None:
    find_damage(warehouse, RUNS)
    started = time.process_time()  # of this process alone, whatever else the machine does
    for _ in range(10):
        find_damage(warehouse, RUNS)
    assert (time.process_time() - started) / 10 < 0.05, "usually 3 ms"


@contextlib.contextmanager
def few_descriptors(left: int) -> Iterator[None]:
    """This process can open so many more files."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    free = os.dup(0)
    os.close(free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (free + left, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


@pytest.mark.usefixtures("log")
def test_too_many_open_files_are_no_damage(warehouse: Path) -> None:
    assert find_damage(warehouse, RUNS) is None
    said = []
    for left in range(4):  # the log by itself, then what Delta's library opens at once
        with few_descriptors(left):
            try:
                assert find_damage(warehouse, RUNS) is None
            except UnreadableError as error:
                said.append(str(error))
    assert said
    assert all("Too many open files" in text and "nothing was changed" in text for text in said)
    assert "\n" not in "".join(said)
    assert find_damage(warehouse, RUNS) is None


def test_a_seed_that_cannot_be_looked_at_is_not_made_anew(warehouse: Path, write: Write) -> None:
    write("seeds.rule_sets", {"ruleset": "r"})
    before = sorted(warehouse.rglob("*"))
    with few_descriptors(0), pytest.raises(UnreadableError):
        create(warehouse)
    assert sorted(warehouse.rglob("*")) == before


def test_a_file_that_does_not_open_is_no_damage(warehouse: Path, log: Path) -> None:
    commit(log, 1).unlink()
    commit(log, 1).symlink_to(commit(log, 1))  # also root cannot open it
    for look in (
        lambda: find_damage(warehouse, RUNS),
        lambda: intact_table(log.parent),
        lambda: open_table(log.parent),
        lambda: read_status(warehouse),
    ):
        with pytest.raises(UnreadableError, match="symbolic links"):
            look()
    named = [f for f in examine(warehouse) if f.check == "table" and "runs" in f.message]
    assert [(f.is_fine, "symbolic links" in f.message) for f in named] == [(False, True)]


def test_status_names_a_missing_data_file(warehouse: Path, log: Path) -> None:
    file = min(log.parent.glob("*.parquet"))
    file.unlink()
    status = read_status(warehouse)
    [damage] = [row["damage"] for row in status.tables]
    assert f"state.runs cannot be read: the data file {file.name} is missing" in damage
    assert status.runs == []


def test_a_path_that_delta_reads_otherwise_is_no_damage(tmp_path: Path) -> None:
    folder = tmp_path / "a%20b" / "state" / "runs"
    folder.mkdir(parents=True)
    with pytest.raises(MoldauError, match="move it") as refused:
        open_table(folder)
    assert not isinstance(refused.value, DamagedError)
