"""A merge without Spark: rows as they are to be, and nothing over what another writer did."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from moldau.errors import MoldauError
from moldau.warehouse.ask import ask_rows
from moldau.warehouse.create import create
from moldau.warehouse.damage import open_table
from moldau.warehouse.merge import ChangedMeanwhileError, merge
from moldau.warehouse.rewrite import ACTION

TABLE, KEY = "state.topology_backoffs", ("cluster_id", "group_id")


def rows(**actions: tuple[str, int | None]) -> list[pa.RecordBatch]:
    """Group -> what becomes of its row, and its attempts."""
    of_all: dict[str, Any] = {
        "cluster_id": "c", "topology_epoch": 1, "next_attempt_at_ms": 1, "armed_at_ms": 1,
        "armed_log_offset": 1, "changed_in_run_id": "1",
    }  # fmt: skip
    return pa.Table.from_pylist(
        [
            of_all | {"group_id": group, "attempts": attempts, ACTION: action}
            for group, (action, attempts) in actions.items()
        ]
    ).to_batches()


def version(warehouse: Path) -> int:
    return open_table(warehouse / "state" / "topology_backoffs").version()


def merge_now(warehouse: Path, **actions: tuple[str, int | None]) -> None:
    merge(warehouse, TABLE, KEY, rows(**actions), version(warehouse))


def attempts(warehouse: Path) -> dict[str, int]:
    return dict(ask_rows(warehouse, TABLE, "select group_id, attempts from t"))


def test_rows_are_inserted_updated_and_deleted_in_one_commit(tmp_path: Path) -> None:
    create(tmp_path)
    merge_now(tmp_path, a=("insert", 1), b=("insert", 1), c=("insert", 1))
    before = version(tmp_path)
    merge_now(tmp_path, b=("update", 2), c=("delete", None), d=("insert", 4))
    assert attempts(tmp_path) == {"a": 1, "b": 2, "d": 4}
    assert version(tmp_path) == before + 1


@pytest.mark.parametrize("prefix", ["", "x" * 100, "é" * 70, "\U0010ffff" * 40, "\x7f" * 70])
def test_files_are_left_out_by_what_long_keys_say(tmp_path: Path, prefix: str) -> None:
    """Statistics of files hold the beginning of a long text."""
    create(tmp_path)
    names = [prefix, f"{prefix}a", f"{prefix}b", f"{prefix}\U0010ffff"]
    for group in names:  # a file each
        merge_now(tmp_path, **{group: ("insert", 1)})
    merge_now(tmp_path, **{group: ("update", 2) for group in names})
    assert attempts(tmp_path) == dict.fromkeys(names, 2)
    for number, group in enumerate(names, 3):
        merge_now(tmp_path, **{group: ("update", number)})
    assert sorted(attempts(tmp_path).values()) == [3, 4, 5, 6]


def test_no_rows_are_no_commit(tmp_path: Path) -> None:
    create(tmp_path)
    before = version(tmp_path)
    merge(tmp_path, TABLE, KEY, [one.slice(0, 0) for one in rows(a=("insert", 1))], before)
    assert version(tmp_path) == before


def test_what_another_writer_did_meanwhile_is_not_merged_over(tmp_path: Path) -> None:
    create(tmp_path)
    merge_now(tmp_path, a=("insert", 1))
    read = version(tmp_path)
    merge_now(tmp_path, a=("update", 2))
    with pytest.raises(ChangedMeanwhileError):
        merge(tmp_path, TABLE, KEY, rows(a=("update", 3)), read)
    assert attempts(tmp_path) == {"a": 2}


def test_one_row_is_changed_once(tmp_path: Path) -> None:
    create(tmp_path)
    merge_now(tmp_path, a=("insert", 1))
    twice = [*rows(a=("update", 2)), *rows(a=("update", 3))]
    with pytest.raises(MoldauError, match=r"several rows change the same row of state\.topology_"):
        merge(tmp_path, TABLE, KEY, twice, version(tmp_path))


@pytest.mark.parametrize("action", ["insert", "update"])
def test_the_contract_of_the_table_holds(tmp_path: Path, action: str) -> None:
    create(tmp_path)
    merge_now(tmp_path, a=("insert", 1))
    with pytest.raises(Exception, match=r"(?i)null|invalid"):
        merge_now(tmp_path, **{"a" if action == "update" else "b": (action, None)})
    assert attempts(tmp_path) == {"a": 1}
