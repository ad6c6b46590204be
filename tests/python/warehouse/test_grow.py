"""A warehouse of an earlier version grows up without Spark; one of a later version is refused."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import polars
import pyarrow
import pytest
from deltalake import DeltaTable
from growing_support import unpack, with_contracts

import moldau
from moldau.cli import run
from moldau.errors import MoldauError
from moldau.reading.health.doctor import examine
from moldau.reading.tables.query import Tables
from moldau.runs.idle import idle_run
from moldau.sessions.run import Run, row_of
from moldau.sessions.run_rows import append_row
from moldau.settings import load_settings
from moldau.warehouse import create as creating
from moldau.warehouse.append import append
from moldau.warehouse.contracts import Column, Table, tables
from moldau.warehouse.create import check, create, is_initialised
from moldau.warehouse.intact import find_damage
from moldau.warehouse.notes import write_note
from moldau.warehouse.paths import SCHEMA
from moldau.warehouse.schema import NUMBER, present_schema, read_schema
from moldau.warehouse.seeds import seed

RUNS = tables()["state.runs"]
GROUPS = tables()["state.groups"]


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    """A new one, with a row in state.runs."""
    warehouse = tmp_path / "warehouse"
    create(warehouse)
    append_row(warehouse, row_of(Run("00000001-cycle", "cycle", ["east"], 1)))
    return warehouse


def opened(warehouse: Path, name: str) -> DeltaTable:
    return DeltaTable(str(warehouse.joinpath(*name.split("."))))


def versions(warehouse: Path) -> dict[str, int]:
    return {name: opened(warehouse, name).version() for name in tables()}


def fields(warehouse: Path, name: str) -> dict[str, Any]:
    return {
        field["name"]: field
        for field in json.loads(opened(warehouse, name).schema().to_json())["fields"]
    }


def as_of_before(warehouse: Path) -> None:
    (warehouse / SCHEMA).unlink()


def changed(table: Table, *columns: Column, **others: Any) -> Table:
    """The table with these columns in the place of those of their names, or beside them."""
    by_name = {column.name: column for column in (*table.columns, *columns)}
    return dataclasses.replace(table, columns=tuple(by_name.values()), **others)


def test_the_warehouse_of_0_1_becomes_one_of_this_version(tmp_path: Path) -> None:
    warehouse = unpack(tmp_path)
    before = Tables(warehouse, ["state.runs", "state.groups", "raw.records"])
    counted = "select count(*) as n from "
    names = ("state.runs", "state.groups", "raw.records", "state.remote_segments")
    rows = {name: before.ask(counted + name) for name in names[:3]}
    assert read_schema(warehouse).number == 1
    with pytest.raises(MoldauError, match="is of an earlier version of moldau: `moldau init`"):
        check(warehouse)
    create(warehouse)
    seed(warehouse)
    check(warehouse)
    assert read_schema(warehouse) == present_schema()
    after = Tables(warehouse, names)
    assert {name: after.ask(counted + name) for name in names[:3]} == rows
    assert after.ask(counted + "state.remote_segments") != [{"n": 0}]
    made = create(fresh := tmp_path / "fresh")
    for table in made:
        grown, new = opened(warehouse, table.full_name), opened(fresh, table.full_name)
        assert grown.schema().to_json() == new.schema().to_json(), table.full_name
        assert grown.metadata().configuration == new.metadata().configuration, table.full_name
        assert grown.metadata().description == new.metadata().description
    at = versions(warehouse)
    assert create(warehouse) == []
    assert versions(warehouse) == at


@pytest.mark.parametrize("with_row", [False, True])
def test_columns_and_checks_follow_the_contracts(
    warehouse: Path, monkeypatch: pytest.MonkeyPatch, with_row: bool
) -> None:
    """state.runs has a row, state.groups has none."""
    table = RUNS if with_row else GROUPS
    gone, loosened = table.columns[-1].name, table.columns[0].name
    as_nullable = dataclasses.replace(table.columns[0], is_nullable=True, description="Told anew.")
    other = changed(
        table,
        as_nullable,
        Column("added", "map<string,array<struct<a:int,b:bigint>>>", True, "It's new."),
        Column("required", "bigint", False),
        description="Another table.",
        checks={"added_is_short": "added is null or cardinality(added) < 9"},
    )
    kept = tuple(column for column in other.columns if column.name != gone)
    other = dataclasses.replace(other, columns=kept)
    new = Table("history", "events", (Column("n", "int", False),), ())
    with_contracts(monkeypatch, other, new)
    assert create(warehouse) == [new]
    assert find_damage(warehouse, other) is None
    found = fields(warehouse, table.full_name)
    assert gone not in found
    assert (found[loosened]["nullable"], found[loosened]["metadata"]) == (
        True,
        {"comment": "Told anew."},
    )
    assert found["added"]["nullable"]
    assert found["required"]["nullable"] is with_row  # the row of before has no value
    metadata = opened(warehouse, table.full_name).metadata()
    checks = {k for k in metadata.configuration if k.startswith("delta.constraints.")}
    assert checks == {"delta.constraints.added_is_short"}
    assert metadata.description == "Another table."
    read = polars.scan_delta(str(warehouse.joinpath(*table.full_name.split(".")))).collect()
    assert read["required"].to_list() == [None] * with_row


def test_ids_that_commits_show_come_to_a_warehouse_of_number_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its ids are of snapshots, all of them."""
    table, added = tables()["state.source_topics"], "first_committed_at_ms"
    columns = [column for column in table.columns if column.name != added]
    of_2 = tuple(dataclasses.replace(column, is_nullable=False) for column in columns)
    with monkeypatch.context() as patch:
        with_contracts(patch, dataclasses.replace(table, columns=of_2))
        create(warehouse := tmp_path / "warehouse")
    row = {column.name: 5 if column.data_type == "bigint" else "x" for column in columns}
    append(warehouse, table.full_name, [pyarrow.RecordBatch.from_pylist([row])])
    as_of_before(warehouse)
    create(warehouse)
    found = fields(warehouse, table.full_name)
    assert [name for name in found if found[name]["nullable"]] == [
        "first_seen_at_ms", "last_seen_at_ms", added
    ]  # fmt: skip
    rows = Tables(warehouse, [table.full_name]).ask(f"select * from {table.full_name}")
    assert rows == [row | {added: None}]


