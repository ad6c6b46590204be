"""Run one Spark SQL query on the tables and marts of the warehouse; nothing is written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from moldau.engines.sizes import is_small
from moldau.engines.spark.answers import in_words, rows_of
from moldau.engines.spark.catalog import register
from moldau.engines.spark.connected import remote_of
from moldau.engines.spark.plans import require_reading
from moldau.engines.spark.spark_session import start, suit_to
from moldau.errors import MoldauError
from moldau.reading.tables.names_of import existing_relations, existing_tables, mentioned
from moldau.reading.tables.spark_views import make_marts
from moldau.reading.tables.views import tables_under

_READING = ("select", "with", "from", "table", "values", "show", "describe", "desc", "explain")


def ask_spark(
    warehouse: Path,
    query: str,
    at_ms: int | None = None,
    told: Mapping[str, str] | None = None,
) -> tuple[list[str], Iterator[tuple[Any, ...]]]:
    """Columns and rows of the answer; MoldauError with Spark's words if the query is wrong.

    `at_ms`: the clock of the marts; None = now. `told`: properties of Spark of moldau.yml. Times
    are in UTC, and say so. Only reading is allowed: writers hold the warehouse's lock, and this
    does not.
    """
    existing = existing_tables(warehouse)
    names = mentioned(existing_relations(warehouse), query)
    asked = [name for name in names if name.startswith("marts.")]
    needed = tables_under(asked)
    words = query.replace("(", " ").split(None, 1)
    if not words or words[0].lower() not in _READING:
        raise MoldauError(f"a query is expected, starting with one of {', '.join(_READING)}")
    if remote_of(told):
        raise MoldauError(
            "a Spark server does not show the plan in which moldau checks that a query only reads: "
            "`--engine duckdb` answers it, and so does a session of your own (`moldau.connect`)"
        )
    session = start(warehouse.resolve(), told=told)
    with in_words():
        register(session, warehouse.resolve(), {*names, *needed} & set(existing))
        make_marts(session, warehouse.resolve(), asked, at_ms)
        # the same tables, but no setting and no function of a run: `call_plugin` calls a plugin
        apart = session.newSession()
        suit_to(apart, is_small(warehouse))
        require_reading(apart, query)
        frame = apart.sql(query)
        rows = rows_of(frame)
    return frame.columns, iter(rows)
