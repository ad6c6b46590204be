"""The session that a verb works in: its own, or the one that `moldau exec` holds."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import click

from moldau.errors import MoldauError
from moldau.settings import Settings

if TYPE_CHECKING:
    from moldau.runs.session import Session


class Held:
    """The session of `moldau exec`, opened by the first verb that needs one."""

    def __init__(self, settings: Settings, wait_seconds: float) -> None:
        self.settings = settings
        self._wait_seconds = wait_seconds
        self._stack = contextlib.ExitStack()
        self._session: Session | None = None

    def session(self, settings: Settings) -> Session:
        from moldau.runs.session import finish_interrupted_work, open_session

        if settings.warehouse.resolve() != self.settings.warehouse.resolve():
            raise MoldauError("a file of verbs works on one warehouse: give it to `moldau exec`")
        if self._session is None:
            opened = open_session(settings, "moldau exec", self._wait_seconds)
            self._session = self._stack.enter_context(opened)
        else:
            finish_interrupted_work(self._session)  # of a line that failed
        self._session.settings = settings
        return self._session

    def close(self) -> None:
        self._stack.close()


@contextlib.contextmanager
def session_for(settings: Settings, command: str, wait_seconds: float) -> Iterator[Session]:
    held = click.get_current_context().find_root().obj
    if isinstance(held, Held):
        yield held.session(settings)
        return
    from moldau.runs.session import open_session

    with open_session(settings, command, wait_seconds) as session:
        yield session


def wait_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds `--wait`; the command receives `wait` in seconds."""
    return click.option(
        "--wait",
        type=click.FloatRange(min=0),
        default=0,
        metavar="SECONDS",
        help="Wait so long for another command on this warehouse to end.  [default: 0]",
    )(command)
