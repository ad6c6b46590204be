"""Whether there is anything to do for a run of a kind that decides each subject once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from moldau.compiled.graph import tables_under
from moldau.declared import kinds
from moldau.runs.apply import applies_to
from moldau.sessions.run import Run
from moldau.warehouse.ask import ask_rows, has_rows, sql_text

if TYPE_CHECKING:
    from moldau.sessions.session import Session


def is_owed(session: Session, run: Run) -> bool:
    """Whether anything was loaded since the last run of this kind, or may be left to apply."""
    done = ask_rows(
        session.warehouse,
        "state.runs",
        f"select run_id, cluster_ids from t where kind = {sql_text(run.kind)} "
        "and status = 'succeeded' and not is_dry_run",
    )
    last = min(max((one for one, of in done if name in of), default="") for name in run.cluster_ids)
    names = [model.name for model in session.models("decide", run.kind)]
    raw = [name for name in tables_under(names) if name.startswith("raw.")]
    is_loaded = f"run_id > {sql_text(last)}"
    return any(has_rows(session.warehouse, table, is_loaded) for table in raw) or (
        not run.is_dry_run and _has_moved(session, run, last)
    )


def _has_moved(session: Session, run: Run, last: str) -> bool:
    """Whether what this kind of run follows has changed since the run `last`."""
    applied = [name for name in run.cluster_ids if applies_to(session, run.kind, name)]
    if not applied:
        return False
    within = f"cluster_id in ({', '.join(map(sql_text, applied))})"
    changed = f"{within} and changed_in_run_id > {sql_text(last)}"
    return any(
        has_rows(session.warehouse, kept, within) and has_rows(session.warehouse, table, changed)
        for kept, table in kinds()[run.kind].follows.items()
    )
