"""Delta tables through DuckDB: every row of the latest version, and no other."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from conftest import Write
from deltalake import DeltaTable, write_deltalake

from moldau.errors import MoldauError
from moldau.reading.delta import connect_duckdb
from moldau.reading.query import query, table_rows


def test_rows_that_a_deletion_vector_hides_are_left_out(hidden_rows: Path) -> None:
    names = {row[0] for row in table_rows(hidden_rows, "hidden_rows").rows}
    assert len(names) == 19
    assert not names & {"row-3", "row-4", "row-19"}
    assert "row-\0 'quoted' \\ 🦀" in names


def test_a_column_that_old_files_lack_is_null_there(hidden_rows: Path) -> None:
    rows = table_rows(hidden_rows, "hidden_rows", "later is not null or name = 'row-5'")
    assert [(row["name"], row["later"]) for row in sorted(rows.as_dicts(), key=str)] == [
        ("row-5", None),
        ("row-late", 9007199254740993),
    ]


def test_values_come_as_what_they_are(hidden_rows: Path) -> None:
    [row] = table_rows(hidden_rows, "state.hidden_rows", "name = 'row-7'").as_dicts()
    assert row["at"] == datetime(2025, 9, 1, 12, 0, 0, 7000, tzinfo=UTC)
    assert (row["topics"], row["counts"], row["bytes"]) == (["a", "7"], {"n": 7}, b"b7")


def test_polars_sees_the_same_rows(hidden_rows: Path) -> None:
    polars = pytest.importorskip("polars")
    ours = sorted(row["name"] for row in table_rows(hidden_rows, "hidden_rows").as_dicts())
    frame = polars.scan_delta(str(hidden_rows / "state" / "hidden_rows")).select("name").collect()
    assert ours == sorted(frame["name"].to_list())


@pytest.mark.parametrize("name", ["a b", "it's [1]*?", "x=1", "ünïcode 🦀"])
def test_the_warehouse_may_have_an_odd_path(tmp_path: Path, hidden_rows: Path, name: str) -> None:
    shutil.copytree(hidden_rows, tmp_path / name)
    answer = query(tmp_path / name, "select count(*), count(topics) from state.hidden_rows")
    assert next(answer.rows) == (19, 18)


def test_an_empty_table_is_a_typed_empty_view(warehouse: Path, write: Write) -> None:
    write("state.runs")
    connection = connect_duckdb(warehouse)
    assert connection.execute("select * from state.runs").fetchall() == []
    types = dict(
        connection.execute(
            "select column_name, data_type from information_schema.columns"
            " where table_name = 'runs'"
        ).fetchall()
    )
    assert types["counts"] == "MAP(VARCHAR, BIGINT)"
    assert types["decided_at_ms"] == "BIGINT"


def test_a_partitioned_table_has_its_partition_column(warehouse: Path) -> None:
    data = pa.table({"bucket": pa.array([1, 2, None], pa.int32()), "name": ["a", "b", "c"]})
    write_deltalake(str(warehouse / "state" / "parted"), data, partition_by=["bucket"])
    answer = query(warehouse, "select bucket, name from state.parted order by name")
    assert list(answer.rows) == [(1, "a"), (2, "b"), (None, "c")]


def test_only_the_latest_version_is_read(warehouse: Path, write: Write) -> None:
    write("state.runs", {"run_id": "1", "counts": []}, {"run_id": "2", "counts": []})
    DeltaTable(str(warehouse / "state" / "runs")).delete("run_id = '1'")
    assert [row["run_id"] for row in table_rows(warehouse, "runs").as_dicts()] == ["2"]


def test_odd_names_survive(warehouse: Path, write: Write) -> None:
    odd = ["", "a'b", 'a"b', "a\\b", "a\0b", "🦀", "x" * 32_768]
    write("state.group_offsets", *({"group_id": name, "cluster_id": "c"} for name in odd))
    rows = table_rows(warehouse, "state.group_offsets").as_dicts()
    assert sorted(row["group_id"] for row in rows) == sorted(odd)


def test_a_missing_warehouse_says_what_to_run(tmp_path: Path) -> None:
    with pytest.raises(MoldauError, match="moldau init --warehouse"):
        table_rows(tmp_path / "nowhere", "marts.groups")


def test_a_name_in_two_databases_is_refused(warehouse: Path, write: Write) -> None:
    write("raw.open_transactions")
    write("state.open_transactions")
    with pytest.raises(MoldauError, match=r"ambiguous: raw\.open_transactions, state\.open_tran"):
        table_rows(warehouse, "open_transactions")


def test_a_table_that_does_not_exist_is_refused(warehouse: Path, write: Write) -> None:
    write("state.runs")
    with pytest.raises(MoldauError, match=r"did you mean state\.runs"):
        table_rows(warehouse, "state.run")
    with pytest.raises(MoldauError, match=r"state\.groups is missing"):
        table_rows(warehouse, "state.groups")


def test_a_torn_log_is_refused(warehouse: Path, write: Write) -> None:
    write("state.runs")
    (warehouse / "state/runs/_delta_log/00000000000000000001.json").touch()
    with pytest.raises(MoldauError, match=r"00000000000000000001\.json is empty"):
        table_rows(warehouse, "runs")


@pytest.mark.parametrize(
    "where",
    ["1 = 1) or (1 = 1", "run_id =", "1 = 1); drop view state.runs; select (1", "nope = 1", ""],
)
def test_a_wrong_condition_is_refused(warehouse: Path, write: Write, where: str) -> None:
    write("state.runs", {"run_id": "1", "counts": []})
    if where.startswith("1 = 1) or"):
        assert len(table_rows(warehouse, "runs", where).as_dicts()) == 1, "still one condition"
        return
    with pytest.raises(MoldauError):
        table_rows(warehouse, "runs", where)


def test_a_condition_may_end_in_a_comment(warehouse: Path, write: Write) -> None:
    write("state.runs", {"run_id": "1", "counts": []})
    assert len(table_rows(warehouse, "runs", "run_id = '1' -- first").as_dicts()) == 1


@pytest.mark.parametrize(
    "sql",
    [
        "create table state.x (a int)",
        "copy (select 1) to '/tmp/never.csv'",
        "select 1; select 2",
        "attach '/tmp/never.db'",
        "",
        "selec 1",
        "select * from state.nowhere",
    ],
)
def test_only_one_query_is_answered(warehouse: Path, write: Write, sql: str) -> None:
    write("state.runs")
    with pytest.raises(MoldauError):
        query(warehouse, sql)


def test_a_query_sees_the_tables_that_it_names(warehouse: Path, write: Write) -> None:
    write("state.runs", {"run_id": "1", "counts": [("rows_new", 5)]})
    write("state.groups", {"group_id": "g"})
    answer = query(
        warehouse,
        'with a as (select * from state."groups") '
        "select a.group_id, r.counts['rows_new'] from a cross join state.runs as r",
    )
    assert list(answer.rows) == [("g", 5)]


def test_the_views_prune_and_project(hidden_rows: Path) -> None:
    connection: duckdb.DuckDBPyConnection = connect_duckdb(hidden_rows)
    plan = connection.execute(
        "explain select name from state.hidden_rows where later > 5"
    ).fetchall()
    assert "counts" not in plan[0][1]
