"""Delta tables as DuckDB views.

A view reads the Parquet files of the table's latest version, lazily and with pruning: rows that a
deletion vector hides are left out, columns that an old file lacks are null, timestamps are UTC.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from moldau.connecting import connect
from moldau.engines.duckdb.delta_types import duckdb_type, literal
from moldau.engines.duckdb.translation import identifier
from moldau.errors import MoldauError
from moldau.warehouse.damage import DamagedError, data_files, path_of
from moldau.warehouse.opened import deleted_rows, open_latest
from moldau.warehouse.verify import unreadable_among, without_wildcards

if TYPE_CHECKING:
    from deltalake import DeltaTable
    from duckdb import DuckDBPyConnection


def open_duckdb(databases: Iterable[str]) -> DuckDBPyConnection:
    """A connection in UTC with these databases, in which `create_view` makes tables."""
    connection = connect()
    for database in dict.fromkeys(["_deleted", *databases]):
        connection.execute(f"create schema {identifier(database)}")
    return connection


def create_view(
    connection: DuckDBPyConnection,
    warehouse: Path,
    name: str,
    opened: DeltaTable | None = None,
    where: str = "true",
    only: Collection[str] | None = None,
) -> list[str]:
    """Gives the files that the view reads, in every spelling in which DuckDB asks for them.

    `opened`: the table, if it is open at its latest version; `where`: only rows for which this
    condition holds; `only`: of these files of the table's folder.
    """
    table = open_latest(warehouse, name) if opened is None else opened
    fields: list[dict[str, Any]] = json.loads(table.schema().to_json())["fields"]
    deleted = deleted_rows(table)
    is_partitioned = bool(table.metadata().partition_columns)
    files = data_files(table)
    if only is not None:
        folder = path_of(table.table_uri).rstrip("/")
        wanted = {f"{folder}/{unquote(path)}" for path in only}
        files = [path for path in files if path in wanted]
    typed = ", ".join(
        f"cast(null as {duckdb_type(f['type'])}) as {identifier(f['name'])}" for f in fields
    )
    parts = [f"select {typed} where false"]
    if whole := [path for path in files if path not in deleted]:
        parts.append(f"select * from {_read_parquet(whole, is_partitioned)}")
    if partly := [path for path in files if path in deleted]:
        vectors = f"_deleted.{identifier(name)}"
        _store(connection, vectors, deleted)  # also what a view of all files needs beside this one
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
            f"select {columns} from ({' union all by name '.join(parts)}) where {where}"
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
