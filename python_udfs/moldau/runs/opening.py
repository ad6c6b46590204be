"""Open a session: take the lock, check the tables, start Spark, finish what was interrupted."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from moldau.compiled.dbt import parse_early
from moldau.engines.chosen import Engines
from moldau.engines.sizes import is_small
from moldau.engines.spark import spark_session as engine
from moldau.engines.spark.catalog import register_databases
from moldau.runs.resume import finish_interrupted
from moldau.sessions.session import Listener, Session, heard_by_nobody
from moldau.settings import Settings
from moldau.warehouse.create import create
from moldau.warehouse.lock import locked
from moldau.warehouse.seeds import seed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@contextlib.contextmanager
def open_session(
    settings: Settings, command: str, wait_seconds: float = 0, bytes_coming: int | None = None
) -> Iterator[Session]:
    """Lock the warehouse and start a session on it."""
    with locked(settings.warehouse.resolve(), command, wait_seconds):
        yield start_session(settings, bytes_coming)


def start_session(
    settings: Settings,
    bytes_coming: int | None = None,
    start: Callable[[], SparkSession] | None = None,
    tell: Listener = heard_by_nobody,
) -> Session:
    """Make the tables, finish what was interrupted. Spark starts when something first needs it.

    `bytes_coming`: what one command brings; None = many may follow. `start`: gives a Spark that
    somebody else has started. `tell`: hears of each stage of a run. The warehouse is locked by the
    caller.
    """
    warehouse = settings.warehouse.resolve()
    create(warehouse)
    seed(warehouse)
    engines = Engines(warehouse, start or partial(start_spark, settings, bytes_coming))
    session = Session(settings, warehouse, engines, tell)
    finish_interrupted(session)
    return session


def start_spark(settings: Settings, bytes_coming: int | None) -> SparkSession:
    """Spark for the runs of a warehouse, which is there."""
    warehouse = settings.warehouse.resolve()
    parse_early(warehouse)
    is_brief = bytes_coming is not None and is_small(warehouse, bytes_coming)
    spark = engine.start(warehouse, is_brief, settings.spark)
    engine.suit_to(spark, is_small=True)
    register_databases(spark, warehouse)
    return spark
