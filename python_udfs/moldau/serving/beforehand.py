"""What pages need is made ready before somebody asks for it, while nobody waits for a page."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress

from moldau.errors import MoldauError
from moldau.instants import format_instant, now_ms
from moldau.serving.open_tables import WANTED_SECONDS
from moldau.serving.page import Page
from moldau.serving.pages.group import address_of
from moldau.serving.question import Question
from moldau.serving.reader import Reader

_PATIENCE = 60.0  # so much is asked for that nothing more is needed
_LOOK_SECONDS = 2.0
_REST = 3  # times as long as tables were opened again
_FIRST = "overview"
_OF_ALL: tuple[tuple[str, Mapping[str, str]], ...] = (
    ("groups", {}),
    ("groups", {"sort": "next change"}),  # which reads what is decided, too
    *((name, {}) for name in ("decisions", "runs", "tiers", "mirrors", "producers")),
)
_OF_ONE = ("group", "decisions")
_ANY_GROUP = "select cluster_id, group_id from state.groups where not is_deleted limit 1"
Make = Callable[[str, Mapping[str, str]], Page]
"""A page as of now, by its name and what is given."""


def begin(make: Make, reader: Reader) -> None:
    """For as long as the process lives."""
    threading.Thread(target=_go_on, args=(make, reader), daemon=True).start()


def _go_on(make: Make, reader: Reader) -> None:
    make_ready(make, reader)
    while True:
        started = time.monotonic()
        if reader.visits.were_within(WANTED_SECONDS):
            with suppress(Exception):
                reader.renew()
        time.sleep(max(_LOOK_SECONDS, _REST * (time.monotonic() - started)))


def make_ready(make: Make, reader: Reader) -> None:
    """Ask for each kind of page once: what is wrong with one, who asks for it is told himself."""
    with suppress(Exception):
        make(_FIRST, {})
    wanted = [*_OF_ALL]
    with suppress(MoldauError):
        [answer] = reader.ask([Question("any", "Any group", _ANY_GROUP)], 0)
        for of_group in (address_of(*key) for key in answer.rows):
            wanted[:0] = [(name, of_group) for name in _OF_ONE]
            wanted.append(("group", {**of_group, "as_of": format_instant(now_ms())}))
    for name, given in wanted:
        if not reader.visits.are_over(_PATIENCE):
            return
        with suppress(Exception):
            make(name, given)
