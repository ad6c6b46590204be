"""A damaged table is named, with the file and what can be done."""

from __future__ import annotations

import dataclasses
import shutil
import time
from pathlib import Path

import pytest
from conftest import Write
from deltalake import DeltaTable

from moldau.warehouse.contracts import Column, tables
from moldau.warehouse.damage import find_damage, find_log_damage

RUNS = tables()["state.runs"]


@pytest.fixture
def log(warehouse: Path, write: Write) -> Path:
    for number in range(3):
        write("state.runs", {"run_id": str(number), "counts": []})
    return warehouse / "state" / "runs" / "_delta_log"


def commit(log: Path, version: int) -> Path:
    return log / f"{version:020d}.json"


@pytest.mark.usefixtures("log")
def test_a_whole_table_has_no_damage(warehouse: Path) -> None:
    assert find_damage(warehouse, RUNS) is None


def test_a_table_with_a_checkpoint_needs_no_older_commits(warehouse: Path, log: Path) -> None:
    DeltaTable(str(log.parent)).create_checkpoint()
    commit(log, 0).unlink()
    assert find_damage(warehouse, RUNS) is None


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
    assert "cannot be opened" in str(find_damage(warehouse, RUNS))


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
    started = time.perf_counter()
    for _ in range(10):
        find_damage(warehouse, RUNS)
    assert (time.perf_counter() - started) / 10 < 0.05, "usually 3 ms"
