"""Tables come with their constraints, and a damaged warehouse is refused, never made anew."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import polars
import pytest
from deltalake import DeltaTable
from spark_support import spark_of

import moldau
from moldau.compiled.dbt import dbt
from moldau.engines.spark.spark_session import start
from moldau.errors import MoldauError
from moldau.sessions.run import Run, row_of
from moldau.sessions.run_rows import append_row
from moldau.sessions.session import Session
from moldau.warehouse.contracts import tables
from moldau.warehouse.create import create
from moldau.warehouse.damage import spark_type
from moldau.warehouse.paths import SCHEMA
from moldau.warehouse.schema import write_schema

pytestmark = pytest.mark.spark

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
    before = spark_of(session, "state.groups").sql(count).collect()
    with pytest.raises(Exception, match=f"(?i){constraint}"):
        spark_of(session).sql(f"insert into state.groups by name select {selected}")
    assert spark_of(session, "state.groups").sql(count).collect() == before


def test_every_reader_finds_what_the_contracts_say(session: Session, tmp_path: Path) -> None:
    create(tmp_path)
    for table in tables().values():
        name, folder = table.full_name, tmp_path / table.database / table.name
        told = [(c.name, plain(c.data_type), c.is_nullable, c.description) for c in table.columns]
        place = f"delta.`{folder}`"
        of_spark = spark_of(session).table(place).schema
        assert told == [
            (f.name, f.dataType.simpleString(), f.nullable, f.metadata.get("comment", ""))
            for f in of_spark
        ], name
        [detail] = spark_of(session).sql(f"describe detail {place}").collect()
        assert detail.description == table.description
        for check_name, check in table.checks.items():
            assert detail.properties[f"delta.constraints.{check_name}"] == check, name

        opened = DeltaTable(str(folder))
        found = json.loads(opened.schema().to_json())["fields"]
        assert told == [
            (f["name"], spark_type(f["type"]), f["nullable"], f["metadata"].get("comment", ""))
            for f in found
        ], name
        assert opened.metadata().description == table.description

        of_polars = polars.scan_delta(str(folder)).collect_schema()
        assert of_polars == {c.name: polars_type(c.data_type) for c in table.columns}, name


def plain(data_type: str) -> str:
    return "".join(data_type.split())


def polars_type(data_type: str) -> Any:
    outer, _, inner = plain(data_type).removesuffix(">").partition("<")
    match outer:
        case "array":
            return polars.List(polars_type(inner))
        case "map":
            return polars.Map(*map(polars_type, inner.split(",")))
        case "struct":
            pairs = [part.split(":") for part in inner.split(",")]
            return polars.Struct({key: polars_type(kind) for key, kind in pairs})
        case _:
            return _OF_POLARS[outer]


_OF_POLARS = {
    "string": polars.String(),
    "int": polars.Int32(),
    "bigint": polars.Int64(),
    "boolean": polars.Boolean(),
    "double": polars.Float64(),
    "binary": polars.Binary(),
    "timestamp": polars.Datetime("us", "UTC"),
}


def test_look_up_tables_hold_what_dbt_seed_writes(session: Session) -> None:
    names = [name for name in tables() if name.startswith("seeds.")]
    written = {
        name: sorted(map(str, spark_of(session, name).sql(f"select * from {name}").collect()))
        for name in names
    }
    assert all(written.values())
    dbt("seed", warehouse=session.warehouse)
    assert written == {
        name: sorted(map(str, spark_of(session, name).sql(f"select * from {name}").collect()))
        for name in names
    }


def test_spark_can_turn_deletion_vectors_on(session: Session, tmp_path: Path) -> None:
    create(tmp_path)
    place = f"delta.`{tmp_path / 'state' / 'runs'}`"
    append_row(tmp_path, row_of(Run("00000001-cycle", "cycle", ["east"], 1)))
    spark_of(session).sql(
        f"alter table {place} set tblproperties ('delta.enableDeletionVectors' = 'true')"
    )
    spark_of(session).sql(f"update {place} set kind = 'sweep'")
    (tmp_path / SCHEMA).unlink()
    create(tmp_path)
    with pytest.raises(Exception, match=r"(?i)status_is_known"):
        spark_of(session).sql(f"update {place} set status = 'odd'")
    [kept] = spark_of(session).sql(f"select * from {place}").collect()
    assert kept.kind == "sweep"


def test_a_check_of_an_earlier_version_is_dropped(session: Session) -> None:
    """It would refuse what this version takes, and stop the warehouse for good."""
    of_before = "alter table state.groups add constraint of_before check (log_offset is not null)"
    spark_of(session, "state.groups").sql(of_before)
    (session.warehouse / SCHEMA).unlink()
    create(session.warehouse)
    shown = {row.key for row in spark_of(session).sql("show tblproperties state.groups").collect()}
    assert "delta.constraints.of_before" not in shown
    assert "delta.constraints.dead_iff_deleted" in shown


@pytest.mark.parametrize("harm", ["empty log", "torn log", "missing table"])
def test_a_damaged_warehouse_is_refused_and_left_alone(
    session: Session, tmp_path: Path, harm: str
) -> None:
    warehouse = tmp_path / "warehouse"
    first = next(table for table in tables().values() if table.database == "raw")
    write_schema(warehouse)
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
        create(warehouse)
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
