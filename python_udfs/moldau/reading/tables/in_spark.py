"""Run one Spark SQL query on the tables and marts of the warehouse; nothing is written."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from moldau.errors import MoldauError
from moldau.reading.tables.names_of import existing_relations, existing_tables, mentioned
from moldau.reading.tables.spark_views import make_marts
from moldau.reading.tables.views import tables_under
from moldau.warehouse.catalog import register
from moldau.warehouse.sizes import is_small

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_READING = ("select", "with", "from", "table", "values", "show", "describe", "desc", "explain")


def ask_spark(
    warehouse: Path, query: str, at_ms: int | None = None
) -> tuple[list[str], Iterator[tuple[Any, ...]]]:
    """Columns and rows of the answer; MoldauError with Spark's words if the query is wrong.

    `at_ms`: the clock of the marts; None = now. Times are in UTC, and say so. Only reading is
    allowed: writers hold the warehouse's lock, and this does not.
    """
    existing = existing_tables(warehouse)
    names = mentioned(existing_relations(warehouse), query)
    asked = [name for name in names if name.startswith("marts.")]
    needed = tables_under(asked)
    words = query.replace("(", " ").split(None, 1)
    if not words or words[0].lower() not in _READING:
        raise MoldauError(f"a query is expected, starting with one of {', '.join(_READING)}")
    from moldau.engine.spark import start, suit_to
    from moldau.reading.tables.plans import require_reading

    session = start(warehouse.resolve())
    from pyspark.errors import PySparkException

    try:
        register(session, warehouse.resolve(), {*names, *needed} & set(existing))
        make_marts(session, warehouse.resolve(), asked, at_ms)
        # the same tables, but no setting and no function of a run: `call_plugin` calls a plugin
        apart = session.newSession()
        suit_to(apart, is_small(warehouse))
        require_reading(apart, query)
        frame = apart.sql(query)
        rows = rows_of(frame)
    except PySparkException as error:
        raise MoldauError(str(error).strip().split("\n")[0].rstrip(";")[:500]) from None
    return frame.columns, iter(rows)


def rows_of(frame: DataFrame) -> list[tuple[Any, ...]]:
    return [tuple(map(_in_utc, row)) for row in frame.collect()]


def _in_utc(value: Any) -> Any:
    """PySpark gives times without a zone; session, JVM and process are in UTC."""
    match value:
        case datetime(tzinfo=None):
            return value.replace(tzinfo=UTC)
        case dict():
            return {key: _in_utc(item) for key, item in value.items()}
        case tuple() if hasattr(value, "asDict"):
            return _in_utc(value.asDict())
        case list():
            return [_in_utc(item) for item in value]
        case _:
            return value
