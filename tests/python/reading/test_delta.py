"""Delta tables through DuckDB: every row of the latest version, and no other."""

from __future__ import annotations

import json
import os
import shutil
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, write_deltalake
from rows_support import Write

from moldau.engines.duckdb.delta_views import create_view, open_duckdb
from moldau.errors import MoldauError
from moldau.reading.tables.duckdb_views import connect_duckdb
from moldau.reading.tables.export import export_table
from moldau.reading.tables.query import Tables, query, table_rows


def test_rows_that_a_deletion_vector_hides_are_left_out(hidden_rows: Path) -> None:
    names = {row[0] for row in table_rows(hidden_rows, "hidden_rows").rows}
    assert len(names) == 19
    assert not names & {"row-3", "row-4", "row-19"}
    assert "row-\0 'quoted' \\ 🦀" in names


def test_a_view_of_some_files_leaves_rows_hidden_in_one_of_all(
    hidden_rows: Path, tmp_path: Path
) -> None:
    name, table = "state.hidden_rows", tmp_path / "state" / "hidden_rows"
    shutil.copytree(hidden_rows, tmp_path, dirs_exist_ok=True)
    log = table / "_delta_log"
    for line in (log / f"{2:020d}.json").read_text().splitlines():
        added = json.loads(line).get("add", {})
        if "deletionVector" in added:  # a second file that hides rows
            shutil.copy(table / added["path"], table / "copy.parquet")
            (log / f"{6:020d}.json").write_text(
                json.dumps({"add": added | {"path": "copy.parquet"}})
            )
    connection = open_duckdb(["state"])
    create_view(connection, tmp_path, name)
    count = "select count(*) from state."
    assert connection.execute(f"{count}hidden_rows").fetchall() == [(19 + 17,)]
    connection.execute(f"alter view {name} rename to all_rows")
    create_view(connection, tmp_path, name, only=["copy.parquet"])
    assert connection.execute(f"{count}hidden_rows").fetchall() == [(17,)]
    assert connection.execute(f"{count}all_rows").fetchall() == [(19 + 17,)]


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


@pytest.mark.parametrize(
    "sql",
    [
        "explain analyze copy (select 42) to '{leak}'",
        "explain (analyze) copy (select 42) to '{leak}'",
        "explain /* select */ analyze -- it\n (format json) copy (select 42) to '{leak}'",
        "explain analyze copy (select 42) to '{data}'",
        "explain analyze create table state.x as select 42",
        "explain set threads = 1",
        "with gone as (delete from _deleted.x returning *) select * from gone",
        "select * from read_text('{secret}')",
        "select * from read_csv('{secret}')",
        "select * from read_parquet('{other}')",
        "select * from '{other}'",
        "select * from glob('{folder}/*')",
        "select * from state.runs where run_id in (select content from read_text('{secret}'))",
        "explain analyze select * from read_blob('{secret}')",
        "select * from sniff_csv('{secret}')",
        "select getenv('HOME')",
        "select * from enable_logging()",
        "from query('copy (select 1) to ''{leak}''')",
        "set threads = 1",
        "pragma threads = 1",
        "reset enable_external_access",
        "load httpfs",
        "install httpfs",
        "export database '{leak}'",
        "call pragma_version()",
        "select '\ud800'",
    ],
)
def test_a_query_reaches_nothing_but_tables(
    tmp_path: Path, warehouse: Path, write: Write, sql: str
) -> None:
    write("state.runs", {"run_id": "1", "counts": []})
    [data] = (warehouse / "state/runs").glob("*.parquet")
    secret, other, leak = (tmp_path / name for name in ("secret.csv", "other.parquet", "leak.csv"))
    secret.write_text("a,b\n1,2\n")
    shutil.copy(data, other)
    names = {"data": data, "secret": secret, "other": other, "leak": leak, "folder": tmp_path}
    with pytest.raises(MoldauError) as refused:
        assert list(query(warehouse, sql.format(**names)).rows) == "an answer"
    assert "\n" not in str(refused.value)
    assert not leak.exists()
    assert data.read_bytes() == other.read_bytes()


@pytest.mark.parametrize(
    "where",
    [
        "run_id in (select content from read_text('/etc/hostname'))",
        "exists (from glob('/etc/*'))",
        "exists (from read_parquet('/nowhere/*.parquet'))",
        "'\ud800' = run_id",
    ],
)
def test_a_condition_reaches_nothing_but_tables(
    tmp_path: Path, warehouse: Path, write: Write, where: str
) -> None:
    write("state.runs", {"run_id": "1", "counts": []})
    for ending in (".parquet", ".csv"):
        with pytest.raises(MoldauError):
            export_table(warehouse, "runs", tmp_path / f"x{ending}", where)
    with pytest.raises(MoldauError):
        table_rows(warehouse, "runs", where).as_dicts()
    assert [path.name for path in tmp_path.iterdir()] == ["warehouse"]


@pytest.mark.parametrize(
    "sql",
    [
        "explain select * from state.runs",
        "explain analyze select * from state.runs",
        "/* one */ explain -- two\n (format json) select * from state.runs",
        "explain (select * from state.runs)",
        "explain analyze (select 'ünï 🦀' from state.runs);",
        "describe state.runs",
        "summarize state.runs",
        "show all tables",
        "from state.runs",
        "(values (1))",
    ],
)
def test_what_only_reads_is_answered(warehouse: Path, write: Write, sql: str) -> None:
    write("state.runs", {"run_id": "1", "counts": []})
    assert list(query(warehouse, sql).rows)


def test_after_a_wrong_question_a_right_one_is_answered(warehouse: Path, write: Write) -> None:
    write("state.runs", {"run_id": "1", "counts": []})
    tables = Tables(warehouse, ["state.runs"])
    for wrong in ("select nope", "select cast(run_id || 'a' as int) from state.runs"):
        with pytest.raises(MoldauError):
            tables.ask(wrong)
        assert tables.ask("select run_id from state.runs") == [{"run_id": "1"}]


@pytest.mark.parametrize("name", ["a b", "it's [1]*?", "x=1", "ünïcode 🦀"])
def test_an_export_may_go_to_an_odd_path(tmp_path: Path, hidden_rows: Path, name: str) -> None:
    shutil.copytree(hidden_rows, tmp_path / name)
    for target in (tmp_path / name / "it's.parquet", Path(os.path.relpath(tmp_path)) / "r.parquet"):
        assert export_table(tmp_path / name, "hidden_rows", target) == 19
        assert pq.read_table(target).num_rows == 19


def test_only_duckdb_knows_where_it_spills(
    hidden_rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That folder is open to every statement: DuckDB's own choice is `.tmp` where one works."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    connection = connect_duckdb(hidden_rows)
    [(folder,)] = connection.execute("select current_setting('temp_directory')").fetchall()
    assert Path(folder).parent == tmp_path
    with pytest.raises(duckdb.PermissionException):
        connection.execute("select * from glob('.tmp/*')")
