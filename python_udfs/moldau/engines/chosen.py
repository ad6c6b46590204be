"""Which of the two engines makes the models of a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from moldau.engines.duckdb.models import DuckDBModels
from moldau.engines.engine import Engine, EngineName
from moldau.engines.sizes import duckdb_bytes, small_bytes
from moldau.engines.spark.models import SparkModels

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def is_for_spark(named: EngineName, size: int, needs_spark: bool = False) -> bool:
    """Whether Spark is to make models that read `size` bytes, and not DuckDB; the rest as for
    `Engines.begin`."""
    return needs_spark or named == "spark" or (named == "auto" and size >= duckdb_bytes())


class Engines:
    """Both of them, and the one at hand: that of the run that is open."""

    def __init__(self, warehouse: Path, start_spark: Callable[[], SparkSession]) -> None:
        self.spark = SparkModels(warehouse, start_spark)
        self.duckdb = DuckDBModels(warehouse)
        self.at_hand: Engine = self.duckdb

    def begin(
        self, brought: Mapping[str, str], size: int, named: EngineName, needs_spark: bool
    ) -> EngineName:
        """Open a run with what it brings (view of `run.*` -> query in Spark's SQL).

        `size`: bytes that it reads; `named`: `auto`, or an engine whatever they are; `needs_spark`:
        whatever was named, for settings say what DuckDB would read otherwise, or nobody holds the
        lock of the warehouse: only Spark's MERGE notices every other writer. Gives the engine.
        """
        is_sparks = is_for_spark(named, size, needs_spark)
        self.at_hand = self.spark if is_sparks else self.duckdb
        self.at_hand.begin(brought, size < small_bytes())
        return "spark" if is_sparks else "duckdb"
