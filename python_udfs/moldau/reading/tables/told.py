"""What marts read that stands in no table: a reader tells it, as it is now."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from moldau.reading.tables.table_status import table_status_sql
from moldau.reading.tables.views import View
from moldau.warehouse.polls import POLLED, polls_sql

TOLD: Mapping[str, Callable[[Path], str]] = {
    "run.table_status": table_status_sql,
    POLLED: polls_sql,
}


def told(warehouse: Path, views: Sequence[View]) -> Iterator[tuple[str, str]]:
    """Of these views: each relation of `run` that they read, and its query for either engine."""
    for name, sql in TOLD.items():
        if any(name in view.reads for view in views):
            yield name, sql(warehouse)
