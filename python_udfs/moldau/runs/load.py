"""Load files, or rows: a run that brings and folds."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from moldau.errors import MoldauError
from moldau.loading.bring import Loaded
from moldau.loading.inputs import Place
from moldau.loading.shapes import shapes
from moldau.loading.stage import Staged, stage, stage_rows
from moldau.runs.stages import carry_out
from moldau.sessions import journal
from moldau.sessions.brought import Brought
from moldau.sessions.faults import fault
from moldau.sessions.open_run import next_run_id

if TYPE_CHECKING:
    from moldau.loading.shape import Shape
    from moldau.sessions.session import Session


def load(
    session: Session,
    files: list[Path],
    cluster_id: str,
    kind: str,
    place: Place | None = None,
    notes: Sequence[str] = (),
) -> Loaded:
    """Load files of one kind for one cluster: raw, decoded, folded, before it returns.

    `place`: whose records they are where a file does not tell. `notes` are said of the load, too.
    Raises MoldauError when a file cannot be read; bad lines are refused one by one.
    """
    limits = session.settings.limits

    def put(to: Staged, shape: Shape) -> None:
        to.notes += notes
        session.tell("read", None)
        stage(to, files, shape, limits, place, lambda rows: session.tell("read", rows))

    return _load(session, cluster_id, kind, put)


def load_rows(
    session: Session, rows: Iterable[Mapping[str, Any]], origin: str, cluster_id: str, kind: str
) -> Loaded:
    """Load rows that stand in no file, as lines of one would be; `origin` says where from."""
    return _load(session, cluster_id, kind, lambda to, shape: stage_rows(to, rows, origin, shape))


def _load(
    session: Session, cluster_id: str, kind: str, put: Callable[[Staged, Shape], None]
) -> Loaded:
    if kind not in shapes():
        raise MoldauError(f"{kind!r} is not a kind of file: {', '.join(sorted(shapes()))}")
    fault()
    session.settings.cluster(cluster_id)
    run_id = next_run_id(session, "load")
    folder = journal.staged_folder(session.warehouse, run_id)
    staged = Staged(run_id, kind, cluster_id, folder=folder)
    try:
        put(staged, shapes()[kind])
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
