"""Whoever comes first finds tables open: each kind of page was asked for when it was quiet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hostile_rows import AT_MS, CLUSTER, SCRIPT

from moldau.reading.tables.duckdb_views import connect_duckdb
from moldau.serving import beforehand, open_tables, visits
from moldau.serving.app import PAGES
from moldau.serving.beforehand import make_ready
from moldau.serving.page import Asked, Page
from moldau.serving.reader import Reader
from moldau.settings import Settings


class Pages:
    def __init__(self, settings: Settings) -> None:
        self.reader = Reader(settings.warehouse)
        self.asked: list[str] = []
        self._settings = settings

    def __call__(self, name: str, given: Mapping[str, str]) -> Page:
        self.asked.append(name)
        return PAGES[name](Asked(self._settings, self.reader, AT_MS, given))


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visits, "_QUIET_SECONDS", 0.0)


def test_who_comes_first_opens_nothing(
    hostile: Settings, quick: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[object] = []

    def noting(*given: Any, **named: Any) -> object:
        opened.append(given)
        return connect_duckdb(*given, **named)

    monkeypatch.setattr(open_tables, "connect_duckdb", noting)
    pages = Pages(hostile)
    make_ready(pages, pages.reader)
    assert pages.asked[0] == "overview"
    assert set(pages.asked) == {*PAGES} - {"topology"}, "a plugin is asked by people alone"
    assert 0 < len(opened) <= open_tables._OPEN
    opened.clear()
    of_group = {"cluster": CLUSTER, "group": SCRIPT}
    for name in {*PAGES} - {"topology"}:
        pages(name, of_group if name in ("group", "decisions") else {})
    assert opened == []


def test_an_empty_warehouse_is_made_ready_too(empty: Settings, quick: None) -> None:
    pages = Pages(empty)
    make_ready(pages, pages.reader)
    assert set(pages.asked) == {*PAGES} - {"topology", "group"}


def test_nothing_is_begun_while_somebody_waits(
    hostile: Settings, quick: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(beforehand, "_PATIENCE", 0.0)
    pages = Pages(hostile)
    with pages.reader.visits.one():
        make_ready(pages, pages.reader)
    assert pages.asked == ["overview"]
