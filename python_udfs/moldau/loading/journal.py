"""Carry a load from staging to folded state, and finish an interrupted one."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from moldau.domains import domains, topics
from moldau.errors import MoldauError
from moldau.escapes import visible
from moldau.instants import now_ms
from moldau.literals import literal
from moldau.loading import remarks
from moldau.loading.new_rows import (
    append_decoded,
    append_rows,
    count_appended,
    find_falls,
    take_back,
)
from moldau.loading.refusals import Refusal
from moldau.loading.shapes import RECORDS, shapes
from moldau.loading.stage import MARKER, Staged, stage
from moldau.loading.tally import Tally
from moldau.records import families
from moldau.sessions.closing import close_run
from moldau.sessions.run import Run, next_run_id, open_run, settings_models
from moldau.sessions.unfinished import is_closed, setting_aside
from moldau.warehouse.contracts import run_views
from moldau.warehouse.notes import NotUnderstood
from moldau.warehouse.paths import LOADS
from moldau.warehouse.verify import unreadable

if TYPE_CHECKING:
    from moldau.domains.domain import Topics
    from moldau.sessions.session import Session


@dataclass(frozen=True)
class Loaded:
    run_id: str
    cluster_id: str
    kind: str
    rows_new: int
    rows_already_there: int
    refused: list[Refusal]
    # of its new records those that were not understood: topic -> decode status -> records
    decode_statuses: dict[str, dict[str, int]] = field(default_factory=dict)
    unknown_topics: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What a person should know of it, a line each."""


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
        if (folder / MARKER).exists():
            with setting_aside(session, folder, take_back) as cluster_ids:
                staged = Staged.read(folder)
                cluster_ids.append(staged.cluster_id)
                for file in staged.row_files():
                    if wrong := unreadable(file):
                        raise NotUnderstood(f"{file.name} {wrong}")
                notes = finish(session, staged).notes
                session.notes += [f"load {staged.run_id}: {note}" for note in notes]
        else:
            # nothing of it was taken in: its command had not yet read all of its files
            shutil.rmtree(folder)


def finish(session: Session, staged: Staged) -> Loaded:
    """Append, decode and fold what was staged, as far as that was not done yet."""
    if is_closed(session.warehouse, staged.run_id):
        shutil.rmtree(staged.folder)  # killed after its row was written
        return _loaded(staged, 0, 0, [])
    run = Run(staged.run_id, "load", [staged.cluster_id], now_ms(), load_kind=staged.kind)
    rows_new, refused, tally = _append(session.warehouse, staged)
    rows_already_there = staged.rows - rows_new - len(refused)
    run.counts = {
        "rows_new": rows_new,
        "rows_already_there": rows_already_there,
        "rows_refused": len(staged.refused) + len(refused),
        **{f"records_{status}": records for status, records in tally.of_status().items()},
    }
    notes = list(remarks.of_statuses(tally))
    unknown = _unknown_topics(staged)
    notes += remarks.of_topics(unknown, "their records are kept as bytes, and nothing reads them")
    if staged.kind == RECORDS.kind:
        notes += remarks.of_other_bytes(len(refused), rows_already_there, staged.cluster_id)
    notes += remarks.of_snapshot(staged.refused_files, len(staged.files), staged.kind)
    if rises := shapes()[staged.kind].rises:
        notes += remarks.of_falls(*find_falls(staged, *rises), *rises)
    models = settings_models(session, run)
    if rows_new or (shapes()[staged.kind].is_snapshot and not staged.refused_files):
        models += folds_of(session, staged)
    if models:
        open_run(session, run, sum(file.stat().st_size for file in staged.row_files()))
        _bring(session, staged)
        session.run_models(*models)
        if rows_new:
            notes += _of_parts(session, staged) + _of_domains(session, staged)
    close_run(session, run)
    shutil.rmtree(staged.folder)
    statuses = {topic: dict(counts) for topic, counts in tally.statuses.items()}
    return _loaded(staged, rows_new, rows_already_there, refused, statuses, unknown, notes)


def _loaded(
    staged: Staged, rows_new: int, rows_already_there: int, refused: list[Refusal], *found: Any
) -> Loaded:
    return Loaded(
        staged.run_id,
        staged.cluster_id,
        staged.kind,
        rows_new,
        rows_already_there,
        staged.refused + refused,
        *found,
    )


def _unknown_topics(staged: Staged) -> list[str]:
    return sorted({topic for topic, *_ in staged.ranges if families.family_of(topic) is None})


def _of_parts(session: Session, staged: Staged) -> list[str]:
    """Asked of the models that say what a family's export is without."""
    found: list[str] = []
    for decoded in _topics_of(staged):
        if view := decoded.known_in_part:
            session.make_views(view)
            parts = session.sql(
                f"select group_id, count(*) over () from intermediate.{view} "
                f"order by group_id limit {remarks.NAMED}"
            )
            groups = parts[0][1] if parts else 0
            found += remarks.of_parts([part[0] for part in parts], groups, staged.cluster_id)
    return found


def _of_domains(session: Session, staged: Staged) -> list[str]:
    """What a domain has to say of its own kind of file."""
    views = [domain.remarks[staged.kind] for domain in domains() if staged.kind in domain.remarks]
    for view in views:
        session.make_views(view)
    found = [
        session.sql(f"select remark from intermediate.{view} order by remark") for view in views
    ]
    return [visible(row[0], 400) for rows in found for row in rows]


def _topics_of(staged: Staged) -> list[Topics]:
    """The families of topics that a load of records has."""
    found = {families.family_of(topic) for topic, *_ in staged.ranges}
    return [topics()[family] for family in topics() if family in found]


def folds_of(session: Session, staged: Staged) -> list[str]:
    """The models that the load writes: of records those of the families that it has."""
    if staged.kind != RECORDS.kind:
        return [model.name for model in session.models("fold", staged.kind)]
    return [
        model.name
        for decoded in _topics_of(staged)
        for model in session.models("fold", decoded.family)
    ]


def _append(warehouse: Path, staged: Staged) -> tuple[int, list[Refusal], Tally]:
    """Append to raw and decoded what is not there yet."""
    rows_new = count_appended(warehouse, staged)
    refused: list[Refusal] = []
    if staged.rows and not rows_new:
        rows_new, refused = append_rows(warehouse, staged)
    tally = append_decoded(warehouse, staged) if rows_new else Tally()
    return rows_new, refused, tally


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
