"""The questions of one page, asked of one moment, whatever is written meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from moldau.engines.duckdb.confined import begin_reading
from moldau.engines.duckdb.statements import require_query
from moldau.errors import MoldauError
from moldau.reading.tables.query import Tables, run
from moldau.serving.question import Answer, Once, Question

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_ROWS = 1_000  # of an answer, whatever its query says


@dataclass
class Staying:
    """Tables that stay beside those of a connection: who waited finds them made."""

    making: threading.Lock = field(default_factory=threading.Lock)
    made: dict[str, Once] = field(default_factory=dict)


class Asking:
    """`staying`: what the connection has by now; `before`: statements that take rows for the
    questions; none of them is left behind."""

    def __init__(
        self,
        connection: DuckDBPyConnection,
        at_ms: int,
        seconds: float,
        staying: Staying,
        before: Sequence[str] = (),
    ) -> None:
        self._cursor = connection.cursor()
        self._seconds = seconds
        self._staying = staying
        self._before = before
        self._made: set[str] = set()
        self._is_begun = False
        self._cursor.execute(f"set variable at_ms = {at_ms:d}::bigint")

    def close(self) -> None:
        self._cursor.close()

    def answer(self, question: Question) -> Answer:
        """MoldauError if the query is wrong, or takes too long."""
        require_query(question.sql)
        self.make_to_stay([once for once in question.once if once.stays])
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

    def make_to_stay(self, wanted: Sequence[Once]) -> None:
        """Between two readings: a reading changes nothing. MoldauError as for `answer`."""
        if all(once.name in self._staying.made for once in wanted):
            return
        with self._staying.making, self._in_time():
            missing = [once for once in wanted if once.name not in self._staying.made]
            if self._is_begun:
                self._cursor.execute("rollback")
                self._is_begun = False
            self._cursor.execute("begin transaction")
            for once in missing:
                require_query(once.sql)
                list(run(self._cursor, f"create table {once.name} as {once.sql}").rows)
            self._cursor.execute("commit")
            self._staying.made.update({once.name: once for once in missing})

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
