"""Translate Spark SQL for DuckDB: sqlglot's translation, and what it leaves out.

Only moldau's own SQL is translated: dbt's compiled SQL of marts, and of the models that a run on
small tables writes. Tests compare every mart's rows, and what runs write, with Spark's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

# functions of Spark that neither sqlglot nor DuckDB knows
MACROS = (
    "create macro timestamp_millis(x) as make_timestamptz(try_cast(x::hugeint * 1000 as bigint))",
    "create macro size(l) as coalesce(len(l), -1)",
    "create macro get(l, i) as l[i + 1]",
    "create macro array_repeat(element, times) as list_transform(range(times), lambda i: element)",
    "create macro conv(number, from_base, to_base) as try_cast('0x' || number as bigint)::varchar",
    "create macro try_to_binary(text, format) as try(from_base64(text))",
    # a double past the largest bigint is the largest
    "create macro whole(number) as case when number >= 9223372036854775807 then "
    "9223372036854775807 when number <= -9223372036854775808 then -9223372036854775808 "
    "else cast(number as bigint) end",
    "create macro whole_ceil(number) as whole(ceil(number))",
    "create macro whole_floor(number) as whole(floor(number))",
    # in Java a dot is none of these, in DuckDB's expressions it is no line feed
    "create macro java_like(text, pattern) as regexp_matches(translate(text, chr(13) || chr(133) "
    "|| chr(8232) || chr(8233), repeat(chr(10), 4)), pattern)",
    # null where no element decides, and one is null
    "create macro any_true(l) as case when l is null then null when list_contains(l, true) then "
    "true when list_aggregate(l, 'count') < len(l) then null else false end",
    "create macro all_true(l) as case when l is null then null when list_contains(l, false) then "
    "false when list_aggregate(l, 'count') < len(l) then null else true end",
    "create macro safe_add(a, b) as try(a + b)",
    "create macro safe_subtract(a, b) as try(a - b)",
)


def to_duckdb(spark_sql: str) -> str:
    """One query, translated; ValueError if it cannot be read."""
    import sqlglot
    from sqlglot.errors import SqlglotError

    try:
        tree = sqlglot.parse_one(re.sub(r"/\*\+.*?\*/", "", spark_sql), read="spark")  # no hints
        return str(translated(tree).sql("duckdb"))
    except SqlglotError as error:
        raise ValueError(str(error)) from None


ANSWERS = "run.plugin_answers"  # what plugins answered, in the place of `call_plugin`
_CALL = re.compile(r"call_plugin\(\s*table\((\w+)\) partition by slice_index\s*\)")


def with_answers(spark_sql: str) -> str:
    """A model's query, in which what plugins answered stands in the place of their calls."""
    return _CALL.sub(ANSWERS, spark_sql)


def calls_in_duckdb(spark_sql: str) -> str | None:
    """The calls that a model makes; None = it calls no plugin."""
    import sqlglot

    found = _CALL.search(spark_sql)
    if found is None:
        return None
    tree = sqlglot.parse_one(with_answers(spark_sql), read="spark")
    calls = sqlglot.select("*").from_(found[1])
    calls.set("with_", tree.args["with_"])
    return str(translated(calls).sql("duckdb"))


def as_types(duckdb_sql: str, types: Mapping[str, str]) -> str:
    """A query in DuckDB's SQL whose columns are to have these types, by Spark's names of them."""
    from sqlglot import exp

    columns = ", ".join(
        f"try_cast({identifier(name)} as "
        f"{exp.DataType.build(kind, dialect='spark').sql('duckdb')}) as {identifier(name)}"
        for name, kind in types.items()
    )
    return f"select {columns} from ({duckdb_sql})"


def identifier(name: str) -> str:
    """A quoted SQL name."""
    return '"' + name.replace('"', '""') + '"'


def translated(tree: Any) -> Any:
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


def _count_if(node: Any) -> Any:
    """DuckDB's own is null where the condition is null of every row."""
    return _sql("count(case when condition_ then 1 end)", condition_=node.this)


def _by_name(node: Any) -> Any:
    """What sqlglot takes for a function of somebody's own."""
    translate = {"map_filter": _map_filter, "forall": _forall}.get(node.name.lower())
    return translate(node) if translate else node


def _forall(node: Any) -> Any:
    """`forall(list, element -> …)`, true of an empty list."""
    elements, function = node.expressions
    return _sql("all_true(list_transform(list_, f_))", list_=elements, f_=function)


def _exists(node: Any) -> Any:
    """`exists(list, element -> …)`, of which sqlglot leaves out the function."""
    from sqlglot import exp

    function = node.args.get("expression")
    if not isinstance(function, exp.Lambda):
        return node
    return _sql("any_true(list_transform(list_, f_))", list_=node.this, f_=function)


def _file(node: Any) -> Any:
    """parquet.`path`: the rows of a file or folder."""
    from sqlglot import exp

    if node.db != "parquet":
        return node
    path = node.name if node.name.endswith(".parquet") else f"{node.name}/*.parquet"
    return exp.Table(
        this=exp.Anonymous(this="read_parquet", expressions=[exp.Literal.string(path)]),
        alias=node.args.get("alias"),
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


def _slice(node: Any) -> Any:
    """`slice(list, first, length)`: DuckDB's has the last in the place of the length."""
    return _sql(
        "list_slice(list_, first_, first_ + length_ - 1)",
        list_=node.this,
        first_=node.args["start"],
        length_=node.args["end"],
    )


def _has_key(node: Any) -> Any:
    return _sql("list_contains(map_keys(map_), key_)", map_=node.this, key_=node.args["key"])


def _list(node: Any) -> Any:
    """A list of nothing is empty; DuckDB has none, then."""
    from sqlglot import exp

    inner = node.this if isinstance(node, exp.Filter | exp.Window) else node
    inner = inner.this if isinstance(inner, exp.Filter) else inner
    is_outermost = not isinstance(node.parent, exp.Filter | exp.Window)
    if is_outermost and isinstance(inner, exp.ArrayAgg | exp.ArrayUniqueAgg):
        return exp.Coalesce(this=node.copy(), expressions=[exp.Array()])
    return node


def _filtered(node: Any) -> Any:
    """A sum that is null where it is past the largest bigint."""
    if node.this.name.lower() == "try_sum":
        from sqlglot import exp

        total = node.copy()
        total.set("this", exp.Sum(this=node.this.expressions[0].copy()))
        return exp.TryCast(this=total, to=exp.DataType.build("bigint"))
    return _list(node)


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
    "arrayagg": _list,
    "arrayuniqueagg": _list,
    "arraysize": _renamed("size"),
    "arrayslice": _slice,
    # whole numbers in Spark, doubles in DuckDB
    "ceil": _renamed("whole_ceil"),
    "exists": _exists,
    "filter": _filtered,
    "floor": _renamed("whole_floor"),
    "regexplike": _renamed("java_like"),
    "mapcontainskey": _has_key,
    "countif": _count_if,
    "window": _list,
    "table": _file,
    "reduce": _finished,
    # of the row with the largest, also where it is null there
    "argmax": _renamed("arg_max_null"),
    "argmin": _renamed("arg_min_null"),
    "logicaland": _renamed("bool_and"),
    "logicalor": _renamed("bool_or"),
}
