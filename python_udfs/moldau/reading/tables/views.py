"""The marts as views: the SQL compiled by dbt, which both Spark and DuckDB run.

No JVM is started for it. What a mart reads beside tables are the same views and lists that a run
works on, and what a run would bring: `run.parameters` has the clock in its place, `run.settings`
the settings in force.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from moldau.compiled.graph import graph, models
from moldau.compiled.kept import cached
from moldau.engines.duckdb.translated import translated_models
from moldau.warehouse.contracts import in_force, marts

SCHEMAS = ("run", "staging", "intermediate", "marts")
PARAMETERS = "run.parameters"
SPARK_SCHEMA = "reading"  # in the place of `run`: the session may be a run's, with its own


@dataclass(frozen=True)
class View:
    """`reads`: tables and views that its SQL names; `is_list`: a run computes it once.

    `spark_sql`: empty where only DuckDB is to read it.
    """

    name: str
    duckdb_sql: str
    reads: tuple[str, ...] = ()
    is_list: bool = True
    spark_sql: str = ""


def views_under(names: Iterable[str], brought: Sequence[View] = ()) -> list[View]:
    """These marts (`marts.groups`) and every view under them, parents first.

    `brought`: views that stand in the place of those of their names.
    """
    compiled = _views() | {view.name: view for view in brought}
    found: dict[str, View] = {}

    def add(name: str) -> None:
        if name in compiled and name not in found:
            for parent in compiled[name].reads:
                add(parent)
            found[name] = compiled[name]

    for name in names:
        add(name)
    return list(found.values())


def whole_sql(name: str) -> str:
    """A mart in Spark SQL on tables and on what a run would bring: its views are in a `with`."""
    views = views_under([name])
    within = {view.name: view.name.replace(".", "__") for view in views}
    *under, mart = views
    named = {within[view.name]: instead(view.spark_sql, within) for view in under}
    return with_named(named, instead(mart.spark_sql, within))


def instead(spark_sql: str, names: Mapping[str, str]) -> str:
    """A query on these relations in the place of those of the full names."""
    return re.sub(
        r"(?<![\w.'\"`])\w+\.\w+\b",
        lambda found: names.get(found[0]) or in_spark(found[0]),
        spark_sql,
    )


def with_named(named: Mapping[str, str], spark_sql: str) -> str:
    """A query that stands on others, by the names that it has for them."""
    parts = [f"{name} as (\n{sql}\n)" for name, sql in named.items()]
    before = "with\n" + ",\n".join(parts) + "\n" if parts else ""
    return f"{before}select * from (\n{spark_sql}\n)"


def in_spark(name: str) -> str:
    """The name that a relation has in Spark."""
    return re.sub(r"^run\.", f"{SPARK_SCHEMA}.", name)


def tables_under(names: Iterable[str], brought: Sequence[View] = ()) -> set[str]:
    """The tables of the warehouse that these marts are made from."""
    read = (name for view in views_under(names, brought) for name in view.reads)
    return {name for name in read if not is_view(name)}


def is_view(name: str) -> bool:
    """Whether a full name is one of a view, not of a table of the warehouse."""
    return name.split(".")[0] in SCHEMAS


def in_force_sql(table: str) -> str:
    """The settings in force, of a table that keeps those of before, too."""
    return f"select * from {table} where valid_to_ms is null"


@cache
def _views() -> dict[str, View]:
    """By name: what a run brings, for those who only read, and what dbt compiled."""
    found = {}
    for name, table in in_force().items():
        sql = in_force_sql(table)
        found[f"run.{name}"] = View(f"run.{name}", sql, (table,), is_list=False, spark_sql=sql)
    typed = cached("marts", _typed_marts)
    for node in models().values():
        if node.is_helper:
            parents = [graph()[key] for key in node.parents]
            found[node.relation] = View(
                node.relation,
                typed.get(node.relation) or translated_models()[node.name].query,
                # the other models only order the graph
                tuple(
                    p.relation for p in parents if p.is_helper or p.decides or not p.materialized
                ),
                is_list=node.materialized == "run_list",
                spark_sql=node.sql,
            )
    return found


def _typed_marts() -> dict[str, str]:
    """The marts with the types of the contract: DuckDB's own are wider here and there."""
    from moldau.engines.duckdb.translation import as_types

    return {
        node.relation: as_types(
            translated_models()[node.name].query,
            {column.name: column.data_type for column in marts()[node.relation].columns},
        )
        for node in models().values()
        if node.relation in marts()
    }


if __name__ == "__main__":
    _views()
