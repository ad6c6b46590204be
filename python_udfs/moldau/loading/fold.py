"""The stage of a load that folds: the models that carry what it brought into state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from moldau.declared import domains, topics
from moldau.escapes import visible
from moldau.literals import literal, rows_sql
from moldau.loading import remarks
from moldau.loading.bring import Loaded
from moldau.loading.shapes import RECORDS, shapes
from moldau.loading.stage import Staged
from moldau.records import families
from moldau.warehouse.contracts import run_views

POSITIONS = "log_positions"

if TYPE_CHECKING:
    from moldau.declared.domain import Topics
    from moldau.sessions.session import Session


def folds_of(session: Session, staged: Staged, loaded: Loaded) -> list[str]:
    """The models that the load writes: of records those of the families that it has."""
    positions = [f"fold_{POSITIONS}"] if staged.positions else []
    is_whole = shapes()[staged.kind].is_snapshot and not staged.refused_files
    if not (loaded.rows_new or is_whole):
        return positions
    if staged.kind != RECORDS.kind:
        return [model.name for model in session.models("fold", staged.kind)]
    return [
        model.name
        for decoded in _topics_of(staged)
        for model in session.models("fold", decoded.family)
    ] + positions


def fold(session: Session, staged: Staged, loaded: Loaded, models: list[str]) -> None:
    """Write these models in the run that is open, and note what they show of the load."""
    mine = f"run_id = {literal(staged.run_id)}"
    if staged.kind in run_views():
        session.bring(staged.kind, f"select * from raw.{staged.kind} where {mine}")
    for decoded in topics().values() if staged.kind == RECORDS.kind else ():
        if decoded.view:
            session.bring(decoded.view, f"select * from {decoded.table} where {mine}")
    if staged.positions:
        of_all = {"cluster_id": staged.cluster_id, "run_id": staged.run_id}
        told = [vars(position) | of_all for position in staged.positions]
        session.bring(POSITIONS, rows_sql(run_views()[POSITIONS], told))
    session.run_models(*models)
    if loaded.rows_new:
        loaded.notes += _of_parts(session, staged) + _of_domains(session, staged)


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
