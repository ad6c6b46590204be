"""What Spark and DuckDB say in every mart of a warehouse, whatever its snapshots tell."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
from deltalake import write_deltalake
from pyspark.sql.types import StructType

from moldau.engines.spark.answers import rows_of
from moldau.engines.spark.spark_session import suit_to
from moldau.project import ROOT
from moldau.reading.tables.duckdb_views import connect_duckdb
from moldau.reading.tables.in_spark import ask_spark
from moldau.reading.tables.query import table_rows
from moldau.reading.tables.told import told
from moldau.reading.tables.values import plain
from moldau.reading.tables.views import (
    PARAMETERS,
    SCHEMAS,
    tables_under,
    views_under,
)
from moldau.sessions.session import Session
from moldau.warehouse.contracts import marts, tables
from moldau.warehouse.parameters import of_a_reader


def compared(*domains: str) -> list[str]:
    """The marts of these folders that both engines run."""
    folders = [ROOT / "models" / "marts" / domain for domain in domains]
    names = {file.stem for folder in folders for file in folder.glob("*.sql")}
    both = {name: mart for name, mart in marts().items() if mart.engine != "spark"}
    return [name for name, mart in both.items() if mart.name in names]


def bring_odd_snapshots(session: Session) -> None:
    """Followers, several leaders and no rows, among the snapshots of all that tests have left.

    Seven partitions of eight, whatever domain they are of, are told otherwise than they were; all
    at the same time, so that of two leaders only the epoch says which one leads.
    """
    states = "state.partition_states"
    table = connect_duckdb(session.warehouse, [states]).sql(f"from {states}").to_arrow_table()
    partitions: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in table.to_pylist():
        key = (row["cluster_id"], row["topic_name"], row["partition_index"])
        partitions.setdefault(key, []).append(row)
    told = [
        row
        for number, key in enumerate(sorted(partitions))
        for row in _told_otherwise(partitions[key], number % 8)
    ]
    path = session.warehouse.joinpath(*states.split("."))
    write_deltalake(path, pa.Table.from_pylist(told, table.schema), mode="overwrite")


def _told_otherwise(rows: list[dict[str, Any]], way: int) -> list[dict[str, Any]]:
    row = rows[0]
    epoch = row["leader_epoch"] or 0
    offsets = {name: row[name] for name in row if name.endswith(("_offset", "_watermark"))}
    moved = {
        name: None if offset is None else max(offset - 3, 0) for name, offset in offsets.items()
    }
    another = row | moved | {"broker_id": 1_000, "is_leader": True}
    if way == 1:
        return [*rows, another | {"is_leader": False, "leader_epoch": epoch + 9}]
    if way == 2:
        return [*rows, another | {"leader_epoch": -1}]
    if way == 3:
        return [*rows, another | {"leader_epoch": epoch}]
    if way == 4:
        return [another | {"leader_epoch": epoch + 1}, *rows]
    if way == 5:
        return [row | {"is_leader": False} for row in [*rows, another]]
    if way == 6:
        return [one | {"leader_epoch": None} for one in [another, *rows]]
    return [] if way == 7 else rows


def differences(session: Session, at_ms: int, *domains: str) -> dict[str, list[str]]:
    """Mart -> the first rows that only one engine has, as printed."""
    found = {}
    for name, spark_columns, spark_rows in said_by_spark(session, compared(*domains), at_ms):
        duckdb = table_rows(session.warehouse, name, at_ms=at_ms)
        assert list(duckdb.columns) == spark_columns, name
        ours = {"spark": printed(spark_rows), "duckdb": printed(duckdb.rows)}
        if ours["spark"] != ours["duckdb"]:
            found[name] = [
                f"{engine} alone: {row}"
                for engine, other in (("spark", "duckdb"), ("duckdb", "spark"))
                for row in [row for row in ours[engine] if row not in set(ours[other])][:3]
            ]
    return found


def said_by_spark(
    session: Session, names: Sequence[str], at_ms: int
) -> Iterator[tuple[str, list[str], list[Any]]]:
    """Marts, their columns and rows: one of them as people ask, the others step by step.

    Spark plans a whole mart for seconds, and looks through each table's log for each of them. Step
    by step every view is made once, of rows that Spark was given.
    """
    columns, rows = ask_spark(session.warehouse, f"from {names[0]}", at_ms)
    yield names[0], columns, list(rows)
    spark = session.engines.spark.session
    suit_to(spark, is_small=True)
    spark.conf.set("spark.sql.execution.arrow.localRelationThreshold", "0b")

    def give(name: str, rows: pa.Table, schema: StructType | str) -> None:
        frame = spark.createDataFrame(rows if rows.num_rows else [], schema)
        frame.createOrReplaceTempView(_apart(name))

    read = sorted(tables_under(names))
    connection = connect_duckdb(session.warehouse, read)
    for table in read:
        columns = [f"`{column.name}` {column.data_type}" for column in tables()[table].columns]
        give(table, connection.sql(f"from {table}").to_arrow_table(), ", ".join(columns))
    spark.sql(of_a_reader(at_ms)).createOrReplaceTempView(_apart(PARAMETERS))
    views = views_under(names)
    for name, sql in told(session.warehouse, views):
        spark.sql(sql).createOrReplaceTempView(_apart(name))
    readers = Counter(parent for view in views for parent in view.reads)
    for view in views:
        frame = spark.sql(_apart(view.spark_sql))
        if view.name in names or readers[view.name] > 1:
            give(view.name, frame.toArrow(), frame.schema)
        else:
            frame.createOrReplaceTempView(_apart(view.name))
        if view.name in names[1:]:
            yield view.name, frame.columns, rows_of(spark.table(_apart(view.name)))


def _apart(sql: str) -> str:
    """On what this comparison brings, in place of the warehouse's."""
    schemas = "|".join({*SCHEMAS, *(name.split(".")[0] for name in tables())})
    return re.sub(rf"(?<![\w.'\"`])({schemas})\.(\w+)\b", r"alike__\1__\2", sql)


def printed(rows: Any) -> list[str]:
    """As JSON; entries of maps have no order. Without `extreme tiers`, of which each engine has its
    own: sums near 2^63 are not the same in both.
    """
    return sorted(
        json.dumps(plain(list(row)), sort_keys=True) for row in rows if "extreme tiers" not in row
    )
