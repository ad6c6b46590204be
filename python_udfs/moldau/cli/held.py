"""The session that a verb works in: its own, or the one that `moldau exec` has open."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from moldau.cli.progress import tell
from moldau.cli.say import warn
from moldau.errors import MoldauError
from moldau.settings import Settings
from moldau.warehouse.aside import in_words
from moldau.warehouse.lock import locked

if TYPE_CHECKING:
    from moldau.sessions.run import Run
    from moldau.sessions.session import Session


class Held:
    """A warehouse for one verb, or for every line of `moldau exec`.

    Its lock is taken when a verb first writes, Spark starts when one first needs it.
    """

    def __init__(
        self,
        settings: Settings,
        command: str,
        wait_seconds: float,
        bytes_coming: int | None = None,
    ) -> None:
        self.settings = settings
        self._bytes_coming = bytes_coming
        self._command = command
        self._wait_seconds = wait_seconds
        self._stack = contextlib.ExitStack()
        self._is_locked = False
        self.failed_calls = 0  # of runs that were interrupted, since somebody asked
        self._session: Session | None = None

    def lock(self, settings: Settings) -> None:
        warehouse = self.settings.warehouse.resolve()
        if settings.warehouse.resolve() != warehouse:
            raise MoldauError("a file of verbs works on one warehouse: give it to `moldau exec`")
        if not self._is_locked:
            self._stack.enter_context(locked(warehouse, self._command, self._wait_seconds))
            self._is_locked = True

    def session(self, settings: Settings) -> Session:
        from moldau.runs.opening import start_session
        from moldau.runs.resume import finish_interrupted

        self.lock(settings)
        if self._session is None:
            tell("open")
            self._session = start_session(settings, self._bytes_coming, tell=tell)
        else:
            finish_interrupted(self._session)  # of a line that failed
        self._session.settings = settings
        self._tell_finished(self._session)
        return self._session

    def _tell_finished(self, session: Session) -> None:
        from moldau.sessions.run import failed_calls

        for run in session.finished:
            failed = failed_calls(run)
            what = f": {failed} plugin calls failed" if failed else ""
            warn(f"finished {run.run_id}, which was interrupted{what}")
            self.failed_calls += failed
        session.finished.clear()
        for note in session.notes:
            warn(note)
        session.notes.clear()
        for entry in session.set_aside:
            warn(in_words(entry))
        session.set_aside.clear()

    def decide(
        self, settings: Settings, kind: str, clusters: Sequence[str], at_ms: int, is_dry_run: bool
    ) -> Run:
        """One run of a kind: without Spark if nothing can have changed."""
        from moldau.runs.idle import idle_run
        from moldau.runs.scope import require_clusters

        require_clusters(settings, clusters)
        self.lock(settings)
        run = idle_run(settings, kind, clusters, at_ms, is_dry_run)
        if run is None:
            from moldau.runs.decide import decide

            run = decide(self.session(settings), kind, clusters, at_ms, is_dry_run)
        return run

    def close(self) -> None:
        self._stack.close()


@contextlib.contextmanager
def held_for(
    settings: Settings, command: str, wait_seconds: float, bytes_coming: int = 0
) -> Iterator[Held]:
    """`bytes_coming`: size of the files that the verb reads."""
    outer = click.get_current_context().find_root().obj
    if isinstance(outer, Held):
        yield outer
        return
    with contextlib.closing(Held(settings, command, wait_seconds, bytes_coming)) as held:
        yield held


@contextlib.contextmanager
def session_for(
    settings: Settings,
    command: str,
    wait_seconds: float,
    bytes_coming: int = 0,
    clusters: Sequence[str] | None = None,
) -> Iterator[Session]:
    """`clusters`: those that a run is about, () = all; None = the verb may bring the first one."""
    from moldau.runs.scope import require_clusters

    if clusters is not None:
        require_clusters(settings, clusters)
    with held_for(settings, command, wait_seconds, bytes_coming) as held:
        yield held.session(settings)


def require_number(_context: click.Context, _option: click.Parameter, seconds: float) -> float:
    if math.isnan(seconds):
        raise click.BadParameter("nan is not a number of seconds")
    return seconds


wait_option = click.option(
    "--wait",
    type=click.FloatRange(min=0),
    default=0,
    metavar="SECONDS",
    callback=require_number,
    help="Wait so long for another command on this warehouse to end.  [default: 0]",
)
"""The command receives `wait` in seconds."""
