"""Connections that stay open on the tables that pages ask, and move on when these do.

Over many rows it takes seconds until tables that moved are open again, and what stays beside them
is found. Meanwhile they are asked as they stood, and whoever asks is told so.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from moldau.engines.sizes import is_small
from moldau.errors import MoldauError
from moldau.instants import now_ms
from moldau.reading.tables.duckdb_views import connect_duckdb
from moldau.reading.tables.names_of import existing_tables
from moldau.reading.tables.views import is_view, tables_under, views_under
from moldau.serving.asking import Asking, Staying
from moldau.serving.question import Behind
from moldau.serving.taken import make_room
from moldau.serving.visits import Visits
from moldau.warehouse.delta_log import last_commit
from moldau.warehouse.paths import POLLS
from moldau.warehouse.polls import POLLED

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_PATIENCE = 60.0  # seconds that a page waits for its turn
_SOON = 0.2  # seconds in which a page waits for many rows that moved to be open again
_OLD_MS = 30_000  # after they were the latest no rows are shown any more
WANTED_SECONDS = 600.0  # since they were asked for
_POLITE = 3.0  # seconds that others are let go first
_REST = 3  # times as long as it took to open tables again they stand
_OPEN = 20  # connections: more than all pages together ask
POLL = "poll "
RENEWING = "opens tables again"
_BUSY = "too many pages are asked for at once: try again in a moment"
# the files are in the cache of the system, once for all connections
OWN = {"memory_limit": "1GB", "enable_external_file_cache": "false"}
Versions = tuple[tuple[str, tuple[int, int]], ...]
"""By table: its last commit and the time of it, as another table may be made in its place."""
Turn = Callable[[], AbstractContextManager[None]]
_Key = tuple[tuple[str, ...], tuple[str, ...]]
"""Of a connection: the relations that it has, and those with room for some of their rows."""


class Busy(MoldauError):
    """Too many ask at once."""


@dataclass
class Opened:
    """Instants are those of `time.monotonic`, but for `seen_ms`."""

    connection: DuckDBPyConnection
    versions: Versions
    seen_ms: int
    """When these versions were last seen to be the latest."""
    staying: Staying = field(default_factory=Staying)
    asked_at: float = 0.0
    may_stand: bool = True
    """They could be opened again, as far as is known."""
    took: float = 0.0
    """Seconds, to open them again."""
    stands_until: float = 0.0
    renewing: threading.Thread | None = None

    @property
    def is_slow(self) -> bool:
        """To open again."""
        return self.took > _SOON or bool(self.staying.made)

    def is_at(self, versions: Versions) -> bool:
        """Notes what is seen of the latest versions."""
        if self.versions == versions:
            self.seen_ms = now_ms()
        return self.versions == versions

    def behind(self, versions: Versions) -> Behind | None:
        """What of these latest versions it does not have; None = nothing."""
        if self.versions == versions:
            return None
        latest = dict(versions)
        moved = [(name, commit) for name, commit in self.versions if latest.get(name) != commit]
        commits = {name: version for name, (version, _) in moved if not name.startswith(POLL)}
        return Behind(self.seen_ms, commits)


class OpenTables:
    """Threads may ask at the same time."""

    def __init__(self, warehouse: Path, seconds: float, visits: Visits, turn: Turn) -> None:
        """`seconds`: in which what stays beside tables has to be found; `turn`: to ask."""
        self.warehouse, self._seconds = warehouse, seconds
        self._visits, self._turn = visits, turn
        self._opening, self._keeping = threading.Lock(), threading.Lock()
        self._open: OrderedDict[_Key, Opened] = OrderedDict()

    def there(self, names: Iterable[str]) -> tuple[tuple[str, ...], Versions]:
        """Those of the relations whose tables the warehouse has, and these as they are now.

        MoldauError without a warehouse."""
        existing = set(existing_tables(self.warehouse))
        there = tuple(name for name in dict.fromkeys(names) if tables_of(name) <= existing)
        return there, self.versions(there)

    def versions(self, names: Collection[str]) -> Versions:
        """Of the tables under these relations: what moves when an answer may be another one."""
        under = sorted(set().union(*map(tables_of, names)))
        found = [(name, _commit(self.warehouse.joinpath(*name.split(".", 1)))) for name in under]
        if any(map(tells_polls, names)):
            polls = sorted((self.warehouse / POLLS).glob("*.json"))
            found += [(POLL + file.name, (0, file.stat().st_mtime_ns)) for file in polls]
        return tuple(found)

    def latest(self, names: tuple[str, ...], taken: Sequence[str] = ()) -> Opened:
        """At their latest versions; those who still ask of earlier ones go on.

        `taken`: with room for rows of these in the place of all. MoldauError if one is damaged;
        Busy when no turn came."""
        key = names, tuple(taken)
        held = self._open.get(key)
        if held is None or not held.is_at(self.versions(names)):
            with self.alone():
                held = self._open.get(key)
                if held is None or not held.is_at(self.versions(names)):
                    held = self._keep(key, self._connected(key))
        return self._asked(key, held)

    def soon(
        self, names: tuple[str, ...], taken: Sequence[str] = ()
    ) -> tuple[Opened, Behind | None]:
        """The same; but many rows that moved as they stood, until they are open again, unless that
        takes but a moment. Behind: what of them has moved."""
        key = names, tuple(taken)
        held, versions = self._open.get(key), self.versions(names)
        if held is None or held.is_at(versions) or not self._may_stand(held):
            return self.latest(names, taken), None
        if (renewing := self._renew(key, held)) and not held.is_slow:
            renewing.join(_SOON)
            held = self._open.get(key, held)
        return self._asked(key, held), held.behind(versions)

    def renew(self) -> None:
        """Open at their latest versions, before they are asked for, tables that are wanted."""
        asked_since = time.monotonic() - WANTED_SECONDS
        with self._keeping:
            wanted = [(key, h) for key, h in self._open.items() if h.asked_at >= asked_since]
        moved = [(key, held) for key, held in wanted if not held.is_at(self.versions(key[0]))]
        for key, held in reversed(moved):
            if renewing := self._renew(key, held):
                renewing.join()

    def alone(self) -> AbstractContextManager[None]:
        """While somebody opens tables of this process, which are shared and move on.

        Busy when no turn came."""
        return turn_of(self._opening)

    def _may_stand(self, held: Opened) -> bool:
        is_old = now_ms() - held.seen_ms > _OLD_MS
        try:
            return held.may_stand and not is_old and not is_small(self.warehouse)
        except (MoldauError, OSError):  # of a table that may be another one
            return False

    def _renew(self, key: _Key, held: Opened) -> threading.Thread | None:
        """Who opens these tables again; None = they were opened just now."""
        with self._keeping:
            if held.renewing is None and time.monotonic() >= held.stands_until:
                held.renewing = threading.Thread(
                    target=self._renewed, args=(key, held), name=RENEWING, daemon=True
                )
                held.renewing.start()
            return held.renewing

    def _renewed(self, key: _Key, before: Opened) -> None:
        """With all that stood beside them."""
        try:
            if before.is_slow:
                self._visits.are_over(_POLITE)
            started = time.monotonic()
            with self.alone():
                opened = self._connected(key)
            if staying := list(before.staying.made.values()):
                asking = Asking(opened.connection, 0, self._seconds, opened.staying)
                with closing(asking), self._turn():
                    asking.make_to_stay(staying)
            opened.asked_at, now = before.asked_at, time.monotonic()
            opened.took = now - started
            opened.stands_until = now + _REST * opened.took
            self._keep(key, opened)
        except Exception:
            before.may_stand = False  # whoever asks next is told what is wrong
        finally:
            before.renewing = None

    def _connected(self, key: _Key) -> Opened:
        (names, taken), started = key, time.monotonic()
        # what moves from here on is seen to have moved
        seen_ms, versions = now_ms(), self.versions(names)
        # marts over tables without rows are planned in half the time
        tables = [name for name in taken if not is_view(name)]
        connection = connect_duckdb(
            self.warehouse, names, at_ms="getvariable('at_ms')", own=OWN,
            between=lambda connection: make_room(connection, tables),
        )  # fmt: skip
        if marts := [name for name in taken if is_view(name)]:
            connection.execute("commit")
            make_room(connection, marts)
        return Opened(connection, versions, seen_ms, took=time.monotonic() - started)

    def _keep(self, key: _Key, opened: Opened) -> Opened:
        with self._keeping:
            self._open[key] = opened
            self._open.move_to_end(key)
            while len(self._open) > _OPEN:
                self._open.popitem(last=False)
        return opened

    def _asked(self, key: _Key, opened: Opened) -> Opened:
        opened.asked_at = time.monotonic()
        with self._keeping, suppress(KeyError):
            self._open.move_to_end(key)
        return opened


@contextmanager
def turn_of(lock: threading.Lock | threading.Semaphore, words: str = _BUSY) -> Iterator[None]:
    """Busy, in these words, when none came."""
    if not lock.acquire(timeout=_PATIENCE):
        raise Busy(words)
    try:
        yield
    finally:
        lock.release()


@lru_cache(maxsize=1_000)
def tables_of(name: str) -> frozenset[str]:
    """Of the warehouse: those that a mart is made from, or the table itself."""
    return frozenset(tables_under([name]) if is_view(name) else {name})


@lru_cache(maxsize=1_000)
def tells_polls(name: str) -> bool:
    """Whether a mart has what stands beside the tables of the last looks at running clusters."""
    return any(POLLED in view.reads for view in views_under([name]))


def _commit(folder: Path) -> tuple[int, int]:
    """The last one of a table, and its time; (-1, 0) = there is none."""
    try:
        return last_commit(folder)
    except OSError:
        return -1, 0
