"""Answers to the questions of pages, from connections that stay open as long as tables do not move.

Readers see what Delta has committed: a command that writes at the same time disturbs nobody.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from moldau.engines.duckdb.confined import begin_reading
from moldau.engines.duckdb.statements import require_query
from moldau.errors import MoldauError
from moldau.reading.tables.duckdb_views import connect_duckdb
from moldau.reading.tables.names_of import existing_tables
from moldau.reading.tables.query import run
from moldau.reading.tables.views import is_view, tables_under
from moldau.serving.question import Answer, Question
from moldau.warehouse.delta_log import newest_version
from moldau.warehouse.paths import POLLS

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

SECONDS = 20.0  # a request, and the wait for its turn
_AT_ONCE = 2  # queries: each has all cores
_ROWS = 1_000  # of an answer, whatever its query says
_OPEN = 16  # connections
_KEPT = 256  # answers
_LETTERS = 100_000  # of an answer that is kept
_OWN = {"memory_limit": "1GB"}
_Versions = tuple[tuple[str, int], ...]


class Busy(MoldauError):
    """Too many ask at once."""


class Reader:
    """Threads may ask at the same time."""

    def __init__(self, warehouse: Path, seconds: float = SECONDS) -> None:
        self.warehouse = warehouse
        self._seconds = seconds
        self._turns = threading.BoundedSemaphore(_AT_ONCE)
        self._opening = threading.Lock()
        self._open: OrderedDict[tuple[str, ...], tuple[_Versions, DuckDBPyConnection]] = (
            OrderedDict()
        )
        self._keeping = threading.Lock()
        self._kept: OrderedDict[tuple[str, int, _Versions], Answer] = OrderedDict()

    def ask(self, questions: Sequence[Question], at_ms: int) -> list[Answer]:
        """The answers, in order: what is wrong with one question is said in its answer.

        `at_ms`: the clock of the marts. MoldauError without a warehouse; Busy when no turn came.
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
        if not self._turns.acquire(timeout=self._seconds):
            raise Busy("too many pages are asked for at once: try again in a moment")
        try:
            return [self._one(question, names, versions, at_ms) for question in questions]
        finally:
            self._turns.release()

    def alone(self) -> threading.Lock:
        """Held while somebody else opens tables of this process: they are shared, and move on."""
        return self._opening

    def _one(
        self, question: Question, names: tuple[str, ...], versions: _Versions, at_ms: int
    ) -> Answer:
        key = (question.sql, at_ms, versions)
        if answer := self._kept.get(key):
            return answer
        if missing := [name for name in question.reads if name not in names]:
            return Answer(question, problem=f"This warehouse has no {missing[0]} yet.")
        try:
            answer = self._asked(question, self._opened(names, versions), at_ms)
        except MoldauError as error:
            return Answer(question, problem=str(error))
        with self._keeping:
            if sum(len(str(cell)) for row in answer.rows for cell in row) <= _LETTERS:
                self._kept[key] = answer
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return answer

    def _asked(self, question: Question, connection: DuckDBPyConnection, at_ms: int) -> Answer:
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

    def _opened(self, names: tuple[str, ...], versions: _Versions) -> DuckDBPyConnection:
        """The tables at their latest versions; those who still ask of earlier ones go on."""
        with self._opening:
            held = self._open.pop(names, None)
            if held is None or held[0] != versions:
                connection = connect_duckdb(
                    self.warehouse, names, at_ms="getvariable('at_ms')", own=_OWN
                )
                held = (versions, connection)
            self._open[names] = held
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


def _tables_of(names: Iterable[str]) -> set[str]:
    names = list(names)
    of_marts = tables_under([name for name in names if is_view(name)])
    return {name for name in names if not is_view(name)} | of_marts


def _files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.json"))


def value_of(answer: Answer, column: str) -> Any:
    """Of the first row; None = there is none."""
    return next((row[column] for row in answer.as_dicts()), None)
