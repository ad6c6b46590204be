"""A costly page is shown as it was made, with its own clock, while a newer one is being made."""

from __future__ import annotations

import threading

from moldau.serving import kept
from moldau.serving.kept import Kept
from moldau.serving.pages.page import Page

MINUTE_MS = 60_000


class Made:
    def __init__(self) -> None:
        self.at: list[int] = []
        self.is_wanted = threading.Event()
        self.is_wanted.set()

    def __call__(self, at_ms: int) -> Page:
        self.is_wanted.wait(timeout=30)
        self.at.append(at_ms)
        return Page(f"of {at_ms}", "", ())


def test_what_costs_little_is_made_each_time() -> None:
    made = Made()
    pages = Kept(made)
    assert [pages.page(at)[1] for at in (0, 0, 1, 2)] == [0, 0, 1, 2]


def test_what_is_costly_is_shown_while_a_newer_one_is_made() -> None:
    made = Made()
    pages = Kept(made)
    pages.page(0)
    pages._seconds = 10.0
    assert pages.page(MINUTE_MS - 1)[1] == 0
    assert made.at == [0]
    made.is_wanted.clear()
    assert [pages.page(MINUTE_MS)[1] for _ in range(5)] == [0] * 5
    made.is_wanted.set()
    with pages._making:  # the thread that makes it has begun, or is done
        pass
    while made.at == [0]:
        kept.time.sleep(0.01)
    assert made.at == [0, MINUTE_MS]


def test_what_is_old_is_not_shown() -> None:
    made = Made()
    pages = Kept(made)
    pages.page(0)
    pages._seconds = 10.0
    page, at_ms = pages.page(5 * MINUTE_MS)
    assert (page.title, at_ms) == (f"of {5 * MINUTE_MS}", 5 * MINUTE_MS)
