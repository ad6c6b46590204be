"""One command on the warehouse: the lock, Spark with every table registered, and dbt's views.

A session serves one command, or every line of `moldau exec`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from moldau.engine import spark as engine
from moldau.engine.dbt import dbt, helpers_under, parse_early
from moldau.reading.spark_views import make_marts
from moldau.reading.tables import mentioned
from moldau.settings import Settings
from moldau.warehouse.catalog import register, register_database
from moldau.warehouse.contracts import marts, tables
from moldau.warehouse.create import create
from moldau.warehouse.lock import locked
from moldau.warehouse.paths import LISTS
from moldau.warehouse.seeds import seed
from moldau.warehouse.sizes import state_bytes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from moldau.runs.run import Run
    from moldau.warehouse.aside import Aside


@dataclass
class Session:
    settings: Settings
    warehouse: Path
    spark: SparkSession
    views: set[str] = field(default_factory=set)  # that were made in this session
    # nobody was told yet: runs that were interrupted, and what could not be finished
    finished: list[Run] = field(default_factory=list)
    set_aside: list[Aside] = field(default_factory=list)

    def dbt(self, *arguments: str) -> None:
        dbt(*arguments, warehouse=self.warehouse)

    def make_views(self, *names: str) -> None:
        """These views and what they read: views once a session, lists of the run each time."""
        wanted = self._helpers(names) | (set(names) - self.views)
        if wanted:
            self.dbt("run", "--select", *sorted(wanted))
            self.views |= wanted

    def run_models(self, *names: str) -> None:
        """Write these models, in the order of the graph, after the views and lists they read."""
        wanted = self._helpers(names)
        self.dbt("run", "--select", *names, *sorted(wanted))
        self.views |= wanted

    def _helpers(self, names: Sequence[str]) -> set[str]:
        helpers = helpers_under(names, self.warehouse)
        return {n for n, kind in helpers.items() if kind == "run_list" or n not in self.views}

    def sql(self, statement: str, at_ms: int | None = None) -> list[Any]:
        """The rows of a query, which may name marts. `at_ms`: their clock; None = now."""
        if "marts." in statement:
            make_marts(self.spark, self.warehouse, mentioned(list(marts()), statement), at_ms)
        return list(self.spark.sql(statement).collect())


@contextlib.contextmanager
def open_session(
    settings: Settings, command: str, wait_seconds: float = 0, bytes_coming: int | None = None
) -> Iterator[Session]:
    """Lock the warehouse and start a session on it."""
    with locked(settings.warehouse.resolve(), command, wait_seconds):
        yield start_session(settings, bytes_coming)


def start_session(settings: Settings, bytes_coming: int | None = None) -> Session:
    """Make the tables, start Spark, finish what was interrupted.

    `bytes_coming`: what one command brings; None = many may follow. The warehouse is locked by
    the caller.
    """
    warehouse = settings.warehouse.resolve()
    parse_early(warehouse)
    create(warehouse)
    seed(warehouse)
    work_bytes = None if bytes_coming is None else state_bytes(warehouse) + bytes_coming
    is_brief = work_bytes is not None and work_bytes < engine.SMALL_BYTES
    spark = engine.start(warehouse, is_brief)
    engine.choose_codegen(spark, 0)
    register_database(spark, "run", warehouse / LISTS)
    register(spark, warehouse, tables())
    session = Session(settings, warehouse, spark)
    finish_interrupted_work(session)
    return session


def finish_interrupted_work(session: Session) -> None:
    """Finish what a killed or failed command left behind; every verb that writes begins so."""
    from moldau.loading.journal import finish_interrupted
    from moldau.runs.decide import finish_interrupted_runs

    finish_interrupted(session)
    session.finished += finish_interrupted_runs(session)