def test_what_rows_of_before_break_is_refused(
    warehouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = versions(warehouse)
    of_before = present_schema()
    for other, words in [
        (changed(RUNS, checks={"none": "kind <> 'cycle'"}), "breaks its new check none: kind"),
        (changed(RUNS, Column("kind", "int")), "kind of state.runs is string instead of int"),
    ]:
        with monkeypatch.context() as patch:
            with_contracts(patch, other, changed(GROUPS, description="Another."))
            with pytest.raises(MoldauError, match=words):
                create(warehouse)
        assert versions(warehouse) == before
        assert read_schema(warehouse) == of_before


def test_what_a_person_or_a_merge_set_holds(warehouse: Path) -> None:
    """Deletion vectors bring a protocol that names its features."""
    log = warehouse / "state" / "groups" / "_delta_log"
    lines = [json.loads(line) for line in (log / f"{0:020d}.json").read_text().splitlines()]
    [metadata] = [line["metaData"] for line in lines if "metaData" in line]
    metadata["configuration"] = {
        "delta.enableDeletionVectors": "true",
        "delta.logRetentionDuration": "interval 1 days",
    }
    protocol = {"minReaderVersion": 3, "minWriterVersion": 7}
    protocol |= {"readerFeatures": ["deletionVectors"]}
    protocol |= {"writerFeatures": ["deletionVectors", "invariants", "appendOnly"]}
    actions = [{"protocol": protocol}, {"metaData": metadata}]
    (log / f"{1:020d}.json").write_text("\n".join(map(json.dumps, actions)))
    as_of_before(warehouse)
    create(warehouse)
    configuration = opened(warehouse, "state.groups").metadata().configuration
    assert configuration["delta.enableDeletionVectors"] == "true"
    assert configuration["delta.logRetentionDuration"] == "interval 1 days"
    assert "delta.constraints.dead_iff_deleted" in configuration
    found = opened(warehouse, "state.groups").protocol()
    assert set(found.writer_features) == {*protocol["writerFeatures"], "checkConstraints"}
    assert found.reader_features == ["deletionVectors"]


def test_a_table_that_an_earlier_version_lost_is_named(
    warehouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (warehouse / "state" / "groups").rename(warehouse / "state" / "gone")
    as_of_before(warehouse)
    with pytest.raises(MoldauError, match=r"state\.groups is missing"):
        create(warehouse)
    assert not (warehouse / SCHEMA).exists()


def test_databases_that_are_views_by_now_are_removed(warehouse: Path) -> None:
    (warehouse / "mine").mkdir()
    create(warehouse)
    assert not (warehouse / "marts").exists()
    assert (warehouse / "mine").exists()


@pytest.mark.parametrize("after", [0, 1, 30])
def test_making_and_growing_can_be_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    """A KeyboardInterrupt comes wherever a kill may."""
    commits = iter(range(after))
    write_commit = creating.write_commit

    def killed(*arguments: Any) -> None:
        if next(commits, None) is None:
            raise KeyboardInterrupt
        write_commit(*arguments)

    new, old = tmp_path / "new", unpack(tmp_path)
    for warehouse in (new, old):
        with monkeypatch.context() as patch:
            patch.setattr(creating, "write_commit", killed)
            with pytest.raises(KeyboardInterrupt):
                create(warehouse)
        commits = iter(range(after))
        assert is_initialised(warehouse) is (warehouse == old)
        create(warehouse)
        check(warehouse)


def test_an_init_that_was_killed_among_its_renames_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename = Path.rename
    renamed: list[Path] = []

    def killed(self: Path, target: Path) -> Path:
        if "new" in self.parts and len(renamed) == 20:
            raise KeyboardInterrupt
        renamed.append(target)
        return rename(self, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", killed)
        with pytest.raises(KeyboardInterrupt):
            create(tmp_path / "w")
    assert not is_initialised(tmp_path / "w")
    assert len(create(tmp_path / "w")) == len(tables()) - 20
    check(tmp_path / "w")


@pytest.mark.parametrize("form", ["number", "note"])
def test_a_warehouse_of_a_later_version_is_refused_in_a_line(warehouse: Path, form: str) -> None:
    before = versions(warehouse)
    if form == "number":
        later = dataclasses.replace(present_schema(), number=NUMBER + 1)
        write_note(warehouse / SCHEMA, later)
    else:
        (warehouse / SCHEMA).write_text(json.dumps({"version": 9, "schema": [1, 2]}))
    for use in (create, check, moldau.connect):
        with pytest.raises(MoldauError, match="is of a later version of moldau") as caught:
            use(warehouse)
        assert "\n" not in str(caught.value)
    assert versions(warehouse) == before


@pytest.mark.parametrize("torn", ["", "{", "[]", '{"version": 1}', "\0"])
def test_a_torn_note_lets_the_warehouse_grow_again(warehouse: Path, torn: str) -> None:
    (warehouse / SCHEMA).write_text(torn)
    before = versions(warehouse)
    create(warehouse)
    assert versions(warehouse) == before
    assert read_schema(warehouse) == present_schema()


def test_no_run_of_an_earlier_version_stands_still(tmp_path: Path) -> None:
    """What it noted it noted on other tables: a session lets them grow first."""
    warehouse = unpack(tmp_path)
    settings = load_settings(None, warehouse)
    assert (warehouse / "_moldau" / "idle" / "cycle.json").exists()
    assert idle_run(settings, "cycle", [], 9_999_999_999_999, is_dry_run=True) is None


def test_doctor_finds_an_earlier_version_no_damage(tmp_path: Path) -> None:
    findings = [f for f in examine(unpack(tmp_path)) if f.check in ("schema", "table", "data")]
    assert [f.is_fine for f in findings] == [True, True]
    assert "of an earlier version" in findings[0].message


@pytest.mark.parametrize("words", [["show", "marts.groups"], ["status"]])
def test_readers_that_need_more_than_an_earlier_version_wrote_say_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    warehouse = unpack(tmp_path)
    assert run([*words, "--warehouse", str(warehouse)]) == 1
    told = f"moldau: {warehouse} is of an earlier version of moldau: `moldau init` lets it grow up"
    assert capsys.readouterr().err == f"{told}\n"
