"""One query in Spark SQL, on the tables that are there; nothing is created or written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from moldau.errors import MoldauError
from moldau.reading.tables import existing_tables, mentioned

_READING = ("select", "with", "from", "table", "values", "show", "describe", "desc", "explain")


def ask_spark(warehouse: Path, query: str) -> tuple[list[str], Iterator[tuple[Any, ...]]]:
    """Columns and rows of the answer; MoldauError with Spark's words if the query is wrong.

    Only reading is allowed: writers hold the warehouse's lock, and this does not.
    """
    names = mentioned(existing_tables(warehouse), query)
    words = query.replace("(", " ").split(None, 1)
    if not words or words[0].lower() not in _READING:
        raise MoldauError(f"a query is expected, starting with one of {', '.join(_READING)}")
    from moldau.engine.spark import start

    session = start(warehouse.resolve())
    from pyspark.errors import PySparkException

    try:
        _register(session, warehouse.resolve(), names)
        parsed = session._jsparkSession.sessionState().sqlParser().parsePlan(query)
        if "InsertInto" in parsed.toString():
            raise MoldauError("a query is expected, and this one writes")
        frame = session.sql(query)
        rows = [tuple(row) for row in frame.collect()]
    except PySparkException as error:
        raise MoldauError(str(error).strip().split("\n")[0].rstrip(";")[:500]) from None
    return frame.columns, iter(rows)


def _register(session: Any, warehouse: Path, names: list[str]) -> None:
    """Tell the in-memory catalog where the tables lie."""
    for database in dict.fromkeys(name.split(".")[0] for name in names):
        session.sql(
            f"create schema if not exists {database} location '{_quoted(warehouse / database)}'"
        )
    for name in names:
        folder = warehouse.joinpath(*name.split(".", 1))
        session.sql(f"create table if not exists {name} using delta location '{_quoted(folder)}'")


def _quoted(path: Path) -> str:
    return str(path).replace("\\", "\\\\").replace("'", "\\'")
