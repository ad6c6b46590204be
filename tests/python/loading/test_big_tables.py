"""A big table is merged in two commits, and with the same outcome."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pytest
from log_support import Log
from spark_support import change, decoded_table, in_spark, parquet_of, rows, spark_of, with_clusters

from moldau.sessions.open_run import next_run_id, open_run
from moldau.sessions.run import Run
from moldau.sessions.session import Session
from moldau.warehouse.damage import open_table
from moldau.warehouse.merge import ChangedMeanwhileError, merge
from moldau.warehouse.opened import deleted_rows

pytestmark = pytest.mark.spark

FOLDED, DECIDED = "state.group_offsets", "decisions.offset_expirations"
# 26 MB that do not compress, of another cluster
NOISE = "array_join(transform(sequence(1, 20), i -> sha2(concat(id, '-', i), 256)), '')"
BALLAST = {
    FOLDED: f"""
        'ballast' as cluster_id, concat('g-', id) as group_id, 't' as topic_name,
        0 as partition_index, {NOISE} as metadata, 1L as committed_offset, false as is_deleted,
        true as is_readable, 1L as commit_at_ms, id as commit_log_offset,
        -1L as tombstone_log_offset, '00000000-load' as changed_in_run_id""",
    DECIDED: f"""
        'ballast' as cluster_id, {NOISE} as group_id, 't' as topic_name, 0 as partition_index,
        '00000000-sweep' as run_id, 'kafka_4_4' as ruleset, 'hash' as settings_hash,
        'keep' as decision, 'SUBSCRIBED' as reason_code, '00000000-sweep' as changed_in_run_id,
        1L as decided_at_ms""",
}


@pytest.fixture(scope="module")
def ballast(session: Session) -> Iterator[Session]:
    for table, columns in BALLAST.items():
        spark_of(session, table).sql(
            f"insert into {table} by name select {columns} from range(20000)"
        )
    yield session
    for table in (*BALLAST, "state.groups"):
        spark_of(session, table).sql(f"delete from {table} where cluster_id in ('ballast', 'big')")


def fold_offsets(session: Session, log: Log) -> None:
    run = Run(next_run_id(session, "load"), "load", ["big"], 0, load_kind="records")
    open_run(in_spark(session), run)
    relation = parquet_of(session, decoded_table({"big": log.records}))
    session.bring("records", f"select *, 'x' as run_id from {relation}")
    session.run_models("fold_group_offsets")


def last_commits(session: Session, table: str, count: int) -> list[tuple[object, ...]]:
    history = spark_of(session, table).sql(f"describe history {table} limit {count}").collect()
    return [(row.version, row.operation) for row in history]


def folded(session: Session) -> list[tuple[object, ...]]:
    columns = "topic_name, committed_offset, is_deleted, commit_log_offset"
    return rows(session, f"select {columns} from {FOLDED} where cluster_id = 'big' order by 1")


def test_a_fold_is_finished_after_a_kill_between_its_commits(ballast: Session) -> None:
    log = Log()
    for topic in ("kept", "committed again", "removed"):
        log.commit("g", topic)
    fold_offsets(ballast, log)
    assert last_commits(ballast, FOLDED, 1)[0][1] == "WRITE", "nothing to change"
    log.commit("g", "committed again", offset=6)
    log.remove_commit("g", "removed")
    log.commit("g", "new")
    fold_offsets(ballast, log)
    expected = [
        ("committed again", 6, False, 3),
        ("kept", 5, False, 0),
        ("new", 5, False, 5),
        ("removed", 5, True, 2),
    ]
    assert folded(ballast) == expected
    (_, inserted), (version, merged) = last_commits(ballast, FOLDED, 2)
    assert (merged, inserted) == ("MERGE", "WRITE")
    spark_of(ballast).sql(f"restore table {FOLDED} to version as of {version}")
    assert folded(ballast) == [row for row in expected if row[0] != "new"]
    fold_offsets(ballast, log)
    assert folded(ballast) == expected
    assert last_commits(ballast, FOLDED, 1)[0][1] == "WRITE", "what was merged is not merged again"


def test_decisions_are_changed_deleted_and_inserted(ballast: Session) -> None:
    session = with_clusters(ballast, {"big": "{}"})
    log = Log()
    for topic in ("decided", "removed", "new"):
        log.commit("due", topic)
    log.remove_commit("due", "removed")
    fold_offsets(session, log)
    spark_of(session, "state.groups").sql(
        "insert into state.groups by name select 'big' as cluster_id, 'due' as group_id, "
        "0 as offsets_partition_index, 'streams' as group_type, 'EMPTY' as group_state, "
        "1 as group_epoch, 1 as topology_epoch, -1 as stored_description_topology_epoch, "
        "-1 as failed_description_topology_epoch, 0 as member_count, false as is_deleted, "
        "true as is_readable, 1L as log_offset, -1L as tombstone_log_offset, "
        "1L as last_commit_log_offset, '00000001-load' as changed_in_run_id"
    )
    spark_of(session, DECIDED).sql(
        f"insert into {DECIDED} by name select 'big' as cluster_id, 0 as partition_index, "
        "'old' as run_id, 'old' as changed_in_run_id, 'kafka_4_4' as ruleset, 'h' as settings_hash,"
        " 1L as decided_at_ms, 'keep' as decision, 'SUBSCRIBED' as reason_code, * from values "
        "('due', 'decided'), ('due', 'removed'), ('not due', 'decided') as v (group_id, topic_name)"
    )
    run = Run(next_run_id(session, "sweep"), "sweep", ["big"], 2, is_dry_run=True)
    open_run(in_spark(session), run)
    session.run_models("int_groups__offset_expirations_decided")
    decided = (
        "select group_id, topic_name, run_id, reason_code, previous_reason_code "
        f"from {DECIDED} where cluster_id = 'big' order by 1, 2"
    )
    expected = [
        ("due", "decided", run.run_id, "RETENTION_NOT_ELAPSED", "SUBSCRIBED"),
        ("due", "new", run.run_id, "RETENTION_NOT_ELAPSED", None),
        ("not due", "decided", "old", "SUBSCRIBED", None),
    ]
    assert rows(session, decided) == expected
    assert [row[1] for row in last_commits(session, DECIDED, 2)] == ["WRITE", "MERGE"]
    open_run(in_spark(session), Run("99999999-sweep", "sweep", ["big"], 3, is_dry_run=True))
    session.run_models("int_groups__offset_expirations_decided")
    assert rows(session, decided) == expected, "what says the same keeps its run"


def test_what_deletion_vectors_hide_stays_hidden_where_duckdb_writes(session: Session) -> None:
    """A table that was big has them; Delta's own library writes the files anew without the rows."""
    table, key = "state.topology_backoffs", ("cluster_id", "group_id")
    folder = session.warehouse / "state" / "topology_backoffs"
    spark = spark_of(session, table)
    spark.sql(f"alter table {table} set tblproperties ('delta.enableDeletionVectors' = 'true')")
    numbers = "topology_epoch, attempts, next_attempt_at_ms, armed_at_ms, armed_log_offset"
    spark.sql(
        f"insert into {table} (cluster_id, group_id, changed_in_run_id, {numbers}) "
        "select /*+ coalesce(1) */ 'hidden', group_id, '1', 1, 1, 1, 1, 1 "
        "from (values ('kept'), ('gone'), ('changed')) as v (group_id)"
    )
    spark.sql(f"delete from {table} where cluster_id = 'hidden' and group_id = 'gone'")
    opened = open_table(folder)
    assert sum(len(numbers) for numbers in deleted_rows(opened).values()) == 1
    asked = f"select * from {table} where cluster_id = 'hidden' and group_id = 'changed'"
    changed = session.engines.duckdb.arrow(asked.replace("*", "*, 'update' as _action"))

    def outrun() -> Iterator[pa.RecordBatch]:
        yield from changed.to_batches()
        spark.sql(
            f"insert into {table} (cluster_id, group_id, changed_in_run_id, {numbers}) "
            "values ('hidden', 'late', '1', 1, 1, 1, 1, 1)"
        )

    with pytest.raises(ChangedMeanwhileError):
        merge(session.warehouse, table, key, outrun(), opened.version())
    merge(session.warehouse, table, key, changed.to_batches(), opened.version() + 1)
    assert not deleted_rows(open_table(folder)), "the file is written anew"
    left = f"select group_id from {table} where cluster_id = 'hidden' order by 1"
    assert rows(session, left) == [("changed",), ("kept",), ("late",)]
    opened = open_table(folder)  # it may still have such vectors, but has none
    changed = session.engines.duckdb.arrow(asked.replace("*", "*, 'delete' as _action"))
    merge(session.warehouse, table, key, changed.to_batches(), opened.version())
    assert rows(session, left) == [("kept",), ("late",)]
    change(session, f"delete from {table} where cluster_id = 'hidden'")
