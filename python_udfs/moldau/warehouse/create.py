"""Make the warehouse's tables and tell Spark's in-memory catalog where they lie.

A table is created in one atomic statement with its constraints. A table of state that is missing
or damaged is named and refused, never made anew over what is left; marts hold nothing of their
own and are.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from moldau.errors import MoldauError
from moldau.warehouse.contracts import Table, tables
from moldau.warehouse.damage import find_damage, open_table
from moldau.warehouse.paths import RUNS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DERIVED = ("marts", "seeds")  # rebuilt from the rest, so they may be made anew


def is_initialised(warehouse: Path) -> bool:
    return (warehouse / "state" / "runs" / "_delta_log").is_dir()


def create(spark: SparkSession, warehouse: Path) -> list[Table]:
    """Create what is missing of a new warehouse; on one that exists, only register.

    Gives the tables that were made: of a warehouse that exists those that can be rebuilt.
    """
    is_new = not is_initialised(warehouse)
    (warehouse / RUNS).mkdir(parents=True, exist_ok=True)  # where a plain dbt run looks
    for schema in [*dict.fromkeys(table.database for table in tables().values()), "run"]:
        folder = warehouse / ("_moldau/run" if schema == "run" else schema)
        spark.sql(f"create schema if not exists {schema} location '{_quoted(folder)}'")
    # state.runs is made last: its presence says that the others are there
    ordered = sorted(tables().values(), key=lambda table: table.full_name == "state.runs")
    return [
        table
        for table in ordered
        if _is_made(spark, warehouse, table, may_create=is_new or table.database in DERIVED)
    ]


def check(warehouse: Path) -> None:
    """Raise MoldauError when there is no warehouse, or when a table is missing or damaged."""
    if not is_initialised(warehouse):
        raise MoldauError(f"{warehouse} is not a warehouse: `moldau init` creates one")
    for table in tables().values():
        damage = find_damage(warehouse, table)
        if damage:
            raise MoldauError(damage)


def register(spark: SparkSession, warehouse: Path) -> None:
    """Register every table of a warehouse that exists; nothing is created."""
    for table in tables().values():
        register_table(spark, warehouse, table.database, table.name)


def register_table(spark: SparkSession, warehouse: Path, database: str, name: str) -> None:
    folder = warehouse / database
    spark.sql(f"create schema if not exists {database} location '{_quoted(folder)}'")
    spark.sql(
        f"create table if not exists {database}.{name} using delta "
        f"location '{_quoted(folder / name)}'"
    )


def _is_made(spark: SparkSession, warehouse: Path, table: Table, may_create: bool) -> bool:
    """Register the table; true when it had to be made first."""
    folder = warehouse / table.database / table.name
    damage = find_damage(warehouse, table)
    if damage and table.database in DERIVED:
        if folder.exists():
            shutil.rmtree(folder)
    elif damage and (folder.exists() or not may_create):
        raise MoldauError(damage)
    if folder.exists():
        register_table(spark, warehouse, table.database, table.name)
        if table.database not in DERIVED:
            _drop_checks_of_before(spark, folder, table)
        return False
    spark.sql(create_statement(table, folder))
    return True


def _drop_checks_of_before(spark: SparkSession, folder: Path, table: Table) -> None:
    """A check that an earlier version made and this one does not have would stop its writes."""
    prefix = "delta.constraints."
    properties = open_table(folder).metadata().configuration
    found = {name.removeprefix(prefix) for name in properties if name.startswith(prefix)}
    for name in sorted(found - {name.lower() for name in table.checks}):
        spark.sql(f"alter table {table.full_name} drop constraint `{name}`")


def create_statement(table: Table, folder: Path) -> str:
    columns = ", ".join(
        f"{column.name} {column.data_type}"
        + ("" if column.is_nullable else " not null")
        + f" comment '{_escaped(column.description)}'"
        for column in table.columns
    )
    properties = {f"delta.constraints.{name}": check for name, check in table.checks.items()}
    properties |= {
        "delta.checkpointInterval": "50",
        "delta.enableDeletionVectors": "false",  # until a merge finds the table big
    }
    properties |= _statistics(table) | table.properties
    settings = ", ".join(f"'{key}' = '{_escaped(value)}'" for key, value in properties.items())
    return (
        f"create table if not exists {table.full_name} ({columns}) using delta "
        f"location '{_quoted(folder)}' comment '{_escaped(table.description)}' "
        f"tblproperties ({settings})"
    )


def _statistics(table: Table) -> dict[str, str]:
    """Files are pruned by key and by run only; to gather more costs a third of every write."""
    keys = [c.name for c in table.columns if c.name in table.primary_key or "run_id" in c.name]
    if table.database in DERIVED or not keys:
        return {"delta.dataSkippingNumIndexedCols": "0"}
    return {"delta.dataSkippingStatsColumns": ",".join(keys)}


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("'", "\\'")


def _quoted(path: Path) -> str:
    return _escaped(str(path))
