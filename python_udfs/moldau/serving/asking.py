"""The questions of one page, asked of one moment, whatever is written meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING

from moldau.engines.duckdb.confined import begin_reading
from moldau.engines.duckdb.statements import require_query
from moldau.errors import MoldauError
from moldau.reading.tables.query import Tables, run
from moldau.serving.question import Answer, Question

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_ROWS = 1_000  # of an answer, whatever its query says
_MAKING = threading.Lock()  # of tables that stay: who waited finds them made


class Asking:
    """`before`: statements that take rows for its questions; none of them is left behind."""

    def __init__(
        self,
        connection: DuckDBPyConnection,
        at_ms: int,
        seconds: float,
        before: Sequence[str] = (),
    ) -> None:
        self._cursor = connection.cursor()
        self._seconds = seconds
        self._before = before
        self._made: set[str] = set()
        self._stays: set[str] = set()
        self._is_begun = False
        self._cursor.execute(f"set variable at_ms = {at_ms:d}::bigint")

    def close(self) -> None:
        self._cursor.close()

    def answer(self, question: Question) -> Answer:
        """MoldauError if the query is wrong, or takes too long."""
        require_query(question.sql)
        self._make_to_stay(question)
        with self._in_time():
            self._begin()
            self._make(question)
            found = run(self._cursor, question.sql)
            rows = tuple(islice(found.rows, _ROWS))
        return Answer(question, found.columns, rows)

    @contextmanager
    def tables(self, missing: Collection[str]) -> Iterator[Tables]:
        """Those of the connection, for what is asked otherwise than by questions."""
        with self._in_time():
            self._begin()
            yield Tables.over(self._cursor, missing)

    def _begin(self) -> None:
        """Once, and again after an error, which ends all that was begun."""
        if self._is_begun:
            return
        self._made.clear()
        if self._before:
            self._cursor.execute("begin transaction")
        else:
            begin_reading(self._cursor)
        for statement in self._before:
            list(run(self._cursor, statement).rows)
        self._is_begun = True

    def _make(self, question: Question) -> None:
        for once in question.once:
            if not once.stays and once.name not in self._made:
                require_query(once.sql)
                list(run(self._cursor, f"create temp table {once.name} as {once.sql}").rows)
                self._made.add(once.name)

    def _make_to_stay(self, question: Question) -> None:
        """Between two readings: a reading changes nothing."""
        missing = [once for once in question.once if once.stays and once.name not in self._stays]
        if not missing:
            return
        with _MAKING, self._in_time():
            if self._is_begun:
                self._cursor.execute("rollback")
                self._is_begun = False
            self._cursor.execute("begin transaction")
            for once in missing:
                require_query(once.sql)
                made = f"create table if not exists {once.name} as {once.sql}"
                list(run(self._cursor, made).rows)
            self._cursor.execute("commit")
        self._stays.update(once.name for once in missing)

    @contextmanager
    def _in_time(self) -> Iterator[None]:
        is_late = threading.Event()

        def stop() -> None:
            is_late.set()
            self._cursor.interrupt()

        timer = threading.Timer(self._seconds, stop)
        timer.start()
        try:
            yield
        except MoldauError:
            self._cursor.execute("rollback")
            self._is_begun = False
            if not is_late.is_set():
                raise
            raise MoldauError(
                f"this took longer than {self._seconds:g} s and was ended: ask about less"
            ) from None
        finally:
            timer.cancel()
