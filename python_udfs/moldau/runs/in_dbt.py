"""A whole run by plain dbt: `dbt run --selector cycle` does what `moldau cycle` does, on Spark.

dbt renders and orders the models; what a run is beside them (lock, journal, parameters, plugins,
its row) is done here, before, between and after them. There can be no dbt within dbt, and dbt makes
each model once: what was interrupted, what is folded anew for other settings, and calls on whose
outcomes a run decides, round by round, are made by the embedded engine before.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from moldau.compiled.graph import around, models, models_tagged
from moldau.compiled.kept import is_compiled
from moldau.engines.sizes import is_small
from moldau.engines.spark import spark_session as engine
from moldau.engines.spark.catalog import register_databases
from moldau.engines.spark.connected import remote_of
from moldau.errors import MoldauError
from moldau.instants import now_ms, parse_instant
from moldau.runs.apply import applied_clusters, calls_plugins, clears, count_applied, plugins_called
from moldau.runs.call import call
from moldau.runs.decided import count_decided
from moldau.runs.opening import start_session
from moldau.runs.scope import scope_of
from moldau.sessions import journal
from moldau.sessions.closing import close_run
from moldau.sessions.faults import die_at, fault
from moldau.sessions.open_run import next_run_id, open_run, settings_models
from moldau.sessions.run import Run
from moldau.warehouse.create import is_initialised
from moldau.warehouse.lock import is_held, locked

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from moldau.settings import Settings

_starting = threading.Lock()  # threads of dbt open connections at once
_alone = contextlib.ExitStack()  # the lock that a command on a server holds


def start_spark(settings: Settings) -> SparkSession:
    """Spark as moldau has it, of a warehouse that is there; its databases lie where they do.

    A server's catalog, and in it `run.parameters`, is shared by all its clients: there the lock is
    held for all that dbt does, until `let_go`. WarehouseInUse if another command has it.
    """
    warehouse = settings.warehouse.resolve()
    if not is_initialised(warehouse):
        raise MoldauError(f"there is no warehouse in {warehouse}: `moldau init` makes one")
    is_little = is_small(warehouse)
    with _starting:
        is_shared = bool(remote_of(settings.spark)) and not is_held(warehouse)
        if is_shared:
            _alone.enter_context(locked(warehouse, "dbt on Spark Connect"))
        spark = engine.start(warehouse, is_little, settings.spark)
        if is_shared:  # of a client that ended before it was done
            spark.sql("drop view if exists run.parameters")
        engine.suit_to(spark, is_little)
        register_databases(spark, warehouse)
    return spark


def start_early(settings: Settings) -> None:
    """Start Spark beside dbt's parse; whoever needs it waits for it, and tells what went wrong."""

    def start() -> None:
        with contextlib.suppress(Exception):
            start_spark(settings)

    if not remote_of(settings.spark):
        threading.Thread(target=start, daemon=True).start()


def let_go() -> None:
    """dbt is done: others may use the warehouse."""
    _alone.close()


def looked_at(kind: str) -> list[str]:
    """dbt's ids of what a run of this kind makes and reads.

    Its selector takes more: what the folds and decisions before its barriers were made from."""
    _compile_apart()
    stages = ("decide", "apply")
    tagged = (model.name for stage in stages for model in models_tagged(f"{stage}_{kind}"))
    return sorted({node.key for node in around(["record_settings", *tagged])})


class DbtRun:
    """Of one invocation of dbt, whose threads call `begins` and `ends`."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._kept = contextlib.ExitStack()
        self._threads = threading.Lock()

    def open(
        self, kind: str, at: str | int | None, clusters: Sequence[str], reads: Sequence[str]
    ) -> str:
        """Lock, finish what was interrupted, and tell Spark what the run is about.

        `at`: Unix milliseconds or ISO 8601; None = now. `reads`: the views of `run.*` that the
        selected models read. Gives the run_id."""
        fault()
        settings = self._settings
        warehouse = settings.warehouse.resolve()
        if not is_held(warehouse):
            self._kept.enter_context(locked(warehouse, f"dbt --selector {kind}"))
        try:
            run_id = self._open(kind, now_ms() if at is None else parse_instant(str(at)), clusters)
            self._session.engines.spark.make_run_views(reads)
            return run_id
        except BaseException:
            self._kept.close()
            raise

    def _open(self, kind: str, at_ms: int, clusters: Sequence[str]) -> str:
        settings = self._settings
        warehouse = settings.warehouse.resolve()
        if settings.sparks_entry and journal.interrupted(warehouse):
            raise MoldauError(f"a run was interrupted: `moldau {kind}` finishes it first")
        embedded = settings.model_copy(update={"engine": "duckdb"})
        self._session = session = start_session(embedded, start=lambda: start_spark(settings))
        run = Run(next_run_id(session, kind), kind, scope_of(session, clusters), at_ms)
        changed = [name for name in settings_models(session, run) if name != "record_settings"]
        if changed and settings.sparks_entry:
            raise MoldauError(f"{settings.sparks_entry} is new: `moldau {kind}` takes it in first")
        self._run = run
        journal.note(warehouse, run)
        calls = session.models("call", kind)
        if changed or calls:
            open_run(session, run)
            session.run_models(*changed)
            call(session, run)
        session.settings = settings.model_copy(update={"engine": "spark"})
        open_run(session, run)
        applied = session.models("apply", kind)
        self._applied = {model.name for model in applied}
        self._clears = clears(applied)
        if calls_plugins(kind):
            clusters = applied_clusters(session, run)
            self._kept.enter_context(plugins_called(session, run, clusters))
        return run.run_id

    def begins(self, model: str) -> None:
        """Before the first that applies, what was decided is noted: it is not decided again."""
        with self._threads:
            if model in self._applied and not self._run.is_decided:
                count_decided(self._session, self._run)
                journal.note(self._session.warehouse, self._run)
                die_at("after_decide")
        if model == self._clears[0]:
            die_at("before_clear")

    def ends(self, model: str) -> None:
        if model in self._applied and models()[model].calls_plugins:
            die_at("after_call")
        if model == self._clears[1]:
            die_at("after_clear")

    def close(self, has_succeeded: bool) -> str:
        """The run's row, last. Without it the next command finishes the run, whoever starts it."""
        session, run = self._session, self._run
        with self._kept:
            if not has_succeeded:
                return f"{run.run_id} is left open: the next run, or `moldau`, finishes it"
            if not run.is_decided:
                count_decided(session, run)
            if applied_clusters(session, run):
                count_applied(session, run)
            die_at("before_run_row")
            close_run(session, run)
            journal.forget(session.warehouse, run.run_id)
            counts = ", ".join(f"{name} {count}" for name, count in run.counts.items() if count)
            return f"{run.run_id} is closed: {counts or 'nothing to decide'}"


def _compile_apart() -> None:
    """The compiled project, which the embedded engine runs, is made by dbt: in a process apart."""
    if not is_compiled():
        words = "from moldau.compiled.graph import graph; graph()"
        subprocess.run([sys.executable, "-c", words], check=True, capture_output=True)
