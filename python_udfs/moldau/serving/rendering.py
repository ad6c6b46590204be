"""Pages as HTML, which escapes all that it is given, and as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jinja2

from moldau import __version__
from moldau.escapes import visible
from moldau.instants import format_instant
from moldau.serving import charts
from moldau.serving.cells import cell_of, is_number, label_of, onward, url
from moldau.serving.graph import BOX, graph_of
from moldau.serving.page import Page, Words
from moldau.serving.question import Answer

_HERE = Path(__file__).parent
STATIC = _HERE / "static"
MENU = ("overview", "groups", "tiers", "mirrors", "producers", "runs", "decisions")


def rendered(name: str, page: Page, given: Mapping[str, str], at_ms: int) -> str:
    """`given`: what stood behind the ? of the address."""
    at = format_instant(at_ms)
    return _template("page.html").render(
        name=name, page=page, given=given, at=at,
        graph=page.topology and graph_of(page.topology),
    )  # fmt: skip


def whole(page: Page, at_ms: int, warehouse: str) -> str:
    """A page in one file, which needs no other."""
    return _template("report.html").render(
        name="report", page=page, given={}, at=format_instant(at_ms), warehouse=warehouse,
        style=(STATIC / "style.css").read_text(), graph=None, is_file=True,
    )  # fmt: skip


def problem(name: str, words: str) -> str:
    return _template("problem.html").render(name=name, given={}, words=words)


def json_of(page: Page, at_ms: int) -> dict[str, Any]:
    """Exact values: what a page cuts is whole here."""
    sections = dict(_answer(s) if isinstance(s, Answer) else _words(s) for s in page.sections)
    note = {"note": page.note} if page.note else {}
    told = {"title": page.title, "at": format_instant(at_ms), **note, **_behind(page)}
    places = {"page": page.page, "in_all": page.in_all}
    known = {name: place for name, place in places.items() if place is not None}
    return {**told, **known, "sections": sections}


def _behind(page: Page) -> dict[str, Any]:
    if page.behind is None:
        return {}
    stood_at = format_instant(page.behind.seen_ms)
    return {"behind": {"stood_at": stood_at, "commits": dict(page.behind.commits)}}


def _answer(section: Answer) -> tuple[str, dict[str, Any]]:
    return section.question.name, {
        "title": section.question.title,
        "query": query_of(section),
        "problem": section.problem,
        "rows": section.as_dicts(),
    }


def _words(section: Words) -> tuple[str, dict[str, Any]]:
    return section.name, {"title": section.title, "lines": list(section.lines)}


def query_of(answer: Answer) -> str:
    """What a reader is given: empty = nothing that he could ask gives these rows."""
    question = answer.question
    return question.whole_sql if question.told is None else question.told


def _shown(answer: Answer) -> list[str]:
    return [c for c in answer.columns if c != "in_all" and c not in answer.question.hidden]


def _is_answer(section: object) -> bool:
    return isinstance(section, Answer)


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {"visible": visible, "label": label_of, "instant": format_instant}
    environment.tests |= {"answer": _is_answer, "number_of": is_number}
    environment.globals |= {
        "BOX": BOX,
        "cell_of": cell_of,
        "charts": charts,
        "is_file": False,
        "menu": MENU,
        "onward": onward,
        "query_of": query_of,
        "shown": _shown,
        "url": url,
        "version": __version__,
    }
    return environment


def _template(name: str) -> jinja2.Template:
    return _environment().get_template(name)
