"""Delta tables and marts as DuckDB views, without Spark.

A view reads the Parquet files of the table's latest version, lazily and with pruning: rows that a
deletion vector hides are left out, columns that an old file lacks are null, timestamps are UTC.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from moldau.engine.duckdb_sql import MACROS, identifier
from moldau.errors import MoldauError
from moldau.reading.tables.delta_types import duckdb_type, literal
from moldau.reading.tables.names_of import existing_relations, existing_tables
from moldau.reading.tables.opened import deleted_rows, open_latest
from moldau.reading.tables.table_status import table_status_sql
from moldau.reading.tables.views import (
    PARAMETERS,
    SCHEMA,
    TABLE_STATUS,
    View,
    is_view,
    parameters_sql,
    views_under,
)
from moldau.warehouse.damage import DamagedError, data_files
from moldau.warehouse.verify import unreadable_among, without_wildcards

if TYPE_CHECKING:
    from deltalake import DeltaTable
    from duckdb import DuckDBPyConnection


def connect_duckdb(
    warehouse: Path,
    only: Iterable[str] | None = None,
    target: Path | None = None,
    at_ms: int | None = None,
    brought: Sequence[View] = (),
    makes_lists: bool = False,
) -> DuckDBPyConnection:
    """A connection with every table of the warehouse, and every mart, as a view `database.name`.

    It reads the files of these tables, may write `target`, and nothing else: no other file, no
    setting, no extension, no table. `only`: full names of what is wanted (what does not exist is
    left out); None = all. `at_ms`: the clock of the marts; None = now. `brought`: views in the
    place of those that marts are made from. `makes_lists`: what a run computes once is computed
    here, too, where else it is a view. MoldauError if there is no warehouse or a table's log is
    damaged.
    """
    existing = existing_tables(warehouse)
    names = existing_relations(warehouse) if only is None else list(only)
    views = views_under(filter(is_view, names), brought)
    needed = {table for view in views for table in view.tables}
    wanted = [name for name in existing if name in {*names, *needed}]
    connection = open_duckdb([*(name.split(".")[0] for name in existing), "marts"])
    files = [path for name in wanted for path in create_view(connection, warehouse, name)]
    if views:
        _create_marts(connection, warehouse, views, at_ms, makes_lists)
    _confine(connection, [*files, *([] if target is None else [os.path.abspath(target)])])
    begin_reading(connection)
    return connection


def open_duckdb(databases: Iterable[str]) -> DuckDBPyConnection:
    """A connection in UTC with these databases, in which `create_view` makes tables."""
    import duckdb

    connection = duckdb.connect()
    connection.execute("set timezone = 'UTC'")
    for database in dict.fromkeys(["_deleted", *databases]):
        connection.execute(f"create schema {identifier(database)}")
    return connection


def begin_reading(connection: DuckDBPyConnection, is_again: bool = False) -> None:
    """From here on nothing changes a table. `is_again`: after an error, which ends the reading."""
    if is_again:
        connection.execute("rollback")
    connection.execute("begin transaction read only")


def _confine(connection: DuckDBPyConnection, files: list[str]) -> None:
    """No file but these, for ever: settings can no longer be changed.

    What does not fit into memory goes to a folder that nobody can name beforehand.
    """
    spill = Path(tempfile.gettempdir()) / f"moldau-{uuid4().hex}"
    for setting, value in {
        "temp_directory": str(spill),
        "allowed_paths": files,
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "allow_community_extensions": False,
        "python_enable_replacements": False,
        "enable_external_access": False,
        "lock_configuration": True,
    }.items():
        connection.execute(f"set {setting} = ?", [value])


def _create_marts(
    connection: DuckDBPyConnection,
    warehouse: Path,
    views: list[View],
    at_ms: int | None,
    makes_lists: bool,
) -> None:
    for macro in MACROS:
        connection.execute(macro)
    connection.execute(f"create schema {SCHEMA}")
    clock = time.time_ns() // 1_000_000 if at_ms is None else at_ms
    connection.execute(f"create view {PARAMETERS} as {parameters_sql(clock, 'varchar[]')}")
    if any(TABLE_STATUS in view.views for view in views):
        connection.execute(f"create view {TABLE_STATUS} as {table_status_sql(warehouse)}")
    for view in views:
        relation = ".".join(identifier(part) for part in view.name.split("."))
        kind = "table" if makes_lists and view.is_list else "view"
        connection.execute(f"create {kind} {relation} as {view.duckdb_sql}")


def create_view(
    connection: DuckDBPyConnection, warehouse: Path, name: str, opened: DeltaTable | None = None
) -> list[str]:
    """Gives the files that the view reads, in every spelling in which DuckDB asks for them.

    `opened`: the table, if it is open at its latest version.
    """
    table = open_latest(warehouse, name) if opened is None else opened
    fields: list[dict[str, Any]] = json.loads(table.schema().to_json())["fields"]
    deleted = deleted_rows(table)
    is_partitioned = bool(table.metadata().partition_columns)
    files = data_files(table)
    typed = ", ".join(
        f"cast(null as {duckdb_type(f['type'])}) as {identifier(f['name'])}" for f in fields
    )
    parts = [f"select {typed} where false"]
    if whole := [path for path in files if path not in deleted]:
        parts.append(f"select * from {_read_parquet(whole, is_partitioned)}")
    if partly := [path for path in files if path in deleted]:
        vectors = f"_deleted.{identifier(name)}"
        _store(connection, vectors, {path: deleted[path] for path in partly})
        source = _read_parquet(partly, is_partitioned, with_row_numbers=True)
        parts.append(
            f"select * exclude (filename, file_row_number) from {source} as rows "
            f"anti join {vectors} as hidden "
            "on rows.filename = hidden.path and rows.file_row_number = hidden.row_number"
        )
    columns = ", ".join(
        f"cast({identifier(f['name'])} as {duckdb_type(f['type'])}) as {identifier(f['name'])}"
        for f in fields
    )
    database, bare = name.split(".", 1)
    try:
        connection.execute(
            f"create or replace view {identifier(database)}.{identifier(bare)} as "
            f"select {columns} from ({' union all by name '.join(parts)})"
        )
    except Exception as error:
        if damage := unreadable_among(files):
            raise DamagedError(damage) from None
        reason = " ".join(str(error).split())[:300]
        raise MoldauError(f"{name} cannot be read: {reason} (see `moldau doctor`)") from None
    return list(dict.fromkeys([*files, *map(without_wildcards, files)]))


def _store(connection: DuckDBPyConnection, table: str, deleted: dict[str, list[int]]) -> None:
    connection.execute(f"create or replace table {table} (path varchar, row_number bigint)")
    for path, rows in deleted.items():
        connection.execute(f"insert into {table} select ?, unnest(?::bigint[])", [path, rows])


def _read_parquet(files: list[str], is_partitioned: bool, with_row_numbers: bool = False) -> str:
    listed = ", ".join(literal(without_wildcards(path)) for path in files)
    options = f"union_by_name = true, hive_partitioning = {str(is_partitioned).lower()}"
    if with_row_numbers:
        options += ", filename = true, file_row_number = true"
    return f"read_parquet([{listed}], {options})"
