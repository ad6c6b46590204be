"""When DuckDB makes models; its merges beside other writers: what they wrote decides, too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from log_support import Log
from spark_support import change, fold_records, in_spark, rows, spark_of

from moldau.compiled.dbt import DbtError
from moldau.engines.duckdb import models as duckdb_models
from moldau.engines.engine import EngineName
from moldau.engines.sizes import duckdb_bytes
from moldau.sessions import open_run as opening
from moldau.sessions.run import Run
from moldau.sessions.session import Session
from moldau.warehouse.damage import open_table
from moldau.warehouse.merge import ChangedMeanwhileError, SeveralChangesError, merge
from moldau.warehouse.verify import has_checksums

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("named", ["auto", "spark", "duckdb"])
@pytest.mark.parametrize("more", [-1, 0])
def test_the_engine_is_the_one_that_is_named_or_suits_the_size(
    session: Session, monkeypatch: pytest.MonkeyPatch, more: int, named: EngineName
) -> None:
    """Of tables and of what is brought."""
    one = Run(opening.next_run_id(session, "compare"), "compare", ["big"], 0)
    monkeypatch.setattr(opening, "bytes_read", lambda _: duckdb_bytes() + more - 7)
    monkeypatch.setattr(session, "settings", session.settings.model_copy(update={"engine": named}))
    opening.open_run(session, one, bytes_brought=7)
    expected = {-1: "duckdb", 0: "spark"}[more] if named == "auto" else named
    assert one.engine == expected
    assert session.engines.at_hand is getattr(session.engines, expected)


def test_rows_that_spark_wrote_are_found_by_long_keys(session: Session) -> None:
    """Statistics of Spark's files hold 32 characters of a text."""
    names = [
        f"{beginning * 50}{end}" for beginning in ("x", "é", "\U0010ffff") for end in ("", "a", "b")
    ]
    log = Log()
    for engine in (in_spark(session), session):
        for name in names:
            log.streams(name, stored=3)
        fold_records(engine, {"long keys": log.records})
    counted = "select count(*), count(distinct group_id) from state.groups"
    assert rows(session, f"{counted} where cluster_id = 'long keys'") == [(len(names), len(names))]


def test_nested_values_that_spark_wrote_stay_as_they_are(session: Session) -> None:
    """A file is written anew for one row of it."""
    table, key = "state.local_segments", ("cluster_id", "topic_id", "partition_index", "broker_id")
    spark = spark_of(session, table)
    spark.sql(
        f"""
        insert into {table} by name
        select /*+ coalesce(1) */
            'nested' as cluster_id, topic_id, 'was' as topic_name, 0 as partition_index,
            1 as broker_id, segments, '1' as run_id, '1' as changed_in_run_id
        from values
            ('none', array()),
            ('two', array(
                named_struct(
                    'base_offset', 1L, 'size_bytes', 2L, 'max_timestamp_ms', 3L,
                    'is_active', true, 'record_count', cast(null as bigint)
                ),
                null
            ))
            as v (topic_id, segments)
        """
    )
    asked = f"select * from {table} where cluster_id = 'nested' order by topic_id"
    before = spark.sql(asked).collect()
    for topic, name in (("none", "is"), ("two", "is"), ("none", "was"), ("two", "was")):
        changed = f"select * except (topic_name), '{name}' as topic_name, 'update' as _action"
        found = session.engines.duckdb.arrow(f"{changed} from ({asked}) where topic_id = '{topic}'")
        version = open_table(session.warehouse / "state" / "local_segments").version()
        merge(session.warehouse, table, key, found.to_batches(), version)
    assert spark.sql(asked).collect() == before
    assert rows(session, asked) == rows(in_spark(session), asked)
    change(session, f"delete from {table} where cluster_id = 'nested'")


def test_a_merge_that_another_writer_outran_is_decided_anew(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A group that a sweep removed meanwhile, after all of these records, stays removed."""
    log = Log()
    log.streams("g", stored=3)
    fold_records(session, {"outrun": log.records})
    log.streams("g", stored=5)
    merge, tables = duckdb_models.merge, []

    def outrun(warehouse: Any, table: str, *rest: Any) -> None:
        if table == "state.groups" and table not in tables:
            change(
                session,
                "update state.groups set is_deleted = true, group_state = 'DEAD', "
                "deleted_by = 'sweep', deleted_run_id = 'another', log_offset = log_offset + 100 "
                "where cluster_id = 'outrun'",
            )
        tables.append(table)
        merge(warehouse, table, *rest)

    with monkeypatch.context() as patch:
        patch.setattr(duckdb_models, "merge", outrun)
        fold_records(session, {"outrun": log.records})
    assert tables.count("state.groups") == 2
    state = "select group_state, deleted_run_id from state.groups where cluster_id = 'outrun'"
    assert rows(session, state) == [("DEAD", "another")]


@pytest.mark.parametrize(
    ("raised", "told"),
    [
        (ChangedMeanwhileError(), "is changed by others all the time"),
        (SeveralChangesError("several rows change one"), ": several rows change one"),
    ],
)
def test_a_merge_that_cannot_be_made_is_a_failure_of_the_model(
    session: Session, monkeypatch: pytest.MonkeyPatch, raised: Exception, told: str
) -> None:
    def refuse(*_: Any) -> None:
        raise raised

    log = Log()
    log.streams("g", stored=3)
    monkeypatch.setattr(duckdb_models, "merge", refuse)
    with pytest.raises(DbtError, match=told):
        fold_records(session, {"cannot be merged": log.records})


def test_spark_writes_checksums_and_looks_at_them(session: Session, tmp_path: Path) -> None:
    spark = spark_of(session, "state.groups")
    spark.sql("select id, uuid() as u from range(500)").coalesce(1).write.parquet(f"{tmp_path}/t")
    [path] = (tmp_path / "t").glob("*.parquet")
    assert has_checksums(path)
    rows = spark.read.parquet(str(path))
    assert rows.count() == 500
    column = pq.ParquetFile(path).metadata.row_group(0).column(1)
    place = column.dictionary_page_offset or column.data_page_offset
    data = bytearray(path.read_bytes())
    data[place + column.total_compressed_size - 3] ^= 1
    path.write_bytes(data)
    (path.parent / f".{path.name}.crc").unlink(missing_ok=True)  # Hadoop's own, of the whole file
    with pytest.raises(Exception, match=r"(?i)crc|checksum|corrupt"):
        rows.collect()
