"""Handle what an interrupted command left and the next one cannot finish either."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from moldau.errors import MoldauError
from moldau.instants import now_ms
from moldau.sessions.run import FAILED, Run, is_run_id, row_of
from moldau.sessions.run_rows import append_row
from moldau.sessions.shutdown import ShutdownRequested
from moldau.warehouse.aside import set_aside
from moldau.warehouse.ask import has_rows, sql_text
from moldau.warehouse.contracts import tables
from moldau.warehouse.damage import DamagedError
from moldau.warehouse.notes import NotUnderstood
from moldau.warehouse.verify import damage_behind

if TYPE_CHECKING:
    from moldau.sessions.session import Session


@contextlib.contextmanager
def setting_aside(
    session: Session, found: Path, undo: Callable[[Path, str], None] | None = None
) -> Iterator[list[str]]:
    """Set the staged load or journal `found` aside if it cannot be finished in this block.

    `undo` is called with its run_id first: whoever is killed in between finds it open still.

    It gets a row with status `failed` and the clusters that the block adds to the list, so that
    its number is never given again. What a person can mend where it stands (MoldauError, a full
    disk, a damaged table) goes up and is tried again.
    """
    cluster_ids: list[str] = []
    try:
        yield cluster_ids
    except (MoldauError, ShutdownRequested, OSError):
        raise
    except Exception as error:
        if not isinstance(error, NotUnderstood):
            if damage := damage_behind(error, session.warehouse, tables()):
                raise DamagedError(damage) from error
            if not _answers(session):
                raise
        run_id = found.name.removesuffix(".json")
        has_row = has_rows(session.warehouse, "state.runs", f"run_id = {sql_text(run_id)}")
        # a file or folder that no command of moldau named has no number, and must not get one
        if is_run_id(run_id) and not has_row:
            run = Run(run_id, run_id.partition("-")[2], cluster_ids, now_ms())
            append_row(session.warehouse, row_of(run, FAILED))
        if undo is not None:
            undo(session.warehouse, run_id)
        session.set_aside.append(set_aside(session.warehouse, found, str(error)))


def is_closed(warehouse: Path, run_id: str) -> bool:
    """The run's row says that it is complete."""
    of_run = f"run_id = {sql_text(run_id)} and status = 'succeeded'"
    return has_rows(warehouse, "state.runs", of_run)


def _answers(session: Session) -> bool:
    """Spark is there: a dead JVM is no fault of what was being finished."""
    try:
        return bool(session.sql("select 1"))
    except Exception:
        return False
