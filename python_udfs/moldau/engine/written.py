"""What a model writes: the MERGE or INSERT that dbt renders, and what it comes to in DuckDB.

The statement stands once, in `macros/materializations/write_sql.sql`. Spark runs it. For DuckDB it
is taken apart, clause by clause: the rows that it would insert, update and delete are committed by
Delta's own library (`moldau.warehouse.merge`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from moldau.engine.duckdb_sql import identifier, translated
from moldau.project import ROOT

if TYPE_CHECKING:
    from jinja2 import Template

SOURCE = "select * from source_rows"  # stands for the model's query


class _Config(dict[str, Any]):
    """What dbt's macros know as `config`."""

    def require(self, name: str) -> Any:
        return self[name]


@cache
def _template() -> Template:
    from jinja2 import Environment

    text = (ROOT / "macros" / "materializations" / "write_sql.sql").read_text()
    return Environment(extensions=["jinja2.ext.do"]).from_string(text)


def rendered(options: Mapping[str, Any]) -> Any:
    """The macros that render what is written, as a model with these options has them."""
    return _template().make_module({"config": _Config(options)})


def statement_sql(into: str, options: Mapping[str, Any]) -> str:
    """What a model with these options writes into a table, in Spark's SQL around SOURCE."""
    write = options.get("write", "merge")
    macros = rendered(options)
    if write == "merge":
        return str(macros.merge_sql(into, SOURCE))
    return str(macros.insert_sql(into, SOURCE, write))


def outcome_sql(statement: str, columns: Sequence[str]) -> str:
    """The rows that a statement writes, in DuckDB's SQL around SOURCE: these columns of its target.

    Of a MERGE also `_action`: insert, update or delete. Rows of state come in the order of the key:
    a first write puts them into files as they come, and later ones leave them there. Decisions come
    in the order of the state that they are made on, nearly. ValueError if the statement sets a
    column that the table has not.
    """
    import sqlglot
    from sqlglot import exp

    tree = translated(sqlglot.parse_one(statement, read="spark"))
    if isinstance(tree, exp.Insert):
        listed = ", ".join(f"s.{identifier(name)}" for name in columns)
        where = tree.expression.args.get("where")
        return f"select {listed} from ({SOURCE}) as s {where.sql('duckdb') if where else ''}"
    return _outcome_of_merge(tree, columns)


def _outcome_of_merge(merge: Any, columns: Sequence[str]) -> str:
    from sqlglot import exp

    into = exp.table_(merge.this.name, db=merge.this.db).sql("duckdb")
    same = merge.args["on"]
    key = [one.this.name for one in (same.flatten() if isinstance(same, exp.And) else [same])]
    is_new = f"t.{identifier(key[0])} is null"
    actions: list[str] = []
    values: dict[bool, dict[str, str]] = {True: {}, False: {}}  # by: is it matched
    for clause in merge.args["whens"].expressions:
        is_matched, then = bool(clause.args["matched"]), clause.args["then"]
        condition = clause.args.get("condition")
        when = [f"not {is_new}" if is_matched else is_new]
        when += [condition.sql("duckdb")] if condition else []
        actions.append(f"when {' and '.join(when)} then '{_action(then)}'")
        if not isinstance(then, exp.Var):  # a delete
            values[is_matched] = _values(then, columns, into)

    def value(name: str) -> str:
        changed = values[True].get(name, f"t.{identifier(name)}")
        new = values[False].get(name, changed)
        return new if new == changed else f"case when {is_new} then {new} else {changed} end"

    listed = ", ".join(f"{value(name)} as {identifier(name)}" for name in columns)
    join = "left" if values[False] else "inner"
    ordered = f"order by {', '.join(map(identifier, key))}" if into.startswith("state.") else ""
    return f"""
        select * from (
            select case {" ".join(actions)} end as _action, {listed}
            from ({SOURCE}) as s {join} join {into} as t on {same.sql("duckdb")}
        )
        where _action is not null {ordered}
    """


def _action(then: Any) -> str:
    return "delete" if then.key == "var" else then.key


def _values(then: Any, columns: Sequence[str], into: str) -> dict[str, str]:
    """Column -> what an insert or update puts there. A star is every column, by its name."""
    from sqlglot import exp

    if then.find(exp.Star):
        return {name: f"s.{identifier(name)}" for name in columns}
    found = {one.this.name: one.expression.sql("duckdb") for one in then.expressions}
    if unknown := sorted(found.keys() - set(columns)):
        raise ValueError(f"update_set: {into} has no column {', '.join(unknown)}")
    return found
