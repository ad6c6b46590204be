"""Answers to the questions of pages, from connections that stay open as long as tables do not move.

Readers see what Delta has committed: a command that writes at the same time disturbs nobody.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from moldau.errors import MoldauError
from moldau.reading.tables.duckdb_views import connect_duckdb
from moldau.reading.tables.names_of import existing_tables
from moldau.reading.tables.query import Tables
from moldau.reading.tables.views import PARAMETERS, is_view, tables_under, views_under
from moldau.serving.asking import Asking
from moldau.serving.question import Answer, Question
from moldau.serving.taken import Group, make_room, of_groups, taking, taking_group
from moldau.warehouse.delta_log import newest_version
from moldau.warehouse.paths import POLLS

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

SECONDS = 20.0  # a query
_PATIENCE = 60.0  # seconds that a page waits for its turn
_AT_ONCE = 2  # queries: each has all cores
_OPEN = 16  # connections
_KEPT = 256  # answers
_LETTERS = 100_000  # of an answer that is kept
_POLL = "poll "
_BUSY = "too many pages are asked for at once: try again in a moment"
# the files are in the cache of the system, once for all connections
_OWN = {"memory_limit": "1GB", "enable_external_file_cache": "false"}
Versions = tuple[tuple[str, int], ...]
_Opened = tuple[tuple[str, ...], tuple[str, ...]]
"""Of a connection: the relations that it has, and those with room for some of their rows."""
_Key = tuple[str, int, Versions]
"""Of an answer: its SQL, its clock, and what it was asked of."""


class Busy(MoldauError):
    """Too many ask at once."""


class Reader:
    """Threads may ask at the same time."""

    def __init__(self, warehouse: Path, seconds: float = SECONDS) -> None:
        self.warehouse = warehouse
        self._seconds = seconds
        self._turns = threading.BoundedSemaphore(_AT_ONCE)
        self._opening = threading.Lock()
        self._open: OrderedDict[_Opened, tuple[Versions, DuckDBPyConnection]] = OrderedDict()
        self._asked: set[_Opened] = set()  # of these, since they were opened beforehand
        self._keeping = threading.Lock()
        self._kept: OrderedDict[_Key, Answer] = OrderedDict()

    def ask(self, questions: Sequence[Question], at_ms: int) -> list[Answer]:
        """The answers, in order: what is wrong with one question is said in its answer.

        `at_ms`: the clock of the marts. MoldauError without a warehouse; Busy when no turn came.
        """
        names, versions = self._there(name for question in questions for name in question.reads)
        keys = [_key(question, at_ms, versions) for question in questions]
        known = [self._known(key) for key in keys]
        if all(known):
            return _of(questions, [answer for answer in known if answer])
        with self._turn():
            try:
                connection = self._opened(names, versions)
            except MoldauError as error:
                return [Answer(question, problem=str(error)) for question in questions]
            with closing(Asking(connection, at_ms, self._seconds)) as asking:
                found = [
                    self._known(key) or self._keep(key, _answer(asking, question, names))
                    for question, key in zip(questions, keys, strict=True)
                ]
                return _of(questions, found)

    def ask_of_group(
        self,
        group: Group,
        questions: Sequence[Question],
        at_ms: int,
        about: Question,
        words: Callable[[Tables], list[str]],
        reads: Iterable[str],
    ) -> tuple[tuple[str, ...], list[Answer]]:
        """Words, and answers to questions, all about one group.

        `about`: what the words answer; `reads`: what `words` may read of the tables that it is
        given.
        """
        wanted = dict.fromkeys([*reads, *(name for q in questions for name in q.reads)])
        names, versions = self._there(wanted)
        every = tuple(versions.items())
        # the same words ask for other rows: those of the group are all that there are
        keys: list[_Key] = [(f"{group} {q.whole_sql}", at_ms, every) for q in (about, *questions)]
        known = [self._known(key) for key in keys]
        if not all(known):
            with self._turn():
                taken = of_groups(versions)
                try:
                    connection = self._opened(names, versions, taken)
                except MoldauError as error:
                    return (), [Answer(question, problem=str(error)) for question in questions]
                before = taking_group(taken, group)
                with closing(Asking(connection, at_ms, self._seconds, before)) as asking:
                    told = _told(asking, about, words, wanted.keys() - set(names))
                    answers = [_answer(asking, question, names) for question in questions]
                known = [self._keep(key, a) for key, a in zip(keys, [told, *answers], strict=True)]
        first, *rest = [answer for answer in known if answer]
        if first.problem is not None:
            return (first.problem,), rest
        return tuple(str(line) for (line,) in first.rows), rest

    @contextmanager
    def tables(
        self, wanted: Collection[str], at_ms: int, often: Collection[str] = ()
    ) -> Iterator[Tables]:
        """Open as long as the block goes on, which is bounded as a query is.

        `often`: marts that are read several times."""
        names, versions = self._there(wanted)
        # of those made from each other the first one is taken first
        once = [view.name for view in views_under(names) if view.name in often]
        with self._turn():
            connection = self._opened(names, versions, once)
            before = [taking(name) for name in once]
            with (
                closing(Asking(connection, at_ms, self._seconds, before)) as asking,
                asking.tables(set(wanted) - set(names)) as tables,
            ):
                yield tables

    def versions(self, names: Collection[str] = ()) -> Versions:
        """Of the tables under these relations, or of all: what moves when a page may be another
        one."""
        if names:
            return tuple(self._there(names)[1].items())
        return tuple(self._versions(existing_tables(self.warehouse)).items())

    def renew(self) -> None:
        """Open at their latest versions, before they are asked for, the tables that were asked for
        since this was done last."""
        asked, self._asked = self._asked, set()
        for names, taken in asked:
            found = self._versions(set().union(*map(_tables_of, names)))
            with self._turn():
                self._open_at(names, found, taken)

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

    @contextmanager
    def _turn(self) -> Iterator[None]:
        if not self._turns.acquire(timeout=_PATIENCE):
            raise Busy(_BUSY)
        try:
            yield
        finally:
            self._turns.release()

    def _there(self, names: Iterable[str]) -> tuple[tuple[str, ...], dict[str, int]]:
        """Those of the relations whose tables the warehouse has, and these as they are now."""
        existing = set(existing_tables(self.warehouse))
        there = tuple(name for name in dict.fromkeys(names) if _tables_of(name) <= existing)
        return there, self._versions(set().union(*map(_tables_of, there)))

    def _known(self, key: _Key) -> Answer | None:
        with self._keeping:
            if found := self._kept.get(key):
                self._kept.move_to_end(key)
            return found

    def _keep(self, key: _Key, answer: Answer) -> Answer:
        """A problem may be over when it is asked again."""
        with self._keeping:
            letters = sum(len(str(cell)) for row in answer.rows for cell in row)
            if answer.problem is None and letters <= _LETTERS:
                self._kept[key] = answer
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return answer

    def _opened(
        self, names: tuple[str, ...], found: Mapping[str, int], taken: Sequence[str] = ()
    ) -> DuckDBPyConnection:
        """The tables at their latest versions; those who still ask of earlier ones go on.

        `taken`: with room for rows of these in the place of all.
        """
        self._asked.add((names, tuple(taken)))
        return self._open_at(names, found, tuple(taken))

    def _open_at(
        self, names: tuple[str, ...], found: Mapping[str, int], taken: tuple[str, ...]
    ) -> DuckDBPyConnection:
        key, versions = (names, taken), tuple(found.items())
        if (held := self._open.get(key)) and held[0] == versions:
            return held[1]
        with self.alone():
            held = self._open.pop(key, None)
            if held is None or held[0] != versions:
                clock = "getvariable('at_ms')"
                connection = connect_duckdb(self.warehouse, names, at_ms=clock, own=_OWN)
                if taken:
                    connection.execute("commit")
                    make_room(connection, taken)
                held = (versions, connection)
            self._open[key] = held
            while len(self._open) > _OPEN:
                self._open.popitem(last=False)
            return held[1]

    def _versions(self, names: Iterable[str]) -> dict[str, int]:
        """Of these tables: what moves when an answer may be another one."""
        found = {
            name: newest_version(self.warehouse.joinpath(*name.split(".", 1)))
            for name in sorted(names)
        }
        polls = sorted((self.warehouse / POLLS).glob("*.json"))
        return found | {_POLL + file.name: file.stat().st_mtime_ns for file in polls}


def _key(question: Question, at_ms: int, versions: Mapping[str, int]) -> _Key:
    """Of no clock, if no mart that is read asks for it."""
    reads = question.reads
    under = set().union(*map(_tables_of, reads))
    moved = tuple((n, v) for n, v in versions.items() if n in under or n.startswith(_POLL))
    return question.whole_sql, at_ms if any(map(_has_clock, reads)) else 0, moved


def _of(questions: Iterable[Question], answers: Iterable[Answer]) -> list[Answer]:
    """The same rows may have been asked for in other words, which a reader is given."""
    return [replace(answer, question=q) for q, answer in zip(questions, answers, strict=True)]


def _answer(asking: Asking, question: Question, names: Iterable[str]) -> Answer:
    if missing := [name for name in question.reads if name not in names]:
        return Answer(question, problem=f"This warehouse has no {missing[0]} yet.")
    try:
        return asking.answer(question)
    except MoldauError as error:
        return Answer(question, problem=str(error))


def _told(
    asking: Asking,
    about: Question,
    words: Callable[[Tables], list[str]],
    missing: Collection[str],
) -> Answer:
    try:
        with asking.tables(missing) as tables:
            return Answer(about, ("line",), tuple((line,) for line in words(tables)))
    except MoldauError as error:
        return Answer(about, problem=str(error))


@lru_cache(maxsize=1_000)
def _tables_of(name: str) -> frozenset[str]:
    """Of the warehouse: those that a mart is made from, or the table itself."""
    return frozenset(tables_under([name]) if is_view(name) else {name})


@lru_cache(maxsize=1_000)
def _has_clock(name: str) -> bool:
    """Whether the rows of a mart may be others at another instant."""
    return any(PARAMETERS in view.reads for view in views_under([name]))
