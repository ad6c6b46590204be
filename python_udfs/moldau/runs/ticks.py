"""What `moldau watch` does at a tick: one run, during which the warehouse is locked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any, Protocol

from moldau.engines.spark.spark_session import forget_if_dead
from moldau.errors import MoldauError
from moldau.instants import format_instant, now_ms
from moldau.loading.bring import Loaded
from moldau.runs.decide import decide
from moldau.runs.idle import idle_run
from moldau.runs.opening import start_session
from moldau.runs.resume import finish_interrupted
from moldau.runs.scope import loaded_clusters, scope_among
from moldau.runs.watch import Timer, timers_of
from moldau.sessions import shutdown
from moldau.sessions.run import SKIPPED, Run, failed_calls, row_of
from moldau.sessions.run_rows import append_rows
from moldau.sessions.session import Session
from moldau.settings import Settings
from moldau.warehouse.aside import in_words
from moldau.warehouse.create import is_initialised
from moldau.warehouse.lock import WarehouseInUse, locked

COMMAND = "moldau watch"
TOLD = ("run_id", "kind", "cluster_ids", "status", "decided_at_ms", "counts")


class Live(Protocol):
    """Clusters that run."""

    def reaches(self, cluster: str) -> bool:
        """Whether it is known how to reach this one."""
        ...

    def bring(self, cluster: str, session: Callable[[], Session]) -> Iterable[Loaded]:
        """Each load of what is new, when it is complete. MoldauError if the cluster is away."""
        ...


class WarehouseTicks:
    """`tell` gets each row of state.runs that comes about here, `warn` a line for stderr.

    `clusters`: () = every known one, also those that are loaded later. `listen`: called when Spark
    has started, which installs signal handlers of its own. `live` brings what is new in clusters
    that run, once in each of their intervals. Raises MoldauError as `moldau cycle`
    does for a cluster that is unknown.
    """

    def __init__(
        self,
        settings: Settings,
        clusters: Sequence[str],
        tell: Callable[[dict[str, Any]], None],
        warn: Callable[[str], None],
        listen: Callable[[], None],
        live: Live,
    ) -> None:
        self._settings, self._tell, self._warn, self._listen = settings, tell, warn, listen
        self._live = live
        self._warehouse = settings.warehouse.resolve()
        self._is_open = not clusters
        self._clusters = scope_among(self._known(), clusters)
        self.unrecorded: list[Run] = []
        self._away: dict[str, str] = {}  # clusters that could not be read, and why
        self._dropped: dict[Timer, str] = {}  # while any is away: what was recorded

    def timers(self) -> list[Timer]:
        """Those that are wanted now, in the order in which they run when due at once."""
        if self._is_open:
            try:
                self._clusters = self._known()
            except Exception as error:
                self._warn(f"the clusters cannot be looked up: {_cause(error)}")
        chosen = [(name, self._settings.cluster(name)) for name in self._clusters]
        return timers_of(
            (name, cluster.offsets_retention_check_interval_ms, cluster.has_plugin)
            for name, cluster in chosen
        )

    def run(self, timer: Timer) -> None:
        """Raises WarehouseInUse, ShutdownRequested, or whatever went wrong."""
        with locked(self._warehouse, COMMAND):
            session = cache(self._session)
            cluster = timer.cluster_id
            if self._live.reaches(cluster) and timer == self._first(cluster):
                self._bring(cluster, session)
            runs = self._decide(timer, now_ms(), session)
        for run in runs:
            self._tell(_told(run))
            if failed := failed_calls(run):
                self._warn(f"{failed} plugin calls failed: see marts.plugin_calls")

    def _first(self, cluster: str) -> Timer | None:
        """The kinds of a cluster tick together: what is new is brought before the first."""
        return next((timer for timer in self.timers() if timer.cluster_id == cluster), None)

    def _bring(self, cluster: str, session: Callable[[], Session]) -> None:
        """A cluster that is away is decided on as it was known; the next tick tries again."""
        try:
            for loaded in self._live.bring(cluster, session):
                self._tell(_told(run_of_load(loaded)))
                for note in loaded.notes:
                    self._warn(note)
                shutdown.check()
        except MoldauError as error:
            if self._away.get(cluster) != str(error):
                self._warn(f"{cluster} is not read: {error}; each tick tries again")
            self._away[cluster] = str(error)
        else:
            if self._away.pop(cluster, None):
                self._warn(f"{cluster} is read again")
            if not self._away:
                self._dropped.clear()

    def _session(self) -> Session:
        session = start_session(self._settings)
        self._listen()
        for entry in session.set_aside:
            self._warn(in_words(entry))
        shutdown.check()
        return session

    def _decide(self, timer: Timer, at_ms: int, open_session: Callable[[], Session]) -> list[Run]:
        """The run of the tick, after the one that was interrupted before it."""
        clusters = [timer.cluster_id]
        run = idle_run(self._settings, timer.kind, clusters, at_ms, is_dry_run=False)
        if run is not None:
            return [run]
        session = open_session()
        finish_interrupted(session)  # of a load that failed just now
        try:
            run = decide(session, timer.kind, clusters, now_ms(), is_dry_run=False)
            return [*session.finished, run]
        except shutdown.ShutdownRequested:
            self._warn(f"{_of(timer)} stopped between two stages: the next command finishes it")
            raise

    def drop(self, timer: Timer, late_ms: int, reason: str) -> None:
        """A tick that came `late_ms` ago does not run.

        While a cluster is away, which may be for days, each timer has one row for each reason.
        """
        if self._away and self._dropped.get(timer) == reason:
            return
        if self._away:
            self._dropped[timer] = reason
        came_at_ms = now_ms() - late_ms
        dropped = Run("", timer.kind, [timer.cluster_id], came_at_ms, started_at_ms=came_at_ms)
        self.unrecorded.append(dropped)
        self._warn(f"{_of(timer)} at {format_instant(came_at_ms)} skipped: {reason}{self._until()}")

    def _until(self) -> str:
        away = ", ".join(sorted(self._away))
        return f"; more of this is not recorded while {away} is away" if away else ""

    def fail(self, timer: Timer, error: Exception) -> None:
        """The run raised; the next tick runs."""
        self._warn(f"Unexpected error running the {_of(timer)}: {_cause(error)}")
        forget_if_dead()

    def settle(self) -> bool:
        """Record the dropped ticks; False = that must be tried again, as another command holds the
        warehouse."""
        if not self.unrecorded:
            return True
        if not is_initialised(self._warehouse):
            return False
        dropped = self.unrecorded
        try:
            with locked(self._warehouse, COMMAND):
                append_rows(self._warehouse, dropped, SKIPPED, self._settings.maintain)
        except WarehouseInUse:
            return False
        except Exception as error:
            self._warn(f"{len(dropped)} skipped ticks are not recorded: {_cause(error)}")
            dropped = []
        self.unrecorded = []
        for run in dropped:
            self._tell(_told(run, SKIPPED))
        return True

    def _known(self) -> list[str]:
        """Clusters that were loaded or stand in the settings."""
        loaded = loaded_clusters(self._settings) if is_initialised(self._warehouse) else set()
        return sorted(loaded | set(self._settings.clusters))


def run_of_load(loaded: Loaded) -> Run:
    return Run(loaded.run_id, "load", [loaded.cluster_id], 0, load_kind=loaded.kind,
               counts=loaded.counts())  # fmt: skip


def _told(run: Run, status: str = "succeeded") -> dict[str, Any]:
    row = row_of(run, status)
    return {name: row[name] for name in TOLD}


def _of(timer: Timer) -> str:
    return f"{timer.kind} of {timer.cluster_id}"


def _cause(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
