"""A load from staging to folded state, and what an interrupted one still owes."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from moldau.domains import topics
from moldau.engine.literals import literal
from moldau.errors import MoldauError
from moldau.instants import now_ms
from moldau.loading.append import append_decoded, append_rows, count_appended, take_back
from moldau.loading.refusals import Refusal
from moldau.loading.shapes import RECORDS, shapes
from moldau.loading.stage import MARKER, Staged, stage
from moldau.records import families
from moldau.sessions.run import Run, close_run, next_run_id, open_run, settings_models
from moldau.sessions.unfinished import is_closed, setting_aside
from moldau.warehouse.contracts import run_views
from moldau.warehouse.paths import LOADS

if TYPE_CHECKING:
    from moldau.sessions.session import Session


@dataclass(frozen=True)
class Loaded:
    run_id: str
    cluster_id: str
    kind: str
    rows_new: int
    rows_already_there: int
    refused: list[Refusal]


def load(session: Session, files: list[Path], cluster_id: str, kind: str) -> Loaded:
    """Load files of one kind for one cluster: raw, decoded, folded, before it returns.

    Raises MoldauError when a file cannot be read; bad lines are refused one by one.
    """
    if kind not in shapes():
        raise MoldauError(f"{kind!r} is not a kind of file: {', '.join(sorted(shapes()))}")
    session.settings.cluster(cluster_id)
    run_id = next_run_id(session, "load")
    staged = Staged(run_id, kind, cluster_id, folder=_folder(session) / run_id)
    try:
        stage(staged, files, shapes()[kind])
    except BaseException:
        shutil.rmtree(staged.folder, ignore_errors=True)
        raise
    return finish(session, staged)


def finish_interrupted(session: Session) -> None:
    """Finish the load that a killed command left behind, under its own run_id.

    One that cannot be finished is set aside, so that it holds up nothing else.
    """
    for folder in sorted(filter(Path.is_dir, _folder(session).glob("*"))):
        if (folder / MARKER).is_file():
            with setting_aside(session, folder, take_back) as cluster_ids:
                staged = Staged.read(folder)
                cluster_ids.append(staged.cluster_id)
                finish(session, staged)
        else:
            # nothing of it was taken in: its command had not yet read all of its files
            shutil.rmtree(folder)


def finish(session: Session, staged: Staged) -> Loaded:
    """Append, decode and fold what was staged, as far as that was not done yet."""
    if is_closed(session.warehouse, staged.run_id):
        shutil.rmtree(staged.folder)  # killed after its row was written
        return _loaded(staged, 0, 0, [])
    run = Run(staged.run_id, "load", [staged.cluster_id], now_ms(), load_kind=staged.kind)
    rows_new, refused = _append(session.warehouse, staged)
    run.counts = {
        "rows_new": rows_new,
        "rows_already_there": staged.rows - rows_new - len(refused),
        "rows_refused": len(staged.refused) + len(refused),
    }
    models = settings_models(session, run)
    if rows_new or (shapes()[staged.kind].is_snapshot and not staged.refused_files):
        models += folds_of(session, staged)
    if models:
        open_run(session, run, sum(file.stat().st_size for file in staged.row_files()))
        _bring(session, staged)
        session.run_models(*models)
    close_run(session, run)
    shutil.rmtree(staged.folder)
    return _loaded(staged, rows_new, run.counts["rows_already_there"], refused)


def _loaded(
    staged: Staged, rows_new: int, rows_already_there: int, refused: list[Refusal]
) -> Loaded:
    return Loaded(
        staged.run_id,
        staged.cluster_id,
        staged.kind,
        rows_new,
        rows_already_there,
        staged.refused + refused,
    )


def folds_of(session: Session, staged: Staged) -> list[str]:
    """The models that the load writes: of records those of the families that it has."""
    if staged.kind != RECORDS.kind:
        return [model.name for model in session.models("fold", staged.kind)]
    found = {families.family_of(topic) for topic, *_ in staged.ranges}
    families_found = [family for family in topics() if family in found]
    return [model.name for family in families_found for model in session.models("fold", family)]


def _append(warehouse: Path, staged: Staged) -> tuple[int, list[Refusal]]:
    """Append to raw and decoded what is not there yet."""
    rows_new = count_appended(warehouse, staged)
    refused: list[Refusal] = []
    if staged.rows and not rows_new:
        rows_new, refused = append_rows(warehouse, staged)
    if rows_new:
        append_decoded(warehouse, staged)
    return rows_new, refused


def _bring(session: Session, staged: Staged) -> None:
    """Make the views of what the load brought, which the folds read."""
    mine = f"run_id = {literal(staged.run_id)}"
    if staged.kind in run_views():
        session.bring(staged.kind, f"select * from raw.{staged.kind} where {mine}")
    for decoded in topics().values() if staged.kind == RECORDS.kind else ():
        if decoded.view:
            session.bring(decoded.view, f"select * from {decoded.table} where {mine}")


def _folder(session: Session) -> Path:
    return session.warehouse / LOADS
