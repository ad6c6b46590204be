"""Decide about a load that was set aside: try it again, or take back what it had begun."""

from __future__ import annotations

import dataclasses
import os
from typing import TYPE_CHECKING

from moldau.errors import MoldauError
from moldau.loading.journal import Loaded, finish
from moldau.loading.new_rows import take_back
from moldau.loading.stage import Staged
from moldau.sessions.run import next_run_id
from moldau.sessions.unfinished import setting_aside
from moldau.warehouse.aside import Aside, forget, read_aside
from moldau.warehouse.notes import NotUnderstood
from moldau.warehouse.paths import LOADS

if TYPE_CHECKING:
    from moldau.sessions.session import Session


def retry(session: Session, run_id: str) -> Loaded:
    """Finish a load that was set aside, as a load of its own with a number of its own.

    Raises MoldauError if there is no such load, or if it cannot be finished now either.
    """
    entry = _find(session, run_id)
    if not entry.moved.is_dir():
        raise MoldauError(f"{run_id} is not a load: the next {entry.kind} decides anew")
    try:
        staged = Staged.read(entry.moved)
    except (NotUnderstood, OSError) as error:
        raise MoldauError(
            f"{run_id} cannot be tried again ({error}): drop it and load its files again"
        ) from error
    # what a later run decided on must not seem older than that run
    fresh_id = next_run_id(session, "load")
    folder = session.warehouse / LOADS / fresh_id
    fresh = dataclasses.replace(staged, run_id=fresh_id, folder=entry.moved)
    fresh.write_marker()
    os.rename(entry.moved, folder)
    forget(session.warehouse, run_id)
    with setting_aside(session, folder, take_back) as cluster_ids:
        cluster_ids.append(staged.cluster_id)
        return finish(session, dataclasses.replace(fresh, folder=folder))
    again = session.set_aside.pop()
    raise MoldauError(
        f"{run_id} cannot be finished now either and is set aside as {again.run_id}: {again.reason}"
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
