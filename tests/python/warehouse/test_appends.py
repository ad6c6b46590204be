"""An append commits itself: the log says what came, and no other writer's rows are lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable

from moldau.warehouse import commit
from moldau.warehouse.append import append
from moldau.warehouse.ask import ask_rows
from moldau.warehouse.create import create
from moldau.warehouse.damage import open_table

DELETED = "raw.group_deletions"


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    create(tmp_path)
    return tmp_path


def add(warehouse: Path, name: str) -> DeltaTable:
    row = {
        "cluster_id": "c", "request_id": name, "request_version": 2, "group_ids": [name],
        "received_at_ms": 1, "run_id": "00000001-load",
    }  # fmt: skip
    folder = warehouse.joinpath(*DELETED.split("."))
    schema = pa.schema(open_table(folder).schema().to_arrow())
    return append(warehouse, DELETED, pa.Table.from_pylist([row], schema).to_batches())


def names(warehouse: Path) -> list[str]:
    return [name for (name,) in ask_rows(warehouse, DELETED, "select request_id from t order by 1")]


def test_the_log_says_what_came(warehouse: Path) -> None:
    opened = add(warehouse, "a")
    [last] = opened.history(1)
    told = {name: last[name] for name in ("operation", "operationParameters", "isBlindAppend")}
    assert told == {
        "operation": "WRITE",
        "operationParameters": {"mode": "Append", "partitionBy": "[]"},
        "isBlindAppend": True,
    }
    [file] = warehouse.joinpath(*DELETED.split(".")).glob("*.parquet")
    assert last["operationMetrics"] == {
        "numFiles": "1",
        "numOutputBytes": str(file.stat().st_size),
    }
    assert opened.version() == open_table(file.parent).version()


def test_who_comes_later_is_added_behind(warehouse: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = commit.write_commit

    def outrun(*words: Any) -> None:
        with monkeypatch.context() as patch:
            patch.setattr(commit, "write_commit", write)
            add(warehouse, "other")
        write(*words)

    monkeypatch.setattr(commit, "write_commit", outrun)
    opened = add(warehouse, "own")
    assert names(warehouse) == ["other", "own"]
    assert opened.version() == open_table(warehouse.joinpath(*DELETED.split("."))).version()


def test_checkpoints_come_at_their_distance(warehouse: Path) -> None:
    folder = warehouse.joinpath(*DELETED.split("."))
    open_table(folder).alter.set_table_properties({"delta.checkpointInterval": "4"})
    for number in range(9):
        add(warehouse, f"{number}")
    found = sorted(int(file.name[:20]) for file in folder.glob("_delta_log/*.checkpoint.parquet"))
    assert [version % 4 for version in found] == [0] * len(found)
    assert len(found) >= 2
    assert len(names(warehouse)) == 9
