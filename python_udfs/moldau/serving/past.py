"""Pages as of an instant (`?as_of=`): their groups are rebuilt from the records up to it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace

from moldau.errors import MoldauError
from moldau.instants import format_instant, parse_instant
from moldau.runs.past.source import About, Present
from moldau.serving.open_tables import OWN, Versions, turn_of
from moldau.serving.page import Asked, Page, Words
from moldau.serving.question import Answer, Question, text
from moldau.serving.reader import Reader

PAST = ("group", "groups", "decisions")
NO_PAST = (
    "Groups and what is decided about them are rebuilt as of an instant, and nothing else: "
    "this page shows what is known now."
)
MOST_RECORDS = 200_000  # of a moment that a page waits for
_RECORDS = "decoded.group_records"
_BUSY = "the past is asked for by too many at once: try again in a moment"
_OPEN = 4  # moments


@dataclass(frozen=True)
class _Held:
    stack: ExitStack
    then: Asked
    words: str


class Moments:
    """The last ones stay open: their pages are turned, sorted and searched."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._held: OrderedDict[object, _Held] = OrderedDict()
        self._present: tuple[Versions, Present] | None = None

    @contextmanager
    def of(self, asked: Asked, as_of_ms: int, about: About) -> Iterator[tuple[Asked, str]]:
        """What to ask the moment by, and in words how far its past is known.

        MoldauError if it is of too many records; Busy when no turn came."""
        with turn_of(self._turn, _BUSY):
            versions = asked.reader.versions()
            key = (as_of_ms, about, versions)
            held = self._held.pop(key, None)
            if held is None:
                _require_few(asked, as_of_ms, about)
                self._close(_OPEN - 1)
                held = self._opened(asked, as_of_ms, about, versions)
            self._held[key] = held
            yield replace(held.then, given=asked.given), held.words

    def _opened(self, asked: Asked, as_of_ms: int, about: About, versions: Versions) -> _Held:
        from moldau.runs.as_of import as_of  # runs are imported when somebody asks for the past

        stack = ExitStack()
        settings = asked.settings.model_copy(update={"engine": "duckdb"})  # a page awaits no JVM
        with asked.reader.alone():
            if self._present is None or self._present[0] != versions:
                self._present = versions, Present.of(settings.warehouse, OWN)
            now = self._present[1]
            moment = stack.enter_context(as_of(settings, as_of_ms, about, present=now))
        reader = Reader(moment.settings.warehouse)
        return _Held(stack, Asked(moment.settings, reader, as_of_ms, {}), moment.words)

    def _close(self, stay: int) -> None:
        """All but so many."""
        while len(self._held) > stay:
            _, held = self._held.popitem(last=False)
            held.stack.close()


def _require_few(asked: Asked, as_of_ms: int, about: About) -> None:
    told = {"cluster_id": about.cluster_id, "group_id": about.group_id}
    mine = "".join(f" and {name} = {text(value)}" for name, value in told.items() if value)
    sql = f"select count(*) as in_all from {_RECORDS} where recorded_at_ms <= {as_of_ms:d}{mine}"
    [counted] = asked.reader.ask([Question("records", "Records", sql)], asked.at_ms)
    if counted.in_all > MOST_RECORDS:
        at = format_instant(as_of_ms)
        raise MoldauError(
            f"{counted.in_all:,} records up to {at} would be gone through, and a page does so with "
            f"{MOST_RECORDS:,}: choose a cluster or a group, or ask "
            f"`moldau show marts.groups --as-of {at}`"
        )


def as_it_was(
    asked: Asked, about: About, make: Callable[[Asked], Page], leaves_out: tuple[str, ...] = ()
) -> Page:
    """A page as it is now, or as of the instant that was asked for: without queries, which would
    be answered as it is now, and without these sections and columns."""
    if (as_of_ms := as_of_ms_of(asked.given)) is None or asked.past is None:
        return make(asked)
    with asked.past.of(asked, as_of_ms, about) as (then, words):
        page = make(then)
    sections = tuple(
        _without_query(section, leaves_out)
        for section in page.sections
        if isinstance(section, Words) or section.question.name not in leaves_out
    )
    return replace(page, lead=f"{page.lead} Rebuilt {words}.", sections=sections)


def as_of_ms_of(given: Mapping[str, str]) -> int | None:
    """MoldauError if it is no instant."""
    told = given.get("as_of")
    return parse_instant(told) if told else None


def _without_query(section: Answer | Words, hidden: tuple[str, ...]) -> Answer | Words:
    if isinstance(section, Words):
        return section
    question = section.question
    return replace(section, question=replace(question, told="", hidden=(*question.hidden, *hidden)))
