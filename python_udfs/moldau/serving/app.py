"""The web application: an address a page, the same with `.json` for programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from moldau.errors import MoldauError
from moldau.instants import format_instant, now_ms, parse_instant
from moldau.metrics.exposition import MARTS, OFTEN, exposition
from moldau.reading.tables.names_of import existing_relations
from moldau.reading.tables.values import to_json
from moldau.serving import failing
from moldau.serving.beforehand import begin
from moldau.serving.guards import Application, Guard
from moldau.serving.open_tables import Busy
from moldau.serving.page import Asked, Page
from moldau.serving.pages.decisions import decisions
from moldau.serving.pages.group import group
from moldau.serving.pages.groups import groups
from moldau.serving.pages.mirrors import mirrors
from moldau.serving.pages.overview import overview
from moldau.serving.pages.producers import producers
from moldau.serving.pages.runs import runs
from moldau.serving.pages.tiers import tiers
from moldau.serving.pages.topology import topology
from moldau.serving.past import NO_PAST, PAST, Moments, as_of_ms_of
from moldau.serving.reader import Reader
from moldau.serving.rendering import STATIC, json_of, problem, rendered
from moldau.serving.visits import Visits
from moldau.settings import Settings

PAGES: Mapping[str, Callable[[Asked], Page]] = {
    "overview": overview,
    "groups": groups,
    "group": group,
    "topology": topology,
    "tiers": tiers,
    "mirrors": mirrors,
    "producers": producers,
    "runs": runs,
    "decisions": decisions,
}
_BEHIND = "moldau-behind"
_TICK_MS = 60_000  # what is asked within a minute is asked at one instant, and once


def application(
    settings: Settings, token: str | None = None, is_beforehand: bool = False
) -> Application:
    """`token`: what a reader has to know; None = nothing. `is_beforehand`: what pages need is made
    ready before somebody asks. MoldauError without a warehouse."""
    existing_relations(settings.warehouse)  # the marts are compiled before anybody asks
    reader, moments = Reader(settings.warehouse), Moments()
    if is_beforehand:

        def make(name: str, given: Mapping[str, str]) -> Page:
            return PAGES[name](Asked(settings, reader, _now(), given, moments))

        begin(make, reader)
    pages = {name: _page(name, settings, reader, moments) for name in PAGES}
    routes: list[Any] = [Mount("/static", StaticFiles(directory=STATIC))]
    for name, page in pages.items():
        routes += [Route(f"/{name}", page), Route(f"/{name}.json", page)]
    routes.append(Route("/", pages["overview"]))
    routes.append(Route("/metrics", _metrics(settings, reader)))
    return Guard(Starlette(routes=routes, exception_handlers={404: _nothing}), token)


def _now() -> int:
    return now_ms() // _TICK_MS * _TICK_MS


def _page(
    name: str, settings: Settings, reader: Reader, moments: Moments
) -> Callable[[Request], Response]:
    """Called in a thread: a page waits for the engine."""

    def answer(request: Request) -> Response:
        given = dict(request.query_params)
        try:
            at = given.get("at")
            at_ms = parse_instant(at) if at else _now()
            page = PAGES[name](Asked(settings, reader, at_ms, given, moments))
            as_of_ms = as_of_ms_of(given)
            if as_of_ms is not None and name in PAST:
                at_ms = as_of_ms
            elif as_of_ms is not None:
                page = replace(page, note=NO_PAST)
        except MoldauError as error:
            status = 503 if isinstance(error, Busy) else 400
            return refused(request, str(error), status)
        if _is_json(request):
            answered = _json(json_of(page, at_ms), 200)
        else:
            answered = HTMLResponse(rendered(name, page, given, at_ms))
        if page.behind:
            answered.headers[_BEHIND] = format_instant(page.behind.seen_ms)
        return answered

    def refused(request: Request, words: str, status: int) -> Response:
        if _is_json(request):
            return _json({"problem": words}, status)
        return HTMLResponse(problem(name, words), status)

    return _told(answer, refused, settings, reader.visits)


def _told(
    answer: Callable[[Request], Response],
    refused: Callable[[Request, str, int], Response],
    settings: Settings,
    visits: Visits,
) -> Callable[[Request], Response]:
    """Also what goes wrong though nobody is to blame for it."""

    def answered(request: Request) -> Response:
        try:
            with visits.one():
                return answer(request)
        except Exception as error:
            address = f"{request.url.path}?{request.url.query}"
            return refused(request, failing.kept(error, address, settings), 500)

    return answered


def _metrics(settings: Settings, reader: Reader) -> Callable[[Request], Response]:
    """What Prometheus reads, as of now."""

    def answer(request: Request) -> Response:
        try:
            at_ms = now_ms()
            with reader.tables(MARTS, at_ms, OFTEN) as tables:
                told, kind = exposition(settings.warehouse, at_ms, opened=tables)
        except MoldauError as error:
            return refused(request, str(error), 503)
        return Response(told, media_type=kind)

    def refused(_: Request, words: str, status: int) -> Response:
        return Response(f"{words}\n", status, media_type="text/plain")

    return _told(answer, refused, settings, reader.visits)


def _is_json(request: Request) -> bool:
    return request.url.path.endswith(".json")


def _json(told: Any, status: int) -> Response:
    text = to_json(told, indent=1) + "\n"
    return Response(text.encode(errors="replace"), status, media_type="application/json")


async def _nothing(request: Request, _: Exception) -> Response:
    words = f"there is no page {request.url.path[:100]}"
    if _is_json(request):
        return _json({"problem": words}, 404)
    return HTMLResponse(problem("", words), 404)
