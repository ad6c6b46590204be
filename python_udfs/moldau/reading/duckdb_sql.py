"""Spark SQL as DuckDB reads it: sqlglot's translation, and what that leaves out.

What is translated is moldau's own: the compiled SQL of marts and of the views that they read. A
test holds every mart's rows to Spark's.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

# functions of Spark that neither sqlglot nor DuckDB knows
MACROS = (
    "create macro timestamp_millis(x) as make_timestamptz(try_cast(x::hugeint * 1000 as bigint))",
    "create macro get(l, i) as l[i + 1]",
    "create macro array_repeat(element, times) as list_transform(range(times), lambda i: element)",
    "create macro conv(number, from_base, to_base) as try_cast('0x' || number as bigint)::varchar",
    "create macro try_to_binary(text, format) as try(from_base64(text))",
    # of the first or the last piece
    "create macro substring_index(text, separator, piece) as string_split(text, separator)[piece]",
    "create macro safe_add(a, b) as try(a + b)",
    "create macro safe_subtract(a, b) as try(a - b)",
)


def to_duckdb(spark_sql: str) -> str:
    """One query, translated; ValueError if it cannot be read."""
    import sqlglot
    from sqlglot.errors import SqlglotError

    try:
        tree = sqlglot.parse_one(re.sub(r"/\*\+.*?\*/", "", spark_sql), read="spark")  # no hints
        return str(_translated(tree).sql("duckdb"))
    except SqlglotError as error:
        raise ValueError(str(error)) from None


def _translated(tree: Any) -> Any:
    """Children first: what a translation puts elsewhere is translated already."""
    for node in reversed(list(tree.walk())):
        translate = _BY_KIND.get(node.key)
        new = translate(node) if translate else node
        if new is not node:
            if node is tree:
                return new
            node.replace(new)
    return tree


def _sql(template: str, **parts: Any) -> Any:
    """DuckDB's SQL with expressions in the place of names."""
    import sqlglot
    from sqlglot import exp

    def fill(node: Any) -> Any:
        is_place = isinstance(node, exp.Column) and node.name in parts
        return parts[node.name].copy() if is_place else node

    return sqlglot.parse_one(template, read="duckdb").transform(fill)


def _named_rows(node: Any) -> Any:
    """`inline(structs) as (a, b)`, `explode(map) as (a, b)`."""
    from sqlglot import exp

    if isinstance(node.this, exp.PosexplodeOuter):
        return _posexplode_outer(node)
    if isinstance(node.this, exp.Inline):
        rows = node.this.this
    elif type(node.this) is exp.Explode:  # not one of its kinds
        rows = _sql("map_entries(map_)", map_=node.this.this)
    else:
        return node
    fields = ", ".join(
        f"'{name.name}': struct_extract_at(e, {place})"
        for place, name in enumerate(node.expressions, start=1)
    )
    renamed = f"unnest(list_transform(rows_, lambda e: {{{fields}}}), max_depth := 2)"
    return _sql(renamed, rows_=rows)


def _posexplode_outer(node: Any) -> Any:
    """`posexplode_outer(list) as (position, element)`: an empty list has a row, of nulls."""
    position, element = (name.name for name in node.expressions)
    return _sql(
        "unnest(case when len(list_) > 0 then list_transform(range(len(list_)), "
        f"lambda i: {{'{position}': i, '{element}': list_[i + 1]}}) "
        f"else [{{'{position}': null, '{element}': null}}] end, max_depth := 2)",
        list_=node.this.this,
    )


def _inline(node: Any) -> Any:
    from sqlglot import exp

    if isinstance(node.parent, exp.Aliases):
        return node  # with its names
    return _sql("unnest(rows_, max_depth := 2)", rows_=node.this)


def _counted_from_0(node: Any) -> Any:
    """`(element, position) -> …`: DuckDB counts from 1."""
    from sqlglot import exp

    function = node.expression
    if isinstance(function, exp.Lambda) and len(function.expressions) == 2:
        position = function.expressions[1].name

        def count(part: Any) -> Any:
            if not isinstance(part, exp.Identifier) or part.name != position:
                return part
            holder = part.parent
            is_field = (isinstance(holder, exp.PropertyEQ) and holder.this is part) or (
                isinstance(holder, exp.Dot) and holder.expression is part
            )
            one = exp.Literal.number(1)
            return part if is_field else exp.paren(exp.Sub(this=part.copy(), expression=one))

        function.set("this", function.this.transform(count))
    return node


