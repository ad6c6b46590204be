"""Where the parts of a chart lie: templates draw them, and every number also stands in a table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import ceil, log10
from typing import Any

from moldau.escapes import visible
from moldau.instants import format_instant, parse_instant
from moldau.serving.cells import span
from moldau.serving.question import Answer, moment

WIDTH, HEIGHT = 1080, 200
LEFT, BOTTOM, TOP, RIGHT = 56, 24, 8, 8
_PARTS = {1: 5, 2: 4, 5: 5}  # of a scale, by the first digit of its end
_HOUR_MS = 3_600_000
_LETTER = 10.0  # at most, where letters are largest


@dataclass(frozen=True)
class Bar:
    x: float
    y: float
    width: float
    height: float
    title: str


@dataclass(frozen=True)
class Line:
    """`points`: as the attribute of a polyline has them."""

    points: str
    dots: tuple[tuple[float, float, str], ...]
    label: str
    number: int


@dataclass(frozen=True)
class Mark:
    place: float
    label: str

    @property
    def side(self) -> str:
        """Of the label below a chart, on which its place lies, so that no letter is cut off."""
        half = len(self.label) * _LETTER / 2
        return "start" if self.place < half else "end" if self.place + half > WIDTH else "middle"


@dataclass(frozen=True)
class Chart:
    label: str
    bars: tuple[Bar, ...] = ()
    lines: tuple[Line, ...] = ()
    below: tuple[Mark, ...] = ()
    beside: tuple[Mark, ...] = ()


def columns(answer: Answer, at: str) -> Chart | None:
    """A bar for each hour that has any, from that of the clock on; None = there is none."""
    counts = {moment(row[0]): int(row[1]) for row in answer.rows if row[0] is not None}
    if not counts:
        return None
    first = min(parse_instant(at) // _HOUR_MS * _HOUR_MS, *counts)
    hours = min(max((max(counts) - first) // _HOUR_MS + 1, 24), 48)
    top = nice(max(counts.values()))
    step = (WIDTH - LEFT - RIGHT) / hours
    bars = []
    for at_ms, count in counts.items():
        place = (at_ms - first) // _HOUR_MS
        if place < hours:
            height = count / top * (HEIGHT - BOTTOM - TOP)
            title = f"{format_instant(at_ms)[:16].replace('T', ' ')}: {count:,}"
            bars.append(
                Bar(LEFT + place * step + 1, HEIGHT - BOTTOM - height, step - 2, height, title)
            )
    below = tuple(
        Mark(LEFT + place * step, format_instant(first + place * _HOUR_MS)[11:16])
        for place in range(0, hours, 3)
    )
    return Chart(answer.question.title, tuple(bars), (), below, _beside(top))


def lines(answer: Answer) -> Chart | None:
    """A line for each name in the first column, through (second, third); None = no point."""
    points: dict[str, list[tuple[float, float]]] = {}
    for name, x, y in (row[:3] for row in answer.rows):
        if x is not None and y is not None:
            points.setdefault(name, []).append((_as_number(x), float(y)))
    if not points:
        return None
    is_time = answer.columns[1].endswith("_at_ms")
    spread = sorted({x for found in points.values() for x, _ in found})
    is_wide = not is_time and spread[0] > 0 and spread[-1] / spread[0] > 50
    top = nice(max(y for found in points.values() for _, y in found))

    def across(x: float) -> float:
        low, high = (log10(v) if is_wide else v for v in (spread[0], spread[-1]))
        part = ((log10(x) if is_wide else x) - low) / (high - low) if high > low else 0.5
        return LEFT + part * (WIDTH - LEFT - RIGHT)

    def words(x: float) -> str:
        return format_instant(int(x))[:16].replace("T", " ") if is_time else span(x)

    drawn = tuple(
        Line(
            " ".join(f"{across(x):.1f},{_down(y, top):.1f}" for x, y in sorted(found)),
            tuple(
                (round(across(x), 1), round(_down(y, top), 1), f"{words(x)}: {y:,g}")
                for x, y in sorted(found)
            ),
            visible(name, 60),
            number % 8,
        )
        for number, (name, found) in enumerate(points.items())
    )
    chosen = _some(spread, 5 if is_time else 9, across)
    return Chart(
        answer.question.title,
        (),
        drawn,
        tuple(Mark(across(x), words(x)) for x in chosen),
        _beside(top),
    )


def nice(top: float) -> float:
    """The first of 1, 2, 5, 10, … that is not below it."""
    if top <= 0:
        return 1.0
    unit = 10.0 ** (ceil(log10(top)) - 1)
    return next(unit * step for step in (1, 2, 5, 10) if unit * step >= top * 0.999999)


def _some(values: Sequence[float], count: int, across: Any) -> Iterable[float]:
    """So many of the values, far enough from each other to be written below a chart."""
    room = (WIDTH - LEFT - RIGHT) / (count + 1)
    last = float("-inf")
    for value in values:
        if across(value) - last >= room:
            last = across(value)
            yield value


def _down(y: float, top: float) -> float:
    return HEIGHT - BOTTOM - y / top * (HEIGHT - BOTTOM - TOP)


def _beside(top: float) -> tuple[Mark, ...]:
    parts = _PARTS.get(int(f"{top:e}"[0]), 5)
    parts = parts if top >= parts else int(max(top, 1))
    return tuple(
        Mark(_down(top * n / parts, top), _short(top * n / parts)) for n in range(parts + 1)
    )


def _short(value: float) -> str:
    for unit, name in ((10**9, "G"), (10**6, "M"), (1000, "k")):
        if value >= unit:
            return f"{value / unit:g}{name}"
    return f"{value:g}"


def _as_number(x: Any) -> float:
    return float(moment(x)) if isinstance(x, datetime) else float(x)
