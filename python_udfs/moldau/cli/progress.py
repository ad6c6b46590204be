"""What a verb is about, in a line on stderr of a terminal, once it takes longer than two seconds.

`rich` draws it and takes it away before anything else is printed.
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from threading import Event, RLock, Thread
from typing import TYPE_CHECKING

from moldau.cli import say

if TYPE_CHECKING:
    from rich.live import Live
    from rich.text import Text

_STAGES = {
    "open": "opening the warehouse",
    "read": "reading files",
    "bring": "appending what is new",
    "fold": "folding into state",
    "call": "calling plugins",
    "decide": "deciding",
    "apply": "applying",
    "close": "closing",
}
_AGAIN_SECONDS = 0.25
_ENDLESS = ("watch",)  # says what it does in lines of its own


class Progress:
    """The line, drawn by a thread of its own."""

    def __init__(self, verb: str, after_seconds: float = 2) -> None:
        self._after_seconds = after_seconds
        self._verb, self._stage, self._rows = verb, "", 0
        self._began, self._ended = time.monotonic(), Event()
        self._lock = RLock()
        self._stream = sys.stderr  # a line of `moldau exec` has another
        self._live: Live | None = None
        self._thread = Thread(target=self._follow, name="moldau-progress", daemon=True)

    def tell(self, stage: str, rows: int | None) -> None:
        """What a session says of itself; `rows`: how many it is about, or has behind it."""
        self._stage, self._rows = stage, rows or 0

    @contextlib.contextmanager
    def aside(self, ends: bool) -> Iterator[None]:
        """In this block somebody prints: the line is away. `ends`: it does not come back."""
        with self._lock:
            if self._live:
                with contextlib.suppress(OSError):  # the terminal is gone
                    self._live.stop()
            if ends:
                self._ended.set()
            yield

    def text(self) -> Text:
        from rich.text import Text

        seconds = int(time.monotonic() - self._began)
        rows = f"{self._rows:,} rows" if self._rows else ""
        told = (f"moldau {self._verb}", _STAGES.get(self._stage, self._stage), rows, f"{seconds} s")
        return Text(" · ".join(filter(None, told)), no_wrap=True, overflow="ellipsis")

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        with self.aside(ends=True):
            pass
        self._thread.join()

    def _follow(self) -> None:
        if self._ended.wait(self._after_seconds):
            return
        from rich.live import Live

        live = Live(
            get_renderable=self.text, console=say.console(to=self._stream), transient=True,
            auto_refresh=False, redirect_stdout=False, redirect_stderr=False,
        )  # fmt: skip
        while not self._ended.wait(_AGAIN_SECONDS if self._live else 0):
            with self._lock, contextlib.suppress(OSError):
                if not self._ended.is_set():
                    self._live = live
                    live.start()
                    live.console.show_cursor(True)  # it stays, should the command be killed
                    live.refresh()


_current: Progress | None = None


def tell(stage: str, rows: int | None = None) -> None:
    """The listener of sessions: what they do goes into the line, if there is one."""
    if _current:
        _current.tell(stage, rows)


@contextlib.contextmanager
def shown(verb: str | None) -> Iterator[None]:
    """While this command runs its line is shown, if somebody sees stderr."""
    global _current
    if verb in (None, *_ENDLESS) or not sys.stderr.isatty():
        yield
        return
    assert verb
    _current = Progress(verb)
    _current.start()
    try:
        with say.beside(_current.aside):
            yield
    finally:
        _current.stop()
        _current = None


def hide() -> None:
    """For good: `--quiet`."""
    if _current:
        _current.stop()
