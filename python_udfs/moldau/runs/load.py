"""Load files: a run that brings and folds."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from moldau.errors import MoldauError
from moldau.loading.bring import Loaded
from moldau.loading.shapes import shapes
from moldau.loading.stage import Staged, stage
from moldau.runs.stages import carry_out
from moldau.sessions import journal
from moldau.sessions.brought import Brought
from moldau.sessions.faults import fault
from moldau.sessions.run import next_run_id

if TYPE_CHECKING:
    from moldau.sessions.session import Session


def load(session: Session, files: list[Path], cluster_id: str, kind: str) -> Loaded:
    """Load files of one kind for one cluster: raw, decoded, folded, before it returns.

    Raises MoldauError when a file cannot be read; bad lines are refused one by one.
    """
    if kind not in shapes():
        raise MoldauError(f"{kind!r} is not a kind of file: {', '.join(sorted(shapes()))}")
    fault()
    session.settings.cluster(cluster_id)
    run_id = next_run_id(session, "load")
    folder = journal.staged_folder(session.warehouse, run_id)
    staged = Staged(run_id, kind, cluster_id, folder=folder)
    try:
        stage(staged, files, shapes()[kind], session.settings.limits)
    except BaseException:
        shutil.rmtree(staged.folder, ignore_errors=True)
        raise
    return finish(session, staged.brought())


def finish(session: Session, brought: Brought) -> Loaded:
    """Carry out the load of what is staged under its run_id."""
    run = journal.run_of(brought)
    journal.note(session.warehouse, run)
    loaded = carry_out(session, run)
    assert loaded
    return loaded
