"""moldau: Kafka's lifecycle decisions as Delta Lake tables and dbt models."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["connect"]
__version__ = "0.1.0"


def connect(warehouse: str | Path = "warehouse") -> SparkSession:
    """A Spark session with every table and mart of the warehouse, for notebooks.

    Reads only: nothing is created. What depends on time in the marts is as of each query. One
    warehouse a process, until `spark.stop()`. Raises MoldauError when there is no warehouse,
    another one is open, a table is damaged, or Java is missing.
    """
    from moldau.engines.spark.catalog import register
    from moldau.engines.spark.spark_session import start
    from moldau.reading.tables.spark_views import make_marts
    from moldau.warehouse.contracts import marts, tables
    from moldau.warehouse.create import check

    folder = Path(warehouse).resolve()
    check(folder)
    spark = start(folder)
    register(spark, folder, tables())
    make_marts(spark, folder, marts())
    return spark
