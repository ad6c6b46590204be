"""Tell Spark's in-memory catalog where the warehouse's tables lie."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from moldau.warehouse.contracts import tables
from moldau.warehouse.paths import LISTS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

VIEWS = ("run", "staging", "intermediate", "marts")
_told: WeakKeyDictionary[SparkSession, Path] = WeakKeyDictionary()  # of all databases


def register_databases(spark: SparkSession, warehouse: Path) -> None:
    """Where each database lies, once a session: else Spark, or dbt, would make a folder for it."""
    if _told.get(spark) == warehouse:
        return
    for name in VIEWS:
        register_database(spark, name, warehouse / LISTS)
    for name in sorted({table.database for table in tables().values()} - set(VIEWS)):
        register_database(spark, name, warehouse / name)
    _told[spark] = warehouse


def register(spark: SparkSession, warehouse: Path, names: Iterable[str]) -> None:
    """Register these tables, `database.table`, of a warehouse that exists; nothing is created."""
    ordered = sorted(set(names))
    if _told.get(spark) != warehouse:
        for database in dict.fromkeys(name.split(".")[0] for name in ordered):
            register_database(spark, database, warehouse / database)
    for name in ordered:
        folder = warehouse.joinpath(*name.split(".", 1))
        spark.sql(f"create table if not exists {name} using delta location '{_quoted(folder)}'")


def register_database(spark: SparkSession, name: str, folder: Path) -> None:
    spark.sql(f"create schema if not exists {name} location '{_quoted(folder)}'")


def _quoted(path: Path) -> str:
    return str(path).replace("\\", "\\\\").replace("'", "\\'")