def _by_name(node: Any) -> Any:
    """What sqlglot takes for a function of somebody's own."""
    translate = {"map_filter": _map_filter, "forall": _forall}.get(node.name.lower())
    return translate(node) if translate else node


def _forall(node: Any) -> Any:
    """`forall(list, element -> …)`, true of an empty list."""
    elements, function = node.expressions
    return _sql(
        "coalesce(list_bool_and(list_transform(list_, function_)), true)",
        list_=elements,
        function_=function,
    )


def _map_filter(node: Any) -> Any:
    """`map_filter(map, (name, value) -> …)`."""
    from sqlglot import exp

    filtered, function = node.expressions
    fields = {
        name.name: _sql(f"e.{field}")
        for name, field in zip(function.expressions, ("key", "value"), strict=True)
    }
    condition = function.this.transform(
        lambda part: fields.get(part.name, part) if isinstance(part, exp.Identifier) else part
    )
    return _sql(
        "map_from_entries(list_filter(map_entries(map_), lambda e: condition_))",
        map_=filtered,
        condition_=condition,
    )


def _finished(node: Any) -> Any:
    """`aggregate(list, start, merge, finish)`: what sqlglot makes of it leaves out the end."""
    finish = node.args.get("finish")
    if finish is None:
        return node
    reduced = node.copy()
    reduced.set("finish", None)
    return _sql("list_transform([reduced_], finish_)[1]", reduced_=reduced, finish_=finish)


def _from_json(node: Any) -> Any:
    kind = node.expression.name.replace("<", "(").replace(">", ")").replace("string", "varchar")
    return _sql(f"cast(cast(text_ as json) as {kind})", text_=node.this)


def _percentile(node: Any) -> Any:
    """One of the values, as Spark gives it up to ten thousand of them; DuckDB's guesses between."""
    return _sql("quantile_disc(value_, share_)", value_=node.this, share_=node.args["quantile"])


def _filtered(node: Any) -> Any:
    """A sum that is null where it is past the largest bigint."""
    if node.this.name.lower() == "try_sum":
        from sqlglot import exp

        total = node.copy()
        total.set("this", exp.Sum(this=node.this.expressions[0].copy()))
        return exp.TryCast(this=total, to=exp.DataType.build("bigint"))
    return node


def _renamed(name: str) -> Callable[[Any], Any]:
    def rename(node: Any) -> Any:
        from sqlglot import exp

        return exp.Anonymous(
            this=name, expressions=[part.copy() for part in node.iter_expressions()]
        )

    return rename


def _tried(node: Any) -> Any:
    """Null past the largest bigint, where Spark goes on at the smallest: no mart fails of it."""
    from sqlglot import exp

    if isinstance(node.this, exp.Literal) and isinstance(node.expression, exp.Literal):
        return node
    if node.find(exp.AggFunc, exp.Window) or any(
        part.name in _AGGREGATES for part in node.find_all(exp.Anonymous)
    ):
        return node  # DuckDB tries no aggregate
    return exp.Anonymous(this="try", expressions=[node.copy()])


_AGGREGATES = ("arg_max_null", "arg_min_null", "bool_and", "bool_or", "try_sum")
# kind of sqlglot's node -> what it is in DuckDB
_BY_KIND: dict[str, Callable[[Any], Any]] = {
    "add": _tried,
    "sub": _tried,
    "mul": _tried,
    "aliases": _named_rows,
    "inline": _inline,
    "transform": _counted_from_0,
    "arrayfilter": _counted_from_0,
    "anonymous": _by_name,
    "approxquantile": _percentile,
    "fromjson": _from_json,
    "filter": _filtered,
    "reduce": _finished,
    # of the row with the largest, also where it is null there
    "argmax": _renamed("arg_max_null"),
    "argmin": _renamed("arg_min_null"),
    "logicaland": _renamed("bool_and"),
    "logicalor": _renamed("bool_or"),
}
