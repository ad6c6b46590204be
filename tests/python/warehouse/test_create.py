"""Tables come with their constraints, and a damaged warehouse is refused, never made anew."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import moldau
from moldau.engine.spark import start
from moldau.errors import MoldauError
from moldau.runs.session import Session
from moldau.warehouse.contracts import tables
from moldau.warehouse.create import create

GROUP = {
    "cluster_id": "'east'",
    "group_id": "'g'",
    "offsets_partition_index": "0",
    "group_type": "'streams'",
    "group_state": "'EMPTY'",
    "group_epoch": "0",
    "topology_epoch": "-1",
    "stored_description_topology_epoch": "-1",
    "failed_description_topology_epoch": "-1",
    "member_count": "0",
    "is_deleted": "false",
    "is_readable": "true",
    "log_offset": "0L",
    "tombstone_log_offset": "-1L",
    "last_commit_log_offset": "-1L",
    "changed_in_run_id": "'run'",
}


@pytest.mark.parametrize(
    ("column", "value", "constraint"),
    [
        ("group_id", "cast(null as string)", "group_id"),
        ("log_offset", "cast(null as bigint)", "log_offset"),
        ("group_type", "'other'", "group_type_is_known"),
        ("is_deleted", "true", "dead_iff_deleted"),
    ],
)
def test_a_row_that_breaks_the_contract_is_refused(
    session: Session, column: str, value: str, constraint: str
) -> None:
    row = GROUP | {column: value}
    selected = ", ".join(f"{expression} as {name}" for name, expression in row.items())
    count = "select count(*) from state.groups"
    before = session.sql(count)
    with pytest.raises(Exception, match=f"(?i){constraint}"):
        session.spark.sql(f"insert into state.groups by name select {selected}")
    assert session.sql(count) == before


def test_every_table_has_the_constraints_of_its_yaml(session: Session) -> None:
    for table in tables().values():
        properties = {
            row.key: row.value for row in session.sql(f"show tblproperties {table.full_name}")
        }
        for name, check in table.checks.items():
            assert properties[f"delta.constraints.{name}".lower()] == check, table.full_name
        nullable = {
            field.name: field.nullable for field in session.spark.table(table.full_name).schema
        }
        assert nullable == {column.name: column.is_nullable for column in table.columns}


def test_a_check_of_an_earlier_version_is_dropped(session: Session) -> None:
    """It would refuse what this version takes, and stop the warehouse for good."""
    of_before = "alter table state.groups add constraint of_before check (log_offset is not null)"
    session.spark.sql(of_before)
    create(session.spark, session.warehouse)
    shown = {row.key for row in session.sql("show tblproperties state.groups")}
    assert "delta.constraints.of_before" not in shown
    assert "delta.constraints.dead_iff_deleted" in shown


@pytest.mark.parametrize("harm", ["empty log", "torn log", "missing table"])
def test_a_damaged_warehouse_is_refused_and_left_alone(
    session: Session, tmp_path: Path, harm: str
) -> None:
    """The table that is looked at first is harmed, so that Spark's catalog sees no other."""
    warehouse = tmp_path / "warehouse"
    first = next(table for table in tables().values() if table.database == "raw")
    for name in (first.full_name, "state.runs"):
        folder = Path(*name.split("."))
        shutil.copytree(session.warehouse / folder, warehouse / folder)
    folder = warehouse / first.database / first.name
    commit = min(folder.glob("_delta_log/*.json"))
    if harm == "empty log":
        commit.write_bytes(b"")
    elif harm == "torn log":
        commit.write_bytes(commit.read_bytes()[:-20])
    else:
        shutil.rmtree(folder)
    before = sorted(warehouse.rglob("*.json"))
    with pytest.raises(MoldauError, match=first.full_name):
        create(session.spark, warehouse)
    assert sorted(warehouse.rglob("*.json")) == before


def test_what_is_no_warehouse_is_named(tmp_path: Path) -> None:
    with pytest.raises(MoldauError, match=f"{tmp_path} is not a warehouse"):
        moldau.connect(tmp_path)


def test_a_session_is_of_one_warehouse(session: Session, tmp_path: Path) -> None:
    """Else a notebook that turns to another warehouse would go on reading this one."""
    with pytest.raises(MoldauError, match=f"has {session.warehouse} open in this process"):
        start(tmp_path)
    tables_open = {
        row.tableName
        for row in moldau.connect(session.warehouse).sql("show tables in state").collect()
    }
    assert "runs" in tables_open
