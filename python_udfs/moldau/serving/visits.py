"""Who waits for a page, so that what is made ready beforehand stands in nobody's way."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

_QUIET_SECONDS = 0.5


class Visits:
    """Threads may come and go at the same time."""

    def __init__(self) -> None:
        self._counting = threading.Lock()
        self._waiting, self._quiet_since = 0, time.monotonic()
        self._are_any = False

    @contextmanager
    def one(self) -> Iterator[None]:
        with self._counting:
            self._waiting += 1
            self._are_any = True
        try:
            yield
        finally:
            with self._counting:
                self._waiting -= 1
                self._quiet_since = time.monotonic()

    def were_within(self, seconds: float) -> bool:
        """Somebody asked, and not longer ago."""
        return self._are_any and time.monotonic() - self._quiet_since < seconds

    def are_over(self, seconds: float) -> bool:
        """Waits until nobody has asked for half a second, but no longer than this."""
        end = time.monotonic() + seconds
        while self._waiting or time.monotonic() - self._quiet_since < _QUIET_SECONDS:
            if time.monotonic() >= end:
                return False
            time.sleep(_QUIET_SECONDS / 10)
        return True
