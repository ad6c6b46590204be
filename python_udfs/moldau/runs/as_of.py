"""Groups as of an instant: a warehouse of that moment, rebuilt from the records up to it.

It lies in a temporary folder and is made by the models that fold and decide, so every reader
answers from it as from any other; the warehouse itself is only read. Which engine makes them says
`engine:` of the settings, as for runs; under `auto` the size of the moment does. What has no time
of its own (snapshots, settings, what moldau did) counts as far as it was there before the first run
that decided for a later instant. Runs of moldau that changed a group are gone through again, in
their order among the loads; the calls that they made are not: their outcomes are in history.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from moldau.engines.spark.apart import apart
from moldau.errors import MoldauError
from moldau.reading.tables.names_of import resolve
from moldau.reading.tables.views import tables_under
from moldau.runs.opening import start_session, start_spark
from moldau.runs.past.rebuilt import Rebuilt
from moldau.runs.past.source import CALLS, HISTORY, RECORDS, About, Present, Source
from moldau.runs.past.words import words
from moldau.settings import Settings
from moldau.warehouse.contracts import marts
from moldau.warehouse.lock import locked

__all__ = ["SHOWN", "About", "Moment", "as_of", "require_groups", "tables_asked"]

_STATE = (
    "state.groups", "state.group_offsets", "state.group_records", "state.topology_backoffs",
    "state.open_transactions", "state.group_listings",
)  # fmt: skip
_DECISIONS = tuple(
    f"decisions.{name}"
    for name in (
        "cleanup_eligibility", "offset_expirations", "group_sweeps", "heartbeat_gates",
        "topology_push_results", "group_deletion_results", "classic_join_results",
    )
)  # fmt: skip
SHOWN = (RECORDS, *_STATE, *_DECISIONS, CALLS, "history.epoch_clears",
         "history.tombstones")  # fmt: skip


@dataclass(frozen=True)
class Moment:
    """`settings`: those to read with; `warehouse` in them is the one of the moment."""

    settings: Settings
    words: str
    """From which instant on the history is whole."""


def require_groups(warehouse: Path, name: str) -> str:
    """The full name of a table or mart that can be rebuilt; MoldauError for one that cannot."""
    full_name = resolve(warehouse, name)
    under = tables_asked(full_name)
    known = {*SHOWN, *HISTORY, "state.runs", "state.settings"}
    read = {one for one in under if not one.startswith("seeds.")}
    is_of_groups = any(one in SHOWN for one in read)
    if full_name in SHOWN or (full_name in marts() and is_of_groups and read <= known):
        return full_name
    raise MoldauError(
        f"--as-of rebuilds groups, and {full_name} is made of other things, too: ask for "
        "state.groups, state.group_offsets, what is decided about groups and offsets, or a mart "
        "of these alone, such as marts.groups"
    )


def tables_asked(full_name: str) -> Collection[str]:
    """The tables that a table or mart is made of."""
    return tables_under([full_name]) if full_name in marts() else {full_name}


@contextlib.contextmanager
def as_of(
    settings: Settings,
    at_ms: int,
    about: About,
    asked: Collection[str] = SHOWN,
    present: Present | None = None,
) -> Iterator[Moment]:
    """The moment `at_ms`, as long as the block lasts.

    `asked`: the tables that are read of it. Of the others it has those that they are made of; all
    of them have what would have been decided then, of every group that is asked about. `present`:
    the warehouse as it is, where that is open already.
    """
    with tempfile.TemporaryDirectory(prefix="moldau-as-of-", dir=_place(about)) as folder:
        warehouse = Path(folder).resolve()
        then = settings.model_copy(
            update={
                "warehouse": warehouse,
                "sections": {name: {} for name in settings.sections},
            }
        )
        needed = partial(start_spark, then, 0)
        with (
            locked(warehouse, "as of an instant"),
            apart(needed, then.spark, "--as-of") as start,
        ):
            session = start_session(then, start=start)
            source = Source(present or Present.of(settings.warehouse), warehouse, at_ms, about)
            source.take_over()
            rebuilt = Rebuilt(source, session, asked)
            rebuilt.go_through()
            rebuilt.decide()
            yield Moment(then, words(source))


def _place(about: About) -> str | None:
    """A group's records are few: they lie in memory, where no write waits for a disk."""
    is_small = about.group_id is not None and os.access("/dev/shm", os.W_OK)
    return "/dev/shm" if is_small else None
