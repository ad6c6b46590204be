"""Rows of files that are requests: each is there once, whichever load brings it, without Spark."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable

from moldau.loading.new_rows import append_rows
from moldau.loading.refusals import Refusals
from moldau.loading.shapes import shapes
from moldau.loading.stage import Staged, stage
from moldau.sessions.brought import Refusal
from moldau.settings.limits import Limits
from moldau.warehouse.create import create

JOIN = {"request_id": "r1", "group_id": "g", "member_id": "", "received_at_ms": 5}
DELETION = {"request_id": "r1", "request_version": 3, "group_ids": ["g", None], "received_at_ms": 5}
UNLOAD = {"offsets_partition_index": 7, "at_ms": 5}


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("appended") / "warehouse"
    create(folder)
    return folder


class Loads:
    def __init__(self, warehouse: Path, folder: Path, cluster_id: str) -> None:
        self.warehouse, self.folder, self.cluster_id, self.number = warehouse, folder, cluster_id, 0

    def __call__(self, kind: str, *lines: dict[str, Any]) -> tuple[int, list[Refusal]]:
        self.number += 1
        run_id = f"{self.number:08d}-load"
        file = self.folder / f"{run_id}.jsonl"
        file.write_text("".join(json.dumps(line) + "\n" for line in lines))
        staged = Staged(run_id, kind, self.cluster_id, folder=self.folder / run_id)
        stage(staged, [file], shapes()[kind], Limits())
        refused = Refusals(self.folder / f"{run_id}.refused.jsonl")
        return append_rows(self.warehouse, staged, refused), refused.first

    def rows(self, kind: str) -> list[dict[str, Any]]:
        table = DeltaTable(self.warehouse / "raw" / kind).to_pyarrow_table()
        return pa.Table.to_pylist(table.filter(pa.compute.field("cluster_id") == self.cluster_id))


@pytest.fixture
def loads(warehouse: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Loads:
    return Loads(warehouse, tmp_path, str(request.node.name))


def test_a_request_is_there_once(loads: Loads) -> None:
    assert loads("classic_joins", JOIN, JOIN, JOIN | {"request_id": "r2"}) == (2, [])
    assert loads("classic_joins", JOIN, JOIN | {"request_id": "r3"}) == (1, [])
    found = [(row["request_id"], row["run_id"]) for row in loads.rows("classic_joins")]
    assert sorted(found) == [
        ("r1", "00000001-load"),
        ("r2", "00000001-load"),
        ("r3", "00000002-load"),
    ]


def test_another_request_under_its_name_is_refused(loads: Loads) -> None:
    loads("group_deletions", DELETION)
    other = DELETION | {"group_ids": ["g", ""]}
    rows_new, refused = loads("group_deletions", DELETION, other, other | {"request_id": "r'2"})
    assert rows_new == 1
    assert [(r.line, r.reason) for r in refused] == [
        (2, "request r1 is there already with other content")
    ]
    assert {r["request_id"]: r["group_ids"] for r in loads.rows("group_deletions")} == {
        "r1": ["g", None],
        "r'2": ["g", ""],
    }


def test_names_of_other_clusters_are_others(warehouse: Path, tmp_path: Path) -> None:
    for cluster, group in (("one", "g"), ("two", "h")):
        folder = tmp_path / cluster
        folder.mkdir()
        loads = Loads(warehouse, folder, cluster)
        assert loads("classic_joins", JOIN | {"group_id": group}) == (1, [])


def test_an_event_without_content_beside_its_key_is_there_once(loads: Loads) -> None:
    assert loads("coordinator_unloads", UNLOAD, UNLOAD) == (1, [])
    assert loads("coordinator_unloads", UNLOAD, UNLOAD | {"at_ms": 6}) == (1, [])
