"""Answers to the questions of pages, from connections that stay open as long as tables do not move.

Readers see what Delta has committed: a command that writes at the same time disturbs nobody.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from moldau.engines.duckdb.confined import begin_reading
from moldau.engines.duckdb.statements import require_query
from moldau.errors import MoldauError
from moldau.reading.tables.duckdb_views import connect_duckdb
from moldau.reading.tables.names_of import existing_tables
from moldau.reading.tables.query import run
from moldau.reading.tables.views import is_view, tables_under
from moldau.serving.question import Answer, Question, text
from moldau.warehouse.contracts import tables
from moldau.warehouse.delta_log import newest_version
from moldau.warehouse.paths import POLLS

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

SECONDS = 20.0  # a query
_PATIENCE = 60.0  # seconds that a page waits for its turn
_AT_ONCE = 2  # queries: each has all cores
_ROWS = 1_000  # of an answer, whatever its query says
_OPEN = 16  # connections
_KEPT = 256  # answers
_LETTERS = 100_000  # of an answer that is kept
_BUSY = "too many pages are asked for at once: try again in a moment"
# the files are in the cache of the system, once for all connections
_OWN = {"memory_limit": "1GB", "enable_external_file_cache": "false"}
_KEY = ("cluster_id", "group_id")
_CHANGES = "history.decision_changes"
_Versions = tuple[tuple[str, int], ...]
_Key = tuple[str, int, _Versions]
"""Of an answer: its SQL, its clock, and what it was asked of."""
Group = tuple[str, str]


class Busy(MoldauError):
    """Too many ask at once."""


class Reader:
    """Threads may ask at the same time."""

    def __init__(self, warehouse: Path, seconds: float = SECONDS) -> None:
        self.warehouse = warehouse
        self._seconds = seconds
        self._turns = threading.BoundedSemaphore(_AT_ONCE)
        self._opening = threading.Lock()
        self._open: OrderedDict[
            tuple[tuple[str, ...], bool], tuple[_Versions, DuckDBPyConnection]
        ] = OrderedDict()
        self._keeping = threading.Lock()
        self._kept: OrderedDict[_Key, Answer] = OrderedDict()

    def ask(
        self, questions: Sequence[Question], at_ms: int, group: Group | None = None
    ) -> list[Answer]:
        """The answers, in order: what is wrong with one question is said in its answer.

        `at_ms`: the clock of the marts; `group`: cluster and id of the one that all questions are
        about. MoldauError without a warehouse; Busy when no turn came.
        """
        existing = set(existing_tables(self.warehouse))
        names = tuple(
            dict.fromkeys(
                name
                for question in questions
                for name in question.reads
                if _tables_of([name]) <= existing
            )
        )
        versions = self._versions(names)
        known = [self._kept.get((question.sql, at_ms, versions)) for question in questions]
        if all(known):
            return [answer for answer in known if answer]
        if not self._turns.acquire(timeout=_PATIENCE):
            raise Busy(_BUSY)
        try:
            connection = self._opened(names, versions, is_of_group=group is not None)
            return [
                self._one(question, names, connection, (question.sql, at_ms, versions), group)
                for question in questions
            ]
        except MoldauError as error:
            return [Answer(question, problem=str(error)) for question in questions]
        finally:
            self._turns.release()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """While somebody else opens tables of this process, which are shared and move on.

        Busy when no turn came."""
        if not self._opening.acquire(timeout=_PATIENCE):
            raise Busy(_BUSY)
        try:
            yield
        finally:
            self._opening.release()

    def lines(self, about: Question, at_ms: int, make: Callable[[], list[str]]) -> tuple[str, ...]:
        """Words about all that the warehouse has, made again when any table moved."""
        versions = self._versions(existing_tables(self.warehouse))
        key = (about.sql, at_ms, versions)
        if not (known := self._kept.get(key)):
            with self.alone():
                if not (known := self._kept.get(key)):  # those who waited find it made
                    known = Answer(about, ("line",), tuple((line,) for line in make()))
                    self._keep(key, known)
        return tuple(str(line) for (line,) in known.rows)

    def _keep(self, key: _Key, answer: Answer) -> None:
        with self._keeping:
            if sum(len(str(cell)) for row in answer.rows for cell in row) <= _LETTERS:
                self._kept[key] = answer
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)

    def _one(
        self,
        question: Question,
        names: tuple[str, ...],
        connection: DuckDBPyConnection,
        key: _Key,
        group: Group | None,
    ) -> Answer:
        if answer := self._kept.get(key):
            return answer
        if missing := [name for name in question.reads if name not in names]:
            return Answer(question, problem=f"This warehouse has no {missing[0]} yet.")
        try:
            answer = self._asked(question, connection, key[1], group)
        except MoldauError as error:
            return Answer(question, problem=str(error))
        self._keep(key, answer)
        return answer

    def _asked(
        self,
        question: Question,
        connection: DuckDBPyConnection,
        at_ms: int,
        group: Group | None,
    ) -> Answer:
        require_query(question.sql)
        cursor = connection.cursor()
        is_late = threading.Event()

        def stop() -> None:
            is_late.set()
            cursor.interrupt()

        timer = threading.Timer(self._seconds, stop)
        timer.start()
        try:
            cursor.execute(f"set variable at_ms = {at_ms:d}::bigint")
            for name, value in zip(_KEY, group or (), strict=False):
                cursor.execute(f"set variable {name} = {text(value)}")
            begin_reading(cursor)
            found = run(cursor, question.sql)
            rows = tuple(row for row, _ in zip(found.rows, range(_ROWS), strict=False))
        except MoldauError:
            if not is_late.is_set():
                raise
            raise MoldauError(
                f"this took longer than {self._seconds:g} s and was ended: ask about less"
            ) from None
        finally:
            timer.cancel()
            cursor.close()
        return Answer(question, found.columns, rows)

    def _opened(
        self, names: tuple[str, ...], versions: _Versions, is_of_group: bool
    ) -> DuckDBPyConnection:
        """The tables at their latest versions; those who still ask of earlier ones go on.

        `is_of_group`: only rows of the group that variables of the connection name, for marts that
        else would go through those of all.
        """
        key = (names, is_of_group)
        if (held := self._open.get(key)) and held[0] == versions:
            return held[1]
        with self.alone():
            held = self._open.pop(key, None)
            if held is None or held[0] != versions:
                connection = connect_duckdb(
                    self.warehouse, names, at_ms="getvariable('at_ms')", own=_OWN,
                    where=_of_group() if is_of_group else {},
                )  # fmt: skip
                held = (versions, connection)
            self._open[key] = held
            while len(self._open) > _OPEN:
                self._open.popitem(last=False)
            return held[1]

    def _versions(self, names: Iterable[str]) -> _Versions:
        """What moves when an answer may be another one."""
        found = {
            name: newest_version(self.warehouse.joinpath(*name.split(".", 1)))
            for name in sorted(_tables_of(names))
        }
        found |= {file.name: file.stat().st_mtime_ns for file in _files(self.warehouse / POLLS)}
        return tuple(found.items())


def _of_group() -> dict[str, str]:
    """Of each table of groups the condition of those rows; subjects name the group in them."""
    condition = " and ".join(f"{name} = getvariable('{name}')" for name in _KEY)
    found = {
        name: condition
        for name, table in tables().items()
        if set(_KEY) <= {column.name for column in table.columns}
    }
    of_cluster = f"cluster_id = getvariable('{_KEY[0]}')"
    found[_CHANGES] = f"{of_cluster} and contains(subject, getvariable('{_KEY[1]}'))"
    return found


def _tables_of(names: Iterable[str]) -> set[str]:
    names = list(names)
    of_marts = tables_under([name for name in names if is_view(name)])
    return {name for name in names if not is_view(name)} | of_marts


def _files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.json"))
