"""Decide about what was set aside: try a load again, or forget it."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import TYPE_CHECKING

from moldau.errors import MoldauError
from moldau.loading.bring import Loaded
from moldau.runs.load import finish
from moldau.runs.resume import setting_aside
from moldau.sessions import journal
from moldau.sessions.brought import Brought
from moldau.sessions.open_run import next_run_id
from moldau.warehouse.aside import Aside, forget, read_aside
from moldau.warehouse.durable import fsync
from moldau.warehouse.notes import NotUnderstood

if TYPE_CHECKING:
    from moldau.sessions.session import Session


def retry(session: Session, run_id: str) -> Loaded:
    """Finish a load that was set aside, as a load of its own with a number of its own.

    Raises MoldauError if there is no such load, or if it cannot be finished now either.
    """
    entry = _find(session, run_id)
    if not entry.is_load:
        raise MoldauError(f"{run_id} is not a load: the next {entry.kind} decides anew")
    brought, folder = _staged(entry)
    # what a later run decided on must not seem older than that run
    fresh_id = next_run_id(session, "load")
    fresh = dataclasses.replace(brought, run_id=fresh_id)
    place = journal.staged_folder(session.warehouse, fresh_id)
    place.parent.mkdir(parents=True, exist_ok=True)
    # the journal first: staged rows without one are removed by the next command
    journal.note(session.warehouse, journal.run_of(fresh))
    os.rename(folder, place)
    fsync(place.parent)
    forget(session.warehouse, run_id)
    with setting_aside(session, journal.journal_of(session.warehouse, fresh_id)) as cluster_ids:
        cluster_ids.append(brought.cluster_id)
        return finish(session, fresh)
    again = session.set_aside.pop()
    raise MoldauError(
        f"{run_id} cannot be finished now either and is set aside as {again.run_id}: {again.reason}"
    )


def _staged(entry: Aside) -> tuple[Brought, Path]:
    """What a load brings, and the folder of its rows."""
    try:
        if entry.moved.is_dir():  # by moldau 0.1
            run = journal.read(entry.moved / journal.OF_A_LOAD)
            folder = entry.moved
        else:
            run, folder = journal.read(entry.moved), entry.staged
        if run.brought and folder.is_dir():
            return run.brought, folder
        reason = "its rows are not there"
    except (NotUnderstood, OSError) as error:
        reason = str(error)
    raise MoldauError(
        f"{entry.run_id} cannot be tried again ({reason}): drop it and load its files again"
    )


def drop(session: Session, run_id: str) -> None:
    """Forget what was set aside. MoldauError if there is no such run.

    What a load had folded into state stays: the log says so.
    """
    _find(session, run_id)
    forget(session.warehouse, run_id)


def _find(session: Session, run_id: str) -> Aside:
    entries = {entry.run_id: entry for entry in read_aside(session.warehouse)}
    if run_id not in entries:
        known = ", ".join(entries) or "nothing is"
        raise MoldauError(f"{run_id!r} is not set aside: {known}")
    return entries[run_id]
