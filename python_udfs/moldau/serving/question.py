"""What pages ask of a warehouse, and what they are answered."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from moldau.instants import format_instant

_TEXT = re.compile(r"'(?:[^']|'')*'")
_RELATION = re.compile(r"\b(?:marts|decoded|state|decisions|history)\.\w+")
Shown = Literal["table", "facts", "columns", "lines"]


@dataclass(frozen=True)
class Once:
    """Rows that several questions of a page are about: computed once, as a table of this name.

    `stays`: as long as tables do not move, for whoever asks: its rows depend on no clock, and no
    other page has a table of this name.
    """

    name: str
    sql: str
    stays: bool = False


@dataclass(frozen=True)
class Question:
    """A query in DuckDB's SQL, whose rows are one section of a page.

    A column `in_all` counts the rows that there would be without a limit, and is no cell.
    `shown`: `facts` = one row as a list of names and values, `columns` = a bar per row (a label,
    then a number), `lines` = a point per row (what the line is of, x, y).
    """

    name: str
    title: str
    sql: str
    empty: str = "None."
    shown: Shown = "table"
    about: str = ""
    told: str | None = None
    """The query that a reader is given; None = the same, empty = none. Another one has the same
    rows, and finds by itself what the page found before."""
    hidden: tuple[str, ...] = ()
    """Columns that stand in the rows of JSON alone."""
    once: tuple[Once, ...] = ()
    """Each may be made from those before it."""

    @property
    def whole_sql(self) -> str:
        """The query, which finds the rows by itself that others share with it."""
        shared = ",\n\n".join(f"{once.name} as (\n\n{once.sql}\n\n)" for once in self.once)
        return f"with {shared}\n\n{self.sql}" if shared else self.sql

    @property
    def reads(self) -> tuple[str, ...]:
        """The tables and marts that the query names."""
        return tuple(dict.fromkeys(_RELATION.findall(_TEXT.sub("''", self.whole_sql))))


@dataclass(frozen=True)
class Behind:
    """Tables as they stood, while newer rows are made ready.

    `seen_ms`: when they were last seen to be the latest; `commits`: by table that has moved since,
    the version that was read."""

    seen_ms: int
    commits: Mapping[str, int]


@dataclass(frozen=True)
class Answer:
    """`problem`: why there are no rows, in words; None = these are all. `behind`: None = these are
    the latest."""

    question: Question
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Any, ...], ...] = ()
    problem: str | None = None
    behind: Behind | None = None

    def as_dicts(self) -> list[dict[str, Any]]:
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    @property
    def in_all(self) -> int:
        """How many rows there are, those beyond the limit too."""
        if self.rows and "in_all" in self.columns:
            return int(self.rows[0][self.columns.index("in_all")])
        return len(self.rows)


def text(value: str) -> str:
    """A text as SQL has it; a NUL byte can stand in no statement."""
    parts = ("'" + part.replace("'", "''") + "'" for part in value.split("\0"))
    return " || chr(0) || ".join(parts)


def instant(at_ms: int) -> str:
    """An instant as SQL has it."""
    return f"timestamptz '{format_instant(at_ms)}'"


def moment(value: datetime) -> int:
    """Unix milliseconds."""
    return round(value.timestamp() * 1000)
