"""Answers to the questions of pages, from connections that stay open as long as tables do not move.

Readers see what Delta has committed: a command that writes at the same time disturbs nobody.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from weakref import WeakValueDictionary

from moldau.errors import MoldauError
from moldau.reading.tables.names_of import existing_tables
from moldau.reading.tables.query import Tables
from moldau.reading.tables.views import PARAMETERS, views_under
from moldau.serving.asking import Asking
from moldau.serving.open_tables import (
    POLL,
    Busy,
    Opened,
    OpenTables,
    Versions,
    tables_of,
    tells_polls,
    turn_of,
)
from moldau.serving.question import Answer, Behind, Question
from moldau.serving.taken import Group, of_groups, taking, taking_group
from moldau.serving.visits import Visits

SECONDS = 20.0  # a query
_AT_ONCE = 2  # queries: each has all cores
_KEPT = 256  # answers
_LETTERS = 100_000  # of an answer that is kept
_Key = tuple[str, int, Versions]
"""Of an answer: its SQL, its clock, and what it was asked of."""
_Make = Callable[[Opened, list[Answer | None]], list[Answer]]
"""Asks what is not known yet."""


class Reader:
    """Threads may ask at the same time."""

    def __init__(self, warehouse: Path, seconds: float = SECONDS) -> None:
        self.warehouse = warehouse
        self._seconds = seconds
        self._turns = threading.BoundedSemaphore(_AT_ONCE)
        self.visits = Visits()
        self._tables = OpenTables(warehouse, seconds, self.visits, self._turn)
        self._keeping = threading.Lock()
        self._kept: OrderedDict[_Key, Answer] = OrderedDict()
        self._asked: WeakValueDictionary[tuple[_Key, ...], threading.Lock] = WeakValueDictionary()
        self.alone, self.renew = self._tables.alone, self._tables.renew

    def ask(
        self, questions: Sequence[Question], at_ms: int, is_latest: bool = False
    ) -> list[Answer]:
        """The answers, in order: what is wrong with one question is said in its answer.

        `at_ms`: the clock of the marts; `is_latest`: rows that others have followed are not wanted.
        MoldauError without a warehouse; Busy when no turn came.
        """
        names, versions = self._tables.there(name for q in questions for name in q.reads)

        def keys(versions: Versions) -> list[_Key]:
            return [_key(question, at_ms, versions) for question in questions]

        def make(opened: Opened, known: list[Answer | None]) -> list[Answer]:
            with closing(self._asking(opened, at_ms)) as asking:
                return [
                    answer or _answer(asking, question, names)
                    for question, answer in zip(questions, known, strict=True)
                ]

        try:
            found = self._found(names, (), versions, keys, make, is_latest)
        except Busy:
            raise
        except MoldauError as error:
            return [Answer(question, problem=str(error)) for question in questions]
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
        names, versions = self._tables.there(wanted)
        taken = of_groups(name for name, _ in versions)

        def keys(versions: Versions) -> list[_Key]:
            # the same words ask for other rows: those of the group are all that there are
            return [(f"{group} {q.whole_sql}", at_ms, versions) for q in (about, *questions)]

        def make(opened: Opened, known: list[Answer | None]) -> list[Answer]:
            if all(known):
                return [answer for answer in known if answer]
            with closing(self._asking(opened, at_ms, taking_group(taken, group))) as asking:
                told = _told(asking, about, words, wanted.keys() - set(names))
                return [told, *(_answer(asking, question, names) for question in questions)]

        try:
            first, *rest = self._found(names, taken, versions, keys, make)
        except Busy:
            raise
        except MoldauError as error:
            return (), [Answer(question, problem=str(error)) for question in questions]
        if first.problem is not None:
            return (first.problem,), rest
        return tuple(str(line) for (line,) in first.rows), rest

    @contextmanager
    def tables(
        self, wanted: Collection[str], at_ms: int, often: Collection[str] = ()
    ) -> Iterator[Tables]:
        """Open as long as the block goes on, which is bounded as a query is.

        `often`: marts that are read several times."""
        names, _ = self._tables.there(wanted)
        # of those made from each other the first one is taken first
        once = [view.name for view in views_under(names) if view.name in often]
        with self._turn():
            opened = self._tables.latest(names, once)
            before = [taking(name) for name in once]
            with (
                closing(self._asking(opened, at_ms, before)) as asking,
                asking.tables(set(wanted) - set(names)) as tables,
            ):
                yield tables

    def versions(self) -> Versions:
        """Of all tables: what moves when anything may be another."""
        return self._tables.versions(existing_tables(self.warehouse))

    def _found(
        self,
        names: tuple[str, ...],
        taken: Sequence[str],
        versions: Versions,
        keys: Callable[[Versions], list[_Key]],
        make: _Make,
        is_latest: bool = False,
    ) -> list[Answer]:
        """Answers of the latest rows, or of those before them, while these are made ready: what is
        wrong with one of them is never told of rows that others have followed."""
        if known := self._all_known(keys(versions)):
            return known
        opened, behind = self._pick(names, taken, is_latest)
        found = self._all_known(keys(opened.versions))
        if not found:
            del opened  # who waits holds no tables open
            with self._once(tuple(keys(()))), self._turn():
                opened, behind = self._pick(names, taken, is_latest)
                asked = keys(opened.versions)
                found = list(map(self._keep, asked, make(opened, list(map(self._known, asked)))))
        if behind is None:
            return found
        if any(answer.problem is not None for answer in found):
            return self._found(names, taken, versions, keys, make, is_latest=True)
        return [replace(answer, behind=behind) for answer in found]

    def _pick(
        self, names: tuple[str, ...], taken: Sequence[str], is_latest: bool
    ) -> tuple[Opened, Behind | None]:
        if is_latest:
            return self._tables.latest(names, taken), None
        return self._tables.soon(names, taken)

    def _all_known(self, keys: list[_Key]) -> list[Answer]:
        """Empty if one is not."""
        known = [answer for answer in map(self._known, keys) if answer]
        return known if len(known) == len(keys) else []

    def _asking(self, opened: Opened, at_ms: int, before: Sequence[str] = ()) -> Asking:
        return Asking(opened.connection, at_ms, self._seconds, opened.staying, before)

    @contextmanager
    def _once(self, keys: tuple[_Key, ...]) -> Iterator[None]:
        """Who asks the same meanwhile waits, and finds it known."""
        with self._keeping:
            lock = self._asked.setdefault(keys, threading.Lock())
        with turn_of(lock):
            yield

    def _turn(self) -> AbstractContextManager[None]:
        return turn_of(self._turns)

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


def _key(question: Question, at_ms: int, versions: Versions) -> _Key:
    """Of no clock, if no mart that is read asks for it."""
    reads = question.reads
    under, is_of_polls = set().union(*map(tables_of, reads)), any(map(tells_polls, reads))
    moved = tuple((n, v) for n, v in versions if n in under or (is_of_polls and n.startswith(POLL)))
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
def _has_clock(name: str) -> bool:
    """Whether the rows of a mart may be others at another instant."""
    return any(PARAMETERS in view.reads for view in views_under([name]))
