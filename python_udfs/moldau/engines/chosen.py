"""Which of the two engines makes the models of a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from moldau.engines.duckdb.models import DuckDBModels
from moldau.engines.engine import Engine
from moldau.engines.sizes import DUCKDB_BYTES, small_bytes
from moldau.engines.spark.models import SparkModels

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Engines:
    """Both of them, and the one at hand: that of the run that is open."""

    def __init__(self, warehouse: Path, start_spark: Callable[[], SparkSession]) -> None:
        self.spark = SparkModels(warehouse, start_spark)
        self.duckdb = DuckDBModels(warehouse)
        self.at_hand: Engine = self.duckdb

    def begin(self, brought: Mapping[str, str], size: int, needs_spark: bool) -> None:
        """Open a run with what it brings (view of `run.*` -> query in Spark's SQL).

        `size`: bytes that it reads; `needs_spark`: whatever they are, for settings say so, or
        nobody holds the lock of the warehouse: only Spark's MERGE notices every other writer.
        """
        self.at_hand = self.spark if needs_spark or size >= DUCKDB_BYTES else self.duckdb
        self.at_hand.begin(brought, size < small_bytes())
