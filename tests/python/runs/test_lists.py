"""The folders of lists that runs leave in a warehouse."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from moldau.sessions.lists import A_DAY, remove_lists

FOLDERS = ("run/7-cycle", "run/6-cycle", "plain_run/7-cycle~dbt-1")
OLD = ("run/int_groups__of_an_earlier_version", "plain_run/5-cycle~dbt-1")


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    for name in (*FOLDERS, *OLD):
        folder = tmp_path / "_moldau" / name
        (folder / "int_groups__cleanups_due").mkdir(parents=True)
        (folder / "int_groups__cleanups_due" / "part-0.parquet").touch()
    for name in OLD:
        then = time.time() - A_DAY - 1
        os.utime(tmp_path / "_moldau" / name, (then, then))
    return tmp_path


def left(warehouse: Path) -> set[str]:
    return {f"{folder.parent.name}/{folder.name}" for folder in warehouse.glob("_moldau/*/*")}


def test_a_run_removes_the_lists_of_those_before_it(warehouse: Path) -> None:
    """Its own stay: it may have been killed, or be made of several parts."""
    remove_lists(warehouse, "7-cycle", is_locked=True)
    assert left(warehouse) == {"run/7-cycle", "plain_run/7-cycle~dbt-1"}


def test_where_others_may_be_running_only_old_lists_go(warehouse: Path) -> None:
    remove_lists(warehouse, "7-cycle", is_locked=False)
    assert left(warehouse) == set(FOLDERS)


def test_a_warehouse_without_lists_is_left_as_it_is(tmp_path: Path) -> None:
    remove_lists(tmp_path, "1-init", is_locked=True)
    assert list(tmp_path.iterdir()) == []
