"""Python values as Spark SQL; text is never anything but text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


def rows_sql(types: Mapping[str, str], rows: Iterable[Mapping[str, Any]]) -> str:
    """A query that gives these rows, with columns of these types."""
    values = ", ".join(
        "("
        + ", ".join(f"cast({literal(row[name])} as {kind})" for name, kind in types.items())
        + ")"
        for row in rows
    )
    if not values:
        columns = ", ".join(f"cast(null as {kind}) as {name}" for name, kind in types.items())
        return f"select {columns} where false"
    return f"select * from (values {values}) as listed ({', '.join(types)})"


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
