"""The plugin `delta`: a real table, one commit a batch, several writers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, QueryBuilder
from plugin_support import ODD_NAMES, plugin, round_trips, the_last_one_counts


def table(place: Path) -> DeltaTable:
    return DeltaTable(str(place / "warehouse" / "plugin" / "topology_descriptions"))


def rows(place: Path) -> list[dict[str, Any]]:
    query = QueryBuilder().register("d", table(place)).execute("select * from d")
    return pa.table(query.read_all()).to_pylist()


def test_descriptions_of_odd_names_come_back(tmp_path: Path) -> None:
    round_trips(plugin("delta", tmp_path), plugin("delta", tmp_path, "west"), ODD_NAMES)
    assert rows(tmp_path) == []


def test_the_last_one_counts(tmp_path: Path) -> None:
    the_last_one_counts(plugin("delta", tmp_path))
    (row,) = rows(tmp_path)
    assert row.pop("written_at_ms") > 1_700_000_000_000
    assert row == {
        "cluster_id": "east",
        "group_id": "g",
        "topology_epoch": 3,
        "description": None,
    }


def test_a_batch_is_one_commit_and_what_changes_nothing_is_none(tmp_path: Path) -> None:
    stored = plugin("delta", tmp_path)
    given = [(name, number, [name]) for number, name in enumerate(ODD_NAMES)]

    stored.set_topologies([("orders", 99, "twice in a batch"), *given])
    assert table(tmp_path).version() == 1
    stored.set_topologies(given)
    stored.delete_topologies(["not there"])
    stored.set_topologies([])
    stored.delete_topologies([])
    assert table(tmp_path).version() == 1
    assert len(rows(tmp_path)) == len(ODD_NAMES)
    assert stored.get_topology("orders", 0) == ["orders"]

    stored.delete_topologies([*ODD_NAMES[1:], "not there", ODD_NAMES[1]])
    assert table(tmp_path).version() == 2
    assert [row["group_id"] for row in rows(tmp_path)] == ["orders"]


@pytest.mark.parametrize("properties", [{}, {"delta.enableDeletionVectors": "true"}])
def test_a_table_that_is_there_is_used(tmp_path: Path, properties: dict[str, str]) -> None:
    plugin("delta", tmp_path / "other").set_topology("g", 1, 2)
    folder = tmp_path / "warehouse" / "plugin" / "topology_descriptions"
    folder.mkdir(parents=True)
    made = DeltaTable.create(
        str(folder), table(tmp_path / "other").schema(), configuration={**properties}
    )
    plugin("delta", tmp_path).set_topology("g", 1, {"a": 1})
    assert plugin("delta", tmp_path).get_topology("g", 1) == {"a": 1}
    assert table(tmp_path).metadata().id == made.metadata().id


def test_the_option_path_is_relative_to_the_folder_of_the_settings(tmp_path: Path) -> None:
    plugin("delta", tmp_path, path="some where/é").set_topology("g", 1, 2)
    assert (tmp_path / "project" / "some where" / "é" / "_delta_log").is_dir()


WRITER = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from plugin_support import plugin
stored = plugin("delta", Path(sys.argv[2]))
for number in range(8):
    stored.set_topologies([(sys.argv[3] + str(number), number, {}), ("shared", number, {})])
    stored.delete_topologies([sys.argv[3] + str(number - 1)])
"""


def test_two_processes_write_at_once(tmp_path: Path) -> None:
    support = str(Path(__file__).parent)
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, support, str(tmp_path), name], stderr=subprocess.PIPE
        )
        for name in "ab"
    ]
    for writer in writers:
        _, complaints = writer.communicate(timeout=60)
        assert writer.returncode == 0, complaints.decode()
    assert sorted(row["group_id"] for row in rows(tmp_path)) == ["a7", "b7", "shared"]


def test_files_that_no_version_of_a_week_needs_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("moldau.plugins.delta.SELDOM", 6)
    stored = plugin("delta", tmp_path)
    stored.set_topology("g", 1, 0)
    table(tmp_path).alter.set_table_properties(
        {"delta.deletedFileRetentionDuration": "interval 0 hours"}
    )
    folder = tmp_path / "warehouse" / "plugin" / "topology_descriptions"
    for number in range(2, 5):
        stored.set_topology("g", number, number)
    assert len(list(folder.glob("*.parquet"))) == 4
    stored.set_topology("g", 5, 5)
    assert len(list(folder.glob("*.parquet"))) == 1
    assert stored.get_topology("g", 5) == 5
