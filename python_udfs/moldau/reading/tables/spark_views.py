"""The marts as views of Spark's catalog."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from moldau.literals import literal
from moldau.reading.tables.told import told
from moldau.reading.tables.views import (
    PARAMETERS,
    SPARK_SCHEMA,
    in_spark,
    views_under,
    whole_sql,
)
from moldau.warehouse.parameters import of_a_reader
from moldau.warehouse.paths import RUN_VIEWS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def make_marts(
    spark: SparkSession, warehouse: Path, names: Iterable[str], at_ms: int | None = None
) -> None:
    """Make these marts (`marts.groups`) on tables that are registered.

    Each is one view that holds what it reads: Spark would analyse a view on views once for every
    path through them. `at_ms`: their clock; None = whenever they are asked.
    """
    names = list(names)
    folder = literal(str(warehouse / RUN_VIEWS))  # views need none, but a schema has one
    for schema in (SPARK_SCHEMA, "marts"):
        spark.sql(f"create schema if not exists {schema} location {folder}")
    spark.sql(f"create or replace view {in_spark(PARAMETERS)} as {of_a_reader(at_ms)}")
    for name, sql in told(warehouse, views_under(names)):
        spark.sql(f"create or replace view {in_spark(name)} as {sql}")
    made = {f"marts.{row.viewName}" for row in spark.sql("show views in marts").collect()}
    for name in names:
        if name not in made:
            spark.sql(f"create view {name} as {whole_sql(name)}")
