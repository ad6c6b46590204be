"""A page: what was asked for, and what there is to show."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from moldau.errors import MoldauError
from moldau.runs.past.source import About
from moldau.serving.question import Answer, Behind, text
from moldau.serving.reader import Reader
from moldau.settings import Settings
from moldau.topologies.description import TopologyDescription

_LAST_PAGE = 20_000


class Past(Protocol):
    """Moments that pages are as of (`moldau.serving.past.Moments`)."""

    def of(
        self, asked: Asked, as_of_ms: int, about: About
    ) -> AbstractContextManager[tuple[Asked, str]]:
        """What to ask the moment by, and in words how far its past is known."""
        ...


@dataclass(frozen=True)
class Asked:
    """`given`: what stands behind the ? of the address; `at_ms`: the clock of the page; `past`:
    None where pages are as of now alone."""

    settings: Settings
    reader: Reader
    at_ms: int
    given: Mapping[str, str]
    past: Past | None = None


@dataclass(frozen=True)
class Words:
    """Sentences, as the command `told` prints them."""

    name: str
    title: str
    lines: tuple[str, ...]
    told: str = ""


@dataclass(frozen=True)
class Tile:
    """A number at the head of a page, which leads to a section of it. `value`: None = not to be
    counted; `is_good`: all is well."""

    label: str
    value: int | None
    section: str
    is_good: bool


@dataclass(frozen=True)
class Field:
    """What a reader may narrow a page by; without `options` he types."""

    name: str
    label: str
    options: tuple[str, ...] = ()


@dataclass(frozen=True)
class Page:
    """`link`: address and words of a page beside this one; `has_next`: there is a further page of
    rows after the one that `page` says."""

    title: str
    lead: str
    sections: tuple[Answer | Words, ...]
    tiles: tuple[Tile, ...] = ()
    fields: tuple[Field, ...] = ()
    kept: tuple[str, ...] = ()
    """Of what was given, what a form carries on unseen."""
    link: tuple[str, Mapping[str, str], str] | None = None
    page: int | None = None
    has_next: bool = False
    in_all: int | None = None
    """How many rows there are on all pages."""
    note: str = ""
    """What a reader has to know before he trusts the page."""
    topology: TopologyDescription | None = None

    @property
    def behind(self) -> Behind | None:
        """What of its rows others have followed."""
        answers = (section for section in self.sections if isinstance(section, Answer))
        found = [answer.behind for answer in answers if answer.behind]
        if not found:
            return None
        commits = {name: version for one in found for name, version in one.commits.items()}
        return Behind(min(one.seen_ms for one in found), commits)


def place_of(asked: Asked) -> int:
    """Which page of rows is asked for, from 1; MoldauError if it is no such number."""
    told = asked.given.get("page") or "1"
    if not (told.isascii() and told.isdigit() and 1 <= int(told) <= _LAST_PAGE):
        raise MoldauError(f"page={told[:20]!r} is not a number from 1 to {_LAST_PAGE}")
    return int(told)


def equal(asked: Asked, columns: Mapping[str, str]) -> list[str]:
    """A condition for each of these that is given. `columns`: by the name in the address."""
    given = asked.given
    return [
        f"{column} = {text(given[name])}" for name, column in columns.items() if given.get(name)
    ]


def all_of(conditions: list[str]) -> str:
    return " and ".join(conditions) or "true"
