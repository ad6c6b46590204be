"""Tables for the width of a terminal: the columns that matter first, as far as there is room."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from moldau.cli.say import draw
from moldau.instants import format_instant

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_GAP = 2
_NARROWEST = 8
_TEXT = 32  # letters that a longer text with spaces has at least, over several lines
_INSTANT = re.compile(r"(^|_)(at|from|to|since|start|timestamp)_ms$")
_ANSWER = re.compile(r"^(decision|status|finding|advice|event|outcome|reason_code)$|(^|_)lag$")
_REASON = re.compile(r"^(reason|reason_text|blocked_by)$")
_HOUSEKEEPING = re.compile(
    r"(^|_)(run_id|log_offset|hash)$|^(ruleset|offsets_partition_index|table_versions)$"
)


@dataclass(frozen=True, eq=False)
class Column:
    """Its cells as they are printed; a name may come twice."""

    name: str
    told: str
    """What people call it."""
    cells: Sequence[str]
    is_number: bool = False
    is_key: bool = False

    @property
    def is_empty(self) -> bool:
        return not any(self.cells)

    @cached_property
    def heading(self) -> str:
        """What it is called: in two lines, broken at an underscore, where the cells are short."""
        ends = [underscore.end() for underscore in re.finditer("_", self.told)]
        if not ends or len(self.told) <= max(self._longest, _NARROWEST):
            return self.told
        end = min(ends, key=lambda end: max(end, len(self.told) - end))
        return f"{self.told[:end]}\n{self.told[end:]}"

    @cached_property
    def least(self) -> int:
        """The width that it needs."""
        is_text = any(" " in cell for cell in self.cells)
        longest = min(self._longest, _TEXT) if is_text else self._longest
        return max(longest, *map(len, self.heading.split("\n")))

    @property
    def most(self) -> int:
        """The width that it can use."""
        return max(self._longest, self.least)

    @cached_property
    def _longest(self) -> int:
        return max(map(cell_len, self.cells), default=0)


def is_instant(name: str) -> bool:
    """A column of Unix milliseconds that are an instant, no duration."""
    return bool(_INSTANT.search(name))


def for_people(name: str, value: Any) -> Any:
    """An instant as ISO 8601 in UTC, to the millisecond (a negative number is none); lists of
    names and maps of numbers without the marks of JSON."""
    match value:
        case datetime():
            moment = value if value.tzinfo else value.replace(tzinfo=UTC)
            return format_instant((moment - _EPOCH) // timedelta(milliseconds=1))
        case int() if value >= 0 and is_instant(name):
            return format_instant(value)
        case [*texts] if all(isinstance(text, str) for text in texts):
            return ", ".join(texts)
        case dict() if all(isinstance(number, int) for number in value.values()):
            return ", ".join(f"{key} {number}" for key, number in value.items())
        case _:
            return value


def names_for_people(names: Sequence[str]) -> dict[str, str]:
    """Column -> its name without the unit that an instant no longer has.

    Without the milliseconds of what stands beside them as a timestamp.
    """
    told = {name: name.removesuffix("_ms") if is_instant(name) else name for name in names}
    return {name: short for name, short in told.items() if short == name or short not in names}


def readable(key: Sequence[str], names: Sequence[str]) -> list[str]:
    """A key with names in place of the ids that have one beside them."""
    told = [f"{name.removesuffix('_id')}_name" for name in key]
    return [better if better in names else name for name, better in zip(key, told, strict=True)]


def by_weight(columns: Sequence[Column], key: Sequence[str]) -> list[Column]:
    """The key, the answer, its reason, the rest, what is the same in all rows, what moldau keeps
    for itself, and what is empty.

    Within these as the table has them.
    """
    names = [column.name for column in columns]

    def weight(column: Column) -> tuple[int, int]:
        name = column.name
        has_name = readable([name], names) != [name]
        if column.is_key:
            return 0, key.index(name)
        kinds = (
            (6, column.is_empty),
            (1, _ANSWER.search(name)),
            (2, _REASON.search(name)),
            (5, has_name or _HOUSEKEEPING.search(name)),
            (4, len(column.cells) > 1 and len(set(column.cells)) == 1),
        )
        return next((weight for weight, is_it in kinds if is_it), 3), 0

    return sorted(columns, key=weight)


def fit(columns: Sequence[Column], width: int) -> dict[Column, int]:
    """The columns that there is room for, with their widths; a key, or the first, always has some.

    Who comes first is served first. What is left makes texts wider.
    """
    keys = [column for column in columns if column.is_key] or columns[:1]
    fair = max(_NARROWEST, (width + _GAP) // len(keys) - _GAP)
    is_tight = sum(key.least + _GAP for key in keys) > width + _GAP
    widths = {key: min(key.least, fair) if is_tight else key.least for key in keys}
    room = width + _GAP - sum(width + _GAP for width in widths.values())
    for column in columns:
        if column not in widths and column.least + _GAP <= room:
            widths[column] = column.least
            room -= column.least + _GAP
    widths = {column: widths[column] for column in columns if column in widths}
    for column in () if is_tight else widths:
        more = min(column.most - widths[column], room)
        widths[column] += more
        room -= more
    return widths


def write_fitted(widths: Mapping[Column, int]) -> None:
    """These columns as a table."""
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for column, width in widths.items():
        table.add_column(
            Text(column.heading),
            width=width,
            overflow="fold",
            justify="right" if column.is_number else "left",
        )
    for row in zip(*(column.cells for column in widths), strict=True):
        table.add_row(*map(Text, row))
    draw(table)
