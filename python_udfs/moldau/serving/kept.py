"""The overview, kept: over a million groups it costs seconds, and everybody opens it first."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from moldau.serving.pages.page import Page

_COSTLY_SECONDS = 0.5
_FRESH_MS = 60_000
_OLD_MS = 300_000


class Kept:
    """A page that was made at most five minutes ago is shown at once if it was costly, with its
    own clock, while a newer one is being made; what costs little is made anew each time."""

    def __init__(self, make: Callable[[int], Page]) -> None:
        """`make`: the page at an instant."""
        self._make = make
        self._making = threading.Lock()
        self._found: tuple[Page, int] | None = None
        self._seconds = 0.0

    def page(self, at_ms: int) -> tuple[Page, int]:
        """A page, and the instant that it shows."""
        found = self._found
        if found and self._seconds > _COSTLY_SECONDS and at_ms - found[1] < _OLD_MS:
            if at_ms - found[1] >= _FRESH_MS and not self._making.locked():
                threading.Thread(target=self._made, args=(at_ms, found), daemon=True).start()
            return found
        return self._made(at_ms, found)

    def _made(self, at_ms: int, seen: tuple[Page, int] | None) -> tuple[Page, int]:
        """Once at a time: who waited takes what was made meanwhile."""
        with self._making:
            if self._found is not None and self._found is not seen and self._found[1] == at_ms:
                return self._found
            started = time.monotonic()
            self._found = (self._make(at_ms), at_ms)
            self._seconds = time.monotonic() - started
            return self._found
