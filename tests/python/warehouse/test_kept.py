"""Tables that stay open: what they show after whatever may happen to their logs meanwhile."""

import shutil
import time
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from moldau.warehouse import delta_log
from moldau.warehouse.damage import DamagedError
from moldau.warehouse.delta_log import log_names
from moldau.warehouse.intact import intact_table
from moldau.warehouse.kept import kept_table


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number in range(4):
        append(tmp_path / "table", number)
    return tmp_path / "table"


def append(folder: Path, number: int) -> None:
    write_deltalake(folder, pa.table({"number": [number]}), mode="append")


def rows(folder: Path) -> list[int]:
    numbers: list[int] = kept_table(folder).to_pyarrow_table()["number"].to_pylist()
    return sorted(numbers)


def commit(folder: Path, version: int) -> Path:
    return folder / "_delta_log" / f"{version:020d}.json"


def test_a_table_is_opened_once(folder: Path) -> None:
    kept = kept_table(folder)
    assert rows(folder) == [0, 1, 2, 3]
    append(folder, 4)
    assert rows(folder) == [0, 1, 2, 3, 4]
    assert kept_table(folder) is kept, "another writer's commit is read, and no more than that"


def test_a_holder_that_commits_takes_it_on(folder: Path) -> None:
    kept = kept_table(folder)
    write_deltalake(kept, pa.table({"number": [4]}), mode="append")
    assert kept_table(folder) is kept
    assert rows(folder) == [0, 1, 2, 3, 4]


def test_a_checkpoint_in_between_is_no_other_table(folder: Path) -> None:
    kept = kept_table(folder)
    append(folder, 4)
    DeltaTable(folder).create_checkpoint()
    append(folder, 5)
    assert (rows(folder), kept_table(folder) is kept) == ([0, 1, 2, 3, 4, 5], True)


def test_a_table_whose_commits_were_cleaned_up_is_opened_anew(folder: Path) -> None:
    kept = kept_table(folder)
    append(folder, 4)
    DeltaTable(folder).create_checkpoint()
    for version in range(4):
        commit(folder, version).unlink()
    assert (rows(folder), kept_table(folder) is kept) == ([0, 1, 2, 3, 4], False)


def test_a_lost_last_commit_is_not_shown(folder: Path) -> None:
    kept_table(folder)
    commit(folder, 3).unlink()
    assert rows(folder) == [0, 1, 2]


def test_another_commit_of_the_same_version_is_shown(folder: Path) -> None:
    kept_table(folder)
    commit(folder, 3).unlink()
    append(folder, 30)
    assert rows(folder) == [0, 1, 2, 30]


def test_a_commit_lost_before_a_later_one_is_damage(folder: Path) -> None:
    kept_table(folder)
    append(folder, 4)
    append(folder, 5)
    commit(folder, 4).unlink()
    assert intact_table(folder) is None
    with pytest.raises(DamagedError):
        kept_table(folder)


def test_a_table_made_in_the_place_of_another_is_that_one(folder: Path, tmp_path: Path) -> None:
    for number in range(4):
        append(tmp_path / "other", 10 * number)
    kept_table(folder)
    shutil.rmtree(folder)
    shutil.copytree(tmp_path / "other", folder)
    assert rows(folder) == [0, 10, 20, 30]
    shutil.rmtree(folder)
    append(folder, 7)
    assert rows(folder) == [7]


def test_a_folder_without_a_log_is_damaged_though_it_was_open(folder: Path) -> None:
    kept_table(folder)
    shutil.rmtree(folder)
    with pytest.raises(DamagedError):
        kept_table(folder)


def test_a_log_is_listed_once_while_nothing_comes(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    time.sleep(0.1)  # a listing so soon after a change is not kept
    names = log_names(folder)
    assert [name for name in names if name.endswith(".json")] == [
        commit(folder, version).name for version in range(4)
    ]
    with monkeypatch.context() as patched:
        patched.setattr(delta_log.os, "listdir", None)
        assert log_names(folder) is names
    append(folder, 4)
    assert commit(folder, 4).name in log_names(folder)
