"""Finish the run that an interrupted command left, or set it aside."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from moldau.errors import MoldauError
from moldau.instants import now_ms
from moldau.loading.new_rows import take_back
from moldau.loading.stage import Staged
from moldau.runs.stages import carry_out
from moldau.sessions import journal as journals
from moldau.sessions.run import FAILED, Run, is_run_id, row_of
from moldau.sessions.run_rows import append_row
from moldau.sessions.shutdown import ShutdownRequested
from moldau.warehouse.aside import set_aside
from moldau.warehouse.ask import has_rows, sql_text
from moldau.warehouse.contracts import tables
from moldau.warehouse.damage import DamagedError
from moldau.warehouse.notes import NotUnderstood
from moldau.warehouse.verify import damage_behind, unreadable

if TYPE_CHECKING:
    from moldau.sessions.session import Session


def finish_interrupted(session: Session) -> list[Run]:
    """Finish the run that a killed command left behind, under its own run_id and instant.

    One that cannot be finished is set aside: the next of its kind decides anew, and a load waits
    for somebody. Gives the runs that decide and were brought to an end; they, and what there is to
    say of a load, are told by the session.
    """
    finished = []
    for journal in journals.interrupted(session.warehouse):
        with setting_aside(session, journal) as cluster_ids:
            run = journals.read(journal)
            if run.run_id != journal.stem:
                raise NotUnderstood(f"it is of {run.run_id}")
            cluster_ids += run.cluster_ids
            if is_closed(session.warehouse, run.run_id):
                journals.forget(session.warehouse, run.run_id)  # killed after its row was written
                continue
            if run.brought:
                _require_rows(session, run)
            loaded = carry_out(session, run)
            if loaded:
                notes = list(loaded.notes)
                if loaded.rows_refused:
                    notes.append(f"{loaded.rows_refused} refused: all are in {loaded.refused_file}")
                session.notes += [f"load {run.run_id}: {note}" for note in notes]
            else:
                finished.append(run)
    session.finished += finished
    return finished


def _require_rows(session: Session, run: Run) -> None:
    """NotUnderstood if what was staged cannot be read."""
    assert run.brought
    staged = Staged.of(run.brought, journals.staged_folder(session.warehouse, run.run_id))
    if not staged.rows_folder.is_dir():
        raise NotUnderstood("its staged rows are gone")
    for file in staged.row_files():
        if wrong := unreadable(file):
            raise NotUnderstood(f"{file.name} {wrong}")


@contextlib.contextmanager
def setting_aside(session: Session, journal: Path) -> Iterator[list[str]]:
    """Set the run of this journal aside if it cannot be finished in this block.

    What a load appended is taken back first: whoever is killed in between finds it open still.
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
        run_id = journal.stem
        has_row = has_rows(session.warehouse, "state.runs", f"run_id = {sql_text(run_id)}")
        # a file or folder that no command of moldau named has no number, and must not get one
        if is_run_id(run_id) and not has_row:
            run = Run(run_id, run_id.partition("-")[2], cluster_ids, now_ms())
            append_row(session.warehouse, row_of(run, FAILED), session.settings.maintain)
        if run_id.endswith("-load") and not is_closed(session.warehouse, run_id):
            take_back(session.warehouse, run_id)
        session.set_aside.append(set_aside(session.warehouse, journal, str(error)))


def is_closed(warehouse: Path, run_id: str) -> bool:
    """The run's row says that it is complete."""
    of_run = f"run_id = {sql_text(run_id)} and status = 'succeeded'"
    return has_rows(warehouse, "state.runs", of_run)


def _answers(session: Session) -> bool:
    """The engine is there: a dead JVM is no fault of what was being finished."""
    try:
        return bool(session.sql("select 1"))
    except Exception:
        return False
