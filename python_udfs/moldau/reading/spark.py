"""One query in Spark SQL, on the tables that are there; nothing is created or written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from moldau.errors import MoldauError
from moldau.reading.tables import existing_tables, mentioned
from moldau.warehouse.create import register_table

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
    from moldau.reading.plans import require_reading

    session = start(warehouse.resolve())
    from pyspark.errors import PySparkException

    try:
        for name in names:
            register_table(session, warehouse.resolve(), *name.split(".", 1))
        # the same tables, but no setting and no function of a run: `call_plugin` calls a plugin
        apart = session.newSession()
        require_reading(apart, query)
        frame = apart.sql(query)
        rows = [tuple(row) for row in frame.collect()]
    except PySparkException as error:
        raise MoldauError(str(error).strip().split("\n")[0].rstrip(";")[:500]) from None
    return frame.columns, iter(rows)
