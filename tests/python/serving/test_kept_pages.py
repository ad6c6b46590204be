"""A costly page is shown as it was made, with its own clock, while a newer one is being made."""

from __future__ import annotations

import gc
import threading
import time
import weakref

from moldau.serving.kept import MOVED, Kept
from moldau.serving.page import Page

MINUTE_MS = 60_000


class Made:
    def __init__(self) -> None:
        self.at: list[int] = []
        self.version = 0
        self.is_wanted = threading.Event()
        self.is_wanted.set()

    def __call__(self, at_ms: int) -> Page:
        self.is_wanted.wait(timeout=30)
        self.at.append(at_ms)
        return Page(f"of {at_ms}", "", ())

    def kept(self, now_ms: int = 0, seconds: float = 10.0) -> Kept:
        found = Kept(self, lambda: self.version, lambda: now_ms, lambda: self.at.append(-1))
        found.page(0)
        found._seconds = {True: seconds, False: seconds}
        return found


def wait_for(made: Made, at: list[int]) -> None:
    while made.at != at:
        time.sleep(0.01)


def test_what_costs_little_is_made_each_time() -> None:
    made = Made()
    pages = made.kept(seconds=0.0)
    assert [pages.page(at)[1] for at in (0, 0, 1, 2)] == [0, 0, 1, 2]


def test_what_is_costly_is_shown_while_a_newer_one_is_made() -> None:
    made = Made()
    pages = made.kept()
    assert pages.page(MINUTE_MS - 1)[1] == 0
    assert made.at == [0]
    made.is_wanted.clear()
    shown = [pages.page(MINUTE_MS) for _ in range(5)]
    assert [(page.note, at_ms) for page, at_ms in shown] == [("", 0)] * 5
    made.is_wanted.set()
    wait_for(made, [0, MINUTE_MS])


def test_a_page_of_tables_that_moved_says_so_until_it_is_made_anew() -> None:
    made = Made()
    pages = made.kept()
    made.version = 1
    made.is_wanted.clear()
    assert [pages.page(1)[0].note for _ in range(3)] == [MOVED] * 3
    made.is_wanted.set()
    wait_for(made, [0, 1])
    with pages._making:
        pass
    pages._seconds = {True: 10.0, False: 10.0}
    assert (pages.page(2)[0].note, pages.page(2)[1], made.at) == ("", 1, [0, 1])


def test_what_costs_little_until_a_table_moves_is_made_each_time_until_then() -> None:
    made = Made()
    pages = made.kept(now_ms=3)
    pages._seconds = {True: 10.0}
    found = pages._found
    assert found and pages.page(1) == (found.page, 0)
    pages._made(1, found)  # as is known from now on, it costs little
    assert [pages.page(at)[1] for at in (1, 2)] == [1, 2]
    pages.look()
    assert made.at == [0, 1, 1, 2]
    made.version = 1
    made.is_wanted.clear()
    page, at_ms = pages.page(2)
    assert (page.note, at_ms) == (MOVED, 2)
    made.is_wanted.set()
    wait_for(made, [0, 1, 1, 2, 2])


def test_a_move_that_cost_little_says_not_that_the_next_one_will() -> None:
    made = Made()
    pages = made.kept()
    for made.version in (1, 2):
        pages._made(0, pages._found)
    assert pages._seconds[True] == 2.5
    made.version = 3
    made.is_wanted.clear()
    assert pages.page(0)[0].note == MOVED
    made.is_wanted.set()


def test_what_is_old_is_not_shown() -> None:
    pages = Made().kept()
    page, at_ms = pages.page(5 * MINUTE_MS)
    assert (page.title, at_ms) == (f"of {5 * MINUTE_MS}", 5 * MINUTE_MS)


def test_a_newer_page_is_made_before_somebody_asks() -> None:
    made = Made()
    pages = made.kept(now_ms=7)
    pages.look()
    assert made.at == [0]
    made.version = 1
    pages.look()
    assert made.at == [0, 7, -1], "and then what else is asked for"
    pages._seconds = {True: 10.0, False: 10.0}
    assert pages.page(8)[1] == 7
    made.version = 2
    pages._asked_at -= 3600  # nobody looks any more
    pages.look()
    assert made.at == [0, 7, -1]


def test_whoever_makes_pages_beforehand_ends_with_them() -> None:
    pages = Made().kept()
    watched = weakref.ref(pages)
    del pages
    gc.collect()
    assert watched() is None
