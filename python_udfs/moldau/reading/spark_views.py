"""The marts as views of Spark's catalog."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from moldau.engine.literals import literal
from moldau.reading.table_status import table_status_sql
from moldau.reading.views import PARAMETERS, SCHEMA, TABLE_STATUS, parameters_sql, views_under
from moldau.warehouse.paths import RUN_VIEWS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def make_marts(
    spark: SparkSession, warehouse: Path, names: Iterable[str], at_ms: int | None = None
) -> None:
    """Make these marts (`marts.groups`), and what they read, on tables that are registered.

    `at_ms`: their clock; None = whenever they are asked.
    """
    views = views_under(names)
    folder = literal(str(warehouse / RUN_VIEWS))  # views need none, but a schema has one
    for schema in (SCHEMA, "marts"):
        spark.sql(f"create schema if not exists {schema} location {folder}")
    spark.sql(f"create or replace view {PARAMETERS} as {parameters_sql(at_ms)}")
    if any(TABLE_STATUS in view.views for view in views):
        spark.sql(f"create or replace view {TABLE_STATUS} as {table_status_sql(warehouse)}")
    made = {f"{row.namespace}.{row.viewName}" for row in _views_of(spark)}
    for view in views:
        if view.name not in made:
            spark.sql(f"create view {view.name} as {view.spark_sql}")


def _views_of(spark: SparkSession) -> list[Any]:
    return [
        row for name in (SCHEMA, "marts") for row in spark.sql(f"show views in {name}").collect()
    ]
