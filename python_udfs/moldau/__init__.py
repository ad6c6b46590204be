"""moldau: Kafka's lifecycle decisions as Delta Lake tables and dbt models."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from polars import DataFrame
    from pyspark.sql import SparkSession

__all__ = ["connect", "sql"]
__version__ = "0.1.0"


def sql(
    query: str, warehouse: str | Path = "warehouse", at: int | str | datetime | None = None
) -> DataFrame:
    """The answer to a query in DuckDB's SQL on all tables and marts, without Spark, for notebooks.

    A DataFrame of Polars, which keeps 64-bit numbers beside null exact; `.to_pandas()` makes the
    other one. `at`: the clock of marts, in Unix milliseconds, as ISO 8601 or a datetime; None =
    now. Reads only.
    Raises MoldauError when there is no warehouse, a table is damaged, or the query is wrong.
    """
    from moldau.instants import parse_instant
    from moldau.reading.tables.frames import frame_of

    at_ms = None if at is None else parse_instant(str(at))
    return frame_of(Path(warehouse).resolve(), query, at_ms)


def connect(warehouse: str | Path = "warehouse", spark: SparkSession | None = None) -> SparkSession:
    """A Spark session with every table and mart of the warehouse, for notebooks.

    Reads only: nothing is created. A mart is made when it is first named. What depends on time in
    the marts is as of each query. One warehouse a process, until `spark.stop()`. Raises
    MoldauError when there is no warehouse, another one is open, a table is damaged, or Java is
    missing.

    `spark`: the session that is there, as on Databricks, or one of a server; None = one is
    started. It must have Delta, gets the settings on which the SQL of marts rests, and has each
    table, too, from when it is first named.
    """
    from moldau.engines.spark.catalog import register
    from moldau.engines.spark.connected import take_over
    from moldau.engines.spark.spark_session import start
    from moldau.reading.tables.lazy_session import lazy_session
    from moldau.warehouse.contracts import marts, tables
    from moldau.warehouse.create import check

    folder = Path(warehouse).resolve()
    check(folder)
    if spark is None:
        spark = start(folder)
        register(spark, folder, tables())
        return lazy_session(spark, folder, marts())
    take_over(spark, folder)
    return lazy_session(spark, folder, [*tables(), *marts()])
