"""The marts as views: the SQL compiled by dbt, which both Spark and DuckDB run.

Compiled once for each version of the project and kept in the user's cache: a verb that reads does
not wait for dbt, and no JVM is started for it. What a mart reads beside tables are the same views
and lists that a run works on, and what a run would bring: `reading.parameters` has the clock in
its place, `reading.settings` the settings in force. Helpers whose meta says `is_readable` are
compiled, too: moldau's own questions are put to the SQL that decides.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

from moldau.compiled.graph import cached, models
from moldau.warehouse.contracts import Table, in_force, marts, tables

SCHEMA = "reading"  # what the marts are made from; a run has views of its own
PARAMETERS = f"{SCHEMA}.parameters"
TABLE_STATUS = f"{SCHEMA}.table_status"
_OF_A_RUN = ("run.parameters", "run.table_status", *(f"run.{name}" for name in in_force()))
_LAYERS = ("staging", "intermediate", "run")  # schemas of the helpers where a run makes them


@dataclass(frozen=True)
class View:
    """`views`: what it reads of `reading` and `marts`; `tables`: of the warehouse, directly.

    `is_list`: a run computes it once.
    """

    name: str
    spark_sql: str
    duckdb_sql: str
    views: tuple[str, ...]
    tables: tuple[str, ...]
    is_list: bool = False


def in_place_of(
    name: str, duckdb_sql: str, views: tuple[str, ...] = (), tables: tuple[str, ...] = ()
) -> View:
    """What DuckDB is to read instead of a view of `reading`."""
    return View(f"{SCHEMA}.{name}", duckdb_sql, duckdb_sql, views, tables, is_list=True)


def views_under(names: Iterable[str], brought: Sequence[View] = ()) -> list[View]:
    """These marts (`marts.groups`) and every view under them, parents first.

    `brought`: views that stand in the place of those of their names.
    """
    compiled = _views() | {view.name: view for view in brought}
    found: dict[str, View] = {}

    def add(name: str) -> None:
        if name in compiled and name not in found:
            for parent in compiled[name].views:
                add(parent)
            found[name] = compiled[name]

    for name in names:
        add(name)
    return list(found.values())


def whole_sql(name: str) -> str:
    """A mart in Spark SQL on tables and on what a run would bring: its views are in a `with`."""
    views = views_under([name])
    within = {view.name: view.name.replace(".", "__") for view in views}

    def code(view: View) -> str:
        return re.sub(
            r"(?<![\w.'\"`])\w+\.\w+\b",
            lambda found: within.get(found[0], found[0]),
            view.spark_sql,
        )

    *under, mart = views
    parts = [f"{within[view.name]} as (\n{code(view)}\n)" for view in under]
    before = "with\n" + ",\n".join(parts) + "\n" if parts else ""
    return f"{before}select * from (\n{code(mart)}\n)"


def tables_under(names: Iterable[str], brought: Sequence[View] = ()) -> set[str]:
    """The tables of the warehouse that these marts are made from."""
    return {table for view in views_under(names, brought) for table in view.tables}


def is_view(name: str) -> bool:
    """Whether a full name is one of a view, not of a table of the warehouse."""
    return name.startswith(("marts.", f"{SCHEMA}."))


def in_force_sql(table: str) -> str:
    """The settings in force, of a table that keeps those of before, too."""
    return f"select * from {table} where valid_to_ms is null"


def _brought() -> dict[str, View]:
    """What a run brings, for those who only read."""
    found = {}
    for view, table in in_force().items():
        sql = in_force_sql(table)
        name = f"{SCHEMA}.{view}"
        found[name] = View(name, sql, sql, (), (table,))
    return found


@cache
def _views() -> dict[str, View]:
    content = cached("views", lambda: [asdict(view) for view in _compile()])
    views = [
        View(**{**one, "views": tuple(one["views"]), "tables": tuple(one["tables"])})
        for one in content
    ]
    return _brought() | {view.name: view for view in views}


def _compile() -> list[View]:
    from moldau.engines.duckdb.translation import to_duckdb

    helpers = [node for node in models().values() if node.is_helper]
    full_names = {node.relation for node in helpers}
    known = set(tables())
    found: dict[str, View] = {}
    readable = {f"{SCHEMA}.{one.name}" for one in helpers if one.meta.get("is_readable")}
    wanted = set(marts()) | readable
    for one in reversed(helpers):  # children first: what only orders the graph is left out
        mart = marts().get(one.relation)
        name = mart.full_name if mart else f"{SCHEMA}.{one.name}"
        if name in wanted:
            sql, views, read = _renamed(one.sql, full_names, known)
            is_for_spark = mart is not None and mart.engine == "spark"
            duckdb_sql = "" if is_for_spark else _typed(to_duckdb(sql), mart)
            is_list = one.materialized == "run_list"
            found[name] = View(name, sql, duckdb_sql, views, read, is_list)
            wanted.update(views)
    return list(found.values())


def _renamed(sql: str, views: set[str], known: set[str]) -> tuple[str, Any, Any]:
    """The SQL on the views of `reading`; the names of those, and of the tables, that it reads."""
    reads_views: dict[str, None] = {}
    reads_tables: dict[str, None] = {}

    def rename(match: re.Match[str]) -> str:
        schema, name = match[1], match[2]
        full_name = match[0]
        if full_name in known:
            reads_tables[full_name] = None
        elif full_name in views or full_name in _OF_A_RUN:
            full_name = full_name if schema == "marts" else f"{SCHEMA}.{name}"
            reads_views[full_name] = None
        return full_name

    code = re.sub(r"(?m)^-- depends_on:.*$", "", sql)  # what only orders the graph
    names = "|".join((*_LAYERS, "marts", *{table.split(".")[0] for table in known}))
    renamed = re.sub(rf"(?<![\w.'\"`])({names})\.(\w+)\b", rename, code).strip()
    return renamed, tuple(reads_views), tuple(reads_tables)


def _typed(sql: str, mart: Table | None) -> str:
    """With the types of the contract: DuckDB's own are wider here and there."""
    if mart is None:
        return sql
    from moldau.engines.duckdb.translation import as_types

    return as_types(sql, {column.name: column.data_type for column in mart.columns})


if __name__ == "__main__":
    _views()
