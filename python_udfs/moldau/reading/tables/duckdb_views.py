"""Tables and marts as views of one DuckDB connection, without Spark."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from moldau.engines.duckdb.confined import begin_reading, confine
from moldau.engines.duckdb.delta_views import create_view, open_duckdb
from moldau.engines.duckdb.translation import MACROS, identifier
from moldau.reading.tables.names_of import existing_relations, existing_tables
from moldau.reading.tables.told import told
from moldau.reading.tables.views import (
    PARAMETERS,
    SCHEMAS,
    View,
    tables_under,
    views_under,
)
from moldau.warehouse.parameters import of_a_reader

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


def connect_duckdb(
    warehouse: Path,
    only: Iterable[str] | None = None,
    target: Path | None = None,
    at_ms: int | str | None = None,
    brought: Sequence[View] = (),
    makes_lists: bool = False,
    own: Mapping[str, str] = MappingProxyType({}),
    where: Mapping[str, str] = MappingProxyType({}),
    between: Callable[[DuckDBPyConnection], None] | None = None,
) -> DuckDBPyConnection:
    """A connection with every table of the warehouse, and every mart, as a view `database.name`.

    It reads the files of these tables, may write `target`, and nothing else: no other file, no
    setting, no extension, no table. `only`: full names of what is wanted (what does not exist is
    left out); None = all. `at_ms`: the clock of the marts, as SQL if it is a text; None = now.
    `brought`: views in the place of those that marts are made from. `makes_lists`: what a run
    computes once is computed here, too, where else it is a view. `own`: settings of DuckDB;
    `where`: by table, the condition of its rows that count; `between`: called when the tables are
    there, and no mart yet. MoldauError if there is no warehouse or a table's log is damaged.
    """
    existing = existing_tables(warehouse)
    names = existing_relations(warehouse) if only is None else list(only)
    views = views_under(names, brought)
    wanted = {*names, *tables_under(names, brought)}
    connection = open_duckdb([*(name.split(".")[0] for name in existing), *SCHEMAS])
    for setting, value in own.items():
        connection.execute(f"set {setting} = ?", [value])
    files = [
        path
        for name in existing
        if name in wanted
        for path in create_view(connection, warehouse, name, where=where.get(name, "true"))
    ]
    if between is not None:
        between(connection)
    if views:
        _create_marts(connection, warehouse, views, at_ms, makes_lists)
    confine(connection, [*files, *([] if target is None else [os.path.abspath(target)])])
    begin_reading(connection)
    return connection


def _create_marts(
    connection: DuckDBPyConnection,
    warehouse: Path,
    views: list[View],
    at_ms: int | str | None,
    makes_lists: bool,
) -> None:
    for macro in MACROS:
        connection.execute(macro)
    clock = time.time_ns() // 1_000_000 if at_ms is None else at_ms
    connection.execute(f"create view {PARAMETERS} as {of_a_reader(clock, 'varchar[]')}")
    for name, sql in told(warehouse, views):
        connection.execute(f"create view {name} as {sql}")
    for view in views:
        relation = ".".join(identifier(part) for part in view.name.split("."))
        kind = "table" if makes_lists and view.is_list else "view"
        connection.execute(f"create {kind} {relation} as {view.duckdb_sql}")
