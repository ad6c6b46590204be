"""Two writers beside each other: no key comes twice, also where nobody holds the lock."""

from __future__ import annotations

import contextlib
import re
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from dbt.adapters.spark.session import Cursor
from log_support import Log
from pyspark.sql.functions import udf
from spark_support import decoded_table, in_spark, parquet_of, rows, spark_of

from moldau.compiled.dbt import DbtError
from moldau.sessions.open_run import next_run_id, open_run
from moldau.sessions.run import Run
from moldau.sessions.run_rows import append_rows
from moldau.sessions.session import Session
from moldau.warehouse.damage import open_table
from moldau.warehouse.upkeep import join_small_files

pytestmark = pytest.mark.spark

TABLE = "state.group_offsets"
BIG = """
    'ballast' as cluster_id, concat('g-', id) as group_id, 't' as topic_name,
    0 as partition_index, 1L as committed_offset, false as is_deleted, true as is_readable,
    array_join(transform(sequence(1, 20), i -> sha2(concat(id, '-', i), 256)), '') as metadata,
    1L as commit_at_ms, id as commit_log_offset, -1L as tombstone_log_offset,
    '00000000-load' as changed_in_run_id"""
OF_ANOTHER = """
    'raced' as cluster_id, 'g' as group_id, 't' as topic_name, 0 as partition_index,
    1L as committed_offset, false as is_deleted, true as is_readable, 1L as commit_at_ms,
    -1L as commit_log_offset, -1L as tombstone_log_offset, '00000000-load' as changed_in_run_id"""


@pytest.fixture(params=["empty", "big"])
def table(request: pytest.FixtureRequest, session: Session) -> Iterator[str]:
    """The table as it is merged in other ways than by a MERGE; put back after the test."""
    version = spark_of(session, TABLE).sql(f"describe history {TABLE} limit 1").collect()[0].version
    spark_of(session, TABLE).sql(f"delete from {TABLE}")
    if request.param == "big":  # 26 MB that do not compress
        spark_of(session, TABLE).sql(f"insert into {TABLE} by name select {BIG} from range(20000)")
    yield request.param
    spark_of(session, TABLE).sql(f"restore table {TABLE} to version as of {version}")


@pytest.fixture
def no_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("moldau.sessions.open_run.is_held", lambda _: False)


def fold_commit(session: Session) -> None:
    log = Log()
    log.commit("g", "t")
    run = Run(next_run_id(session, "load"), "load", ["raced"], 0, load_kind="records")
    open_run(in_spark(session), run)
    relation = parquet_of(session, decoded_table({"raced": log.records}))
    session.bring("records", f"select *, 'x' as run_id from {relation}")
    session.run_models("fold_group_offsets")


def operations_of(session: Session, write: Callable[[Session], None]) -> list[str]:
    before = spark_of(session, TABLE).sql(f"describe history {TABLE} limit 1").collect()[0].version
    write(session)
    history = spark_of(session, TABLE).sql(f"describe history {TABLE} limit 5").collect()
    return [row.operation for row in reversed(history) if row.version > before]


def found(session: Session) -> list[tuple[object, ...]]:
    return rows(session, f"select committed_offset from {TABLE} where cluster_id = 'raced'")


@contextlib.contextmanager
def beside_an_insert(
    session: Session, folder: Path, monkeypatch: pytest.MonkeyPatch, write: Callable[[], object]
) -> Iterator[None]:
    """`write` is done while dbt's statement that inserts reads its rows, and has committed none."""
    reading, go = str(folder / "reading"), str(folder / "go")

    def wait(_: int) -> bool:
        Path(reading).touch()
        deadline = time.monotonic() + 120
        while not Path(go).exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        return True

    spark_of(session).udf.register("waits", udf(wait, "boolean").asNondeterministic())
    execute = Cursor.execute

    def gated(cursor: Cursor, sql: str, *parameters: object) -> None:
        if f"into {TABLE} " in sql and "insert" in sql:
            # one task waits, so that the other writer has a place to work
            sql = re.sub(
                r"\b(using|from) \(\n",
                r"\1 (select * from (select /*+ coalesce(1) */ * from (\n",
                sql,
                count=1,
            )
            sql = re.sub(r"\n\) as s\b", r"\n)) where waits(1)) as s", sql)
        execute(cursor, sql, *parameters)

    def other() -> None:
        deadline = time.monotonic() + 120
        while not Path(reading).exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        try:
            write()
        finally:
            Path(go).touch()

    thread = threading.Thread(target=other, daemon=True)
    with monkeypatch.context() as patch:
        patch.setattr(Cursor, "execute", gated)
        thread.start()
        yield
    thread.join(timeout=120)


@pytest.mark.usefixtures("no_lock")
def test_without_a_lock_a_key_that_another_writer_inserts_meanwhile_comes_once(
    session: Session, table: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def insert() -> None:
        spark_of(session, TABLE).sql(f"insert into {TABLE} by name select {OF_ANOTHER}")

    with (
        pytest.raises(DbtError, match="DELTA_CONCURRENT_APPEND"),
        beside_an_insert(session, tmp_path, monkeypatch, insert),
    ):
        fold_commit(session)
    assert found(session) == [(1,)], "of the other writer"
    assert operations_of(session, fold_commit) == ["MERGE"]
    assert found(session) == [(5,)]


def test_with_the_lock_new_rows_are_inserted_without_a_join(session: Session, table: str) -> None:
    assert operations_of(session, fold_commit)[-1] == "WRITE"
    assert found(session) == [(5,)]


def test_spark_reads_what_was_joined_without_it(session: Session) -> None:
    runs = session.warehouse / "state" / "runs"
    for _ in range(40):
        append_rows(session.warehouse, [Run("", "cycle", ["joined"], 0)])
    join_small_files(open_table(runs))
    spark = spark_of(session, "state.runs")
    history = spark.sql("describe history state.runs limit 50").collect()
    assert "OPTIMIZE" in {row.operation for row in history}
    counted = "select count(distinct run_id) from state.runs where cluster_ids[0] = 'joined'"
    assert [tuple(row) for row in spark.sql(counted).collect()] == [(40,)]
