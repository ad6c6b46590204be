"""The overview, kept: over a million groups it costs seconds, and everybody opens it first."""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable, Hashable
from contextlib import suppress
from dataclasses import dataclass, replace

from moldau.serving.page import Page

_COSTLY_SECONDS = 0.5
_FRESH_MS = 60_000
_OLD_MS = 300_000
_LOOK_SECONDS = 2.0
_REST = 5  # times as long as a page was made nothing is made beforehand
_WANTED_SECONDS = 600  # after somebody asked
MOVED = "Newer data has come in since: this page is being made anew."


@dataclass(frozen=True)
class _Found:
    page: Page
    at_ms: int
    versions: Hashable


class Kept:
    """What costs little is made anew each time. A costly page that is at most five minutes old is
    shown at once, with its own clock, while a newer one is being made; where a table has moved
    since, it says so. As long as somebody looks, a newer one is made before he asks."""

    def __init__(
        self,
        make: Callable[[int], Page],
        versions: Callable[[], Hashable],
        now: Callable[[], int],
        then: Callable[[], None] = lambda: None,
    ) -> None:
        """`make`: the page at an instant; `versions`: of all that it shows; `now`: its clock;
        `then`: what else is done beforehand for those who look."""
        self._make, self._versions, self._now, self._then = make, versions, now, then
        self._making = threading.Lock()
        self._found: _Found | None = None
        # by whether a table had moved since the page before: else most of it is known
        self._seconds: dict[bool, float] = {}
        self._asked_at = time.monotonic()
        self._is_watched = False

    def page(self, at_ms: int) -> tuple[Page, int]:
        """A page, and the instant that it shows."""
        self._asked_at = time.monotonic()
        found = self._found
        has_moved = found is None or self._versions() != found.versions
        if found is None or not self._is_costly(has_moved) or at_ms - found.at_ms >= _OLD_MS:
            found = self._made(at_ms, found)
            return found.page, found.at_ms
        if has_moved or at_ms - found.at_ms >= _FRESH_MS:
            if not self._making.locked():
                threading.Thread(
                    target=self._made_quietly, args=(at_ms, found), daemon=True
                ).start()
            if has_moved:
                return replace(found.page, note=MOVED), found.at_ms
        return found.page, found.at_ms

    def _made(self, at_ms: int, seen: _Found | None) -> _Found:
        """Once at a time: who waited takes what was made meanwhile."""
        with self._making:
            if self._found is not None and self._found is not seen and self._found.at_ms == at_ms:
                return self._found
            started = time.monotonic()
            versions = self._versions()  # those that move from here on are seen to have moved
            self._found = _Found(self._make(at_ms), at_ms, versions)
            has_moved = seen is None or versions != seen.versions
            # some moves cost little: the next one may be another
            took, before = time.monotonic() - started, self._seconds.get(has_moved, 0.0)
            self._seconds[has_moved] = max(took, before / 2)
            if self._is_costly(has_moved) and not self._is_watched:
                self._is_watched = True
                _begin(_watch, weakref.ref(self))
            return self._found

    def _is_costly(self, has_moved: bool) -> bool:
        """As far as is known."""
        seconds = self._seconds.get(has_moved, self._seconds.get(True, 0.0))
        return seconds > _COSTLY_SECONDS

    def _made_quietly(self, at_ms: int, seen: _Found | None) -> None:
        """Who asks next is told what is wrong."""
        with suppress(Exception):
            self._made(at_ms, seen)

    def look(self) -> float:
        """Makes a newer page if there is one, and somebody wants it; gives the seconds to the next
        look."""
        found, at_ms = self._found, self._now()
        is_wanted = time.monotonic() - self._asked_at < _WANTED_SECONDS
        if not is_wanted or found is None:
            return _LOOK_SECONDS
        with suppress(Exception):
            has_moved = self._versions() != found.versions
            is_newer = has_moved or at_ms - found.at_ms >= _FRESH_MS
            if is_newer and self._is_costly(has_moved):
                self._made(at_ms, found)
                self._then()
                return max(_LOOK_SECONDS, _REST * self._seconds[has_moved])
        return _LOOK_SECONDS


def _begin(work: Callable[..., None], *arguments: object) -> None:
    threading.Thread(target=work, args=arguments, daemon=True).start()


def _watch(kept: weakref.ref[Kept]) -> None:
    """As long as there is somebody who may ask."""
    while (found := kept()) is not None:
        seconds = found.look()
        del found
        time.sleep(seconds)
