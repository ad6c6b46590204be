"""Ask a long-running command to end, and a run to stop at the end of its current stage."""

from __future__ import annotations

import contextlib
import os
import select
import signal
from collections.abc import Callable, Iterator
from contextvars import ContextVar

_requested: ContextVar[Callable[[], bool] | None] = ContextVar("requested", default=None)


class ShutdownRequested(Exception):
    """The run stopped between two stages; the next command finishes it under its run_id."""


@contextlib.contextmanager
def stops_when(requested: Callable[[], bool]) -> Iterator[None]:
    """Within this block runs ask at each border whether they are to stop there."""
    token = _requested.set(requested)
    try:
        yield
    finally:
        _requested.reset(token)


def has_borders() -> bool:
    """Stages must be carried out one by one, so that the run can stop between them."""
    return _requested.get() is not None


def check() -> None:
    """A border between two stages: raises ShutdownRequested if the run is to stop here."""
    requested = _requested.get()
    if requested is not None and requested():
        raise ShutdownRequested


class Signals:
    """SIGTERM and SIGINT ask for the end, and wake whoever waits.

    A pipe does the waking: a handler must not touch the lock of a `threading.Event` in the middle
    of whose `wait` it may run.
    """

    def __init__(self) -> None:
        self.is_received = False
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._writer, False)

    def listen(self) -> None:
        """Again after whatever installs handlers of its own, as the start of Spark does."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._note)

    def wait(self, milliseconds: int) -> bool:
        """True as soon as a signal has come, False when none came in this time."""
        if not self.is_received:
            select.select([self._reader], [], [], milliseconds / 1000)
        return self.is_received

    def _note(self, *_: object) -> None:
        self.is_received = True
        with contextlib.suppress(BlockingIOError):
            os.write(self._writer, b"!")
