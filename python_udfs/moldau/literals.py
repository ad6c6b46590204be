"""Python values as Spark SQL literals; a text can never become SQL."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

# a cast of each of these values would be most of what a run of few rows costs to translate
_PLAIN = ("string", "bigint", "int", "boolean")


def rows_sql(types: Mapping[str, str], rows: Iterable[Mapping[str, Any]]) -> str:
    """A query that gives these rows, with columns of these types."""
    values = ", ".join(
        "(" + ", ".join(_value(row[name], kind) for name, kind in types.items()) + ")"
        for row in rows
    )
    if not values:
        columns = ", ".join(f"cast(null as {kind}) as {name}" for name, kind in types.items())
        return f"select {columns} where false"
    columns = ", ".join(f"cast({name} as {kind}) as {name}" for name, kind in types.items())
    return f"select {columns} from (values {values}) as listed ({', '.join(types)})"


def _value(value: Any, kind: str) -> str:
    """For a column that is cast as a whole."""
    if kind not in _PLAIN:
        return f"cast({literal(value)} as {kind})"
    if value is None:
        return "null"
    if isinstance(value, int) and kind != "string":
        return str(value).lower()
    return literal(value)


def literal(value: Any) -> str:
    """One value: null, text, a bigint, a boolean, a map or an array of text."""
    if value is None:
        return "cast(null as string)"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return f"cast({value} as bigint)"
    if isinstance(value, dict):
        pairs = ", ".join(f"{literal(key)}, {literal(item)}" for key, item in value.items())
        return f"map({pairs})" if pairs else "map()"
    if isinstance(value, list):
        return f"cast(array({', '.join(map(literal, value))}) as array<string>)"
    escaped = str(value).replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
