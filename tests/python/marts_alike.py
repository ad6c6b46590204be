"""What Spark and DuckDB say in every mart of a warehouse."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from spark_support import compact, spark_of

from moldau.project import ROOT
from moldau.reading.query import table_rows
from moldau.reading.spark import ask_spark, rows_of
from moldau.reading.table_status import table_status_sql
from moldau.reading.values import plain
from moldau.reading.views import PARAMETERS, TABLE_STATUS, parameters_sql, views_under
from moldau.sessions.session import Session
from moldau.warehouse.contracts import marts

MANY_VIEWS = 15


def compared(domain: str) -> list[str]:
    """The marts of a domain, or of all, that both engines run."""
    folders = [ROOT / "models" / "marts" / folder for folder in (domain, "run")]
    names = {file.stem for folder in folders for file in folder.glob("*.sql")}
    both = {name: mart for name, mart in marts().items() if mart.engine != "spark"}
    return [name for name, mart in both.items() if mart.name in names]


def differences(session: Session, domain: str, at_ms: int) -> dict[str, list[str]]:
    """Mart -> the first rows that only one engine has, as printed."""
    found = {}
    compact(session)
    for name, spark_columns, spark_rows in said_by_spark(session, compared(domain), at_ms):
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
    """Marts, their columns and rows.

    Those of many views take Spark long to plan, and share most of them: these are made once, and
    only one of the marts is asked for whole, as people ask.
    """
    heavy = [name for name in names if len(views_under([name])) > MANY_VIEWS]
    yield from _said_step_by_step(session, heavy, at_ms)
    for name in [*heavy[-1:], *(name for name in names if name not in heavy)]:
        columns, rows = ask_spark(session.warehouse, f"from {name}", at_ms)
        yield name, columns, list(rows)


def _said_step_by_step(
    session: Session, names: Sequence[str], at_ms: int
) -> Iterator[tuple[str, list[str], list[Any]]]:
    spark = spark_of(session)
    spark.sql("create schema if not exists alike")
    clock, status = parameters_sql(at_ms), table_status_sql(session.warehouse)
    for brought, sql in ((PARAMETERS, clock), (TABLE_STATUS, status)):
        spark.sql(f"create or replace view {_apart(brought)} as {sql}")
    with tempfile.TemporaryDirectory() as folder:
        for view in views_under(names):
            place = Path(folder) / view.name
            spark.sql(_apart(view.spark_sql)).coalesce(1).write.parquet(str(place))
            made = f"select * from parquet.`{place}`"
            spark.sql(f"create or replace view {_apart(view.name)} as {made}")
            if view.name in names:
                frame = spark.sql(made)
                yield view.name, frame.columns, rows_of(frame)


def _apart(sql: str) -> str:
    """On views of this comparison, in place of those of the session."""
    return re.sub(r"(?<![\w.'\"`])(reading|marts)\.(\w+)\b", r"alike.\1__\2", sql)


def printed(rows: Any) -> list[str]:
    """As JSON; entries of maps have no order."""
    return sorted(json.dumps(plain(list(row)), sort_keys=True) for row in rows)
