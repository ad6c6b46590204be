"""What the statement of a model comes to: the rows that it would insert, update and delete.

`moldau.warehouse.merge` commits them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from moldau.compiled.written import SOURCE
from moldau.engines.duckdb.translation import identifier, translated

_KEY_OF_SUBJECT = 2  # columns: its cluster, and its name there


def outcome_sql(statement: str, columns: Sequence[str]) -> str:
    """The rows that a statement writes, in DuckDB's SQL around SOURCE: these columns of its target.

    Of a MERGE also `_action`: insert, update or delete. Rows come in the order of the key: a first
    write puts them into files as they come, and later ones leave them there. But for decisions
    about parts of a subject, of which there are many: they come in the order of the state that
    they are made on, nearly. ValueError if the statement sets a column that the table has not.
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
    is_ordered = into.startswith("state.") or len(key) <= _KEY_OF_SUBJECT
    ordered = f"order by {', '.join(map(identifier, key))}" if is_ordered else ""
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
