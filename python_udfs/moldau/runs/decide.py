"""One run of a kind that decides, and applies what it decided: cycle and sweep."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from moldau.errors import MoldauError
from moldau.loading.append import is_appended
from moldau.runs.apply import apply
from moldau.runs.faults import die_at, fault
from moldau.runs.marts import APPLY_MARTS, DECISION_MARTS
from moldau.runs.run import Run, close_run, literal, next_run_id, open_run, settings_models
from moldau.warehouse.durable import write_durably

if TYPE_CHECKING:
    from moldau.runs.session import Session

# kind of run -> the models that decide, and the tables they write
DECIDES = {
    "cycle": {"int_groups__cleanup_eligibility_decided": "decisions.cleanup_eligibility"},
    "sweep": {
        "int_groups__offset_expirations_decided": "decisions.offset_expirations",
        "int_groups__group_sweeps_decided": "decisions.group_sweeps",
    },
}


def decide(
    session: Session, kind: str, clusters: Sequence[str], at_ms: int, is_dry_run: bool
) -> Run:
    """Decide at one instant for these clusters, or for every known one, and write the run's row.

    What is decided is applied to clusters under `authority: moldau`, unless `is_dry_run`.
    Raises MoldauError for a cluster that is unknown.
    """
    fault()
    scope = scope_of(session, clusters)
    run = Run(next_run_id(session, kind), kind, scope, at_ms, is_dry_run=is_dry_run)
    _note(session, run)
    _finish(session, run)
    return run


def finish_interrupted_runs(session: Session) -> None:
    """Finish the run that a killed command left behind, under its own run_id and instant."""
    for journal in sorted(_journals(session).glob("*.json")):
        run = Run(**json.loads(journal.read_text()))
        if is_appended(session.spark, "state.runs", run.run_id):
            # killed after its row was written: only the marts may lag behind
            open_run(session, run)
            session.run_models(*DECISION_MARTS, *APPLY_MARTS, "last_run")
            journal.unlink()
        else:
            _finish(session, run)


def _journals(session: Session) -> Path:
    return session.warehouse / "_moldau" / "runs"


def _note(session: Session, run: Run) -> Path:
    """Note on disk how far the run is, for the command after one that is killed."""
    journal = _journals(session) / f"{run.run_id}.json"
    write_durably(journal, json.dumps(asdict(run)))
    return journal


def _finish(session: Session, run: Run) -> None:
    """Decide, apply, write the run's row; a stage that has nothing to do is left out."""
    open_run(session, run)
    if not run.is_decided:
        decided = session.run_models(*settings_models(session, run), *DECIDES[run.kind])
        run.has_changes = any(decided.rows_affected.get(name, 1) for name in DECIDES[run.kind])
        run.counts = _counts(session, run)
        run.is_decided = True
    # decided once: what is applied changes the state that the decisions were made on
    journal = _note(session, run)
    die_at("after_decide")
    is_applied = apply(session, run)
    die_at("before_run_row")
    changes = ["record_group_decision_changes"] if run.has_changes else []
    marts = [*(DECISION_MARTS if run.has_changes else ()), *(APPLY_MARTS if is_applied else ())]
    close_run(session, run, [*changes, *marts])
    journal.unlink()


def known_clusters(session: Session) -> list[str]:
    """Clusters that were loaded or stand in the settings."""
    loaded = {row[0] for row in session.sql("select distinct cluster_id from state.settings")}
    return sorted(loaded | set(session.settings.clusters))


def scope_of(session: Session, clusters: Sequence[str]) -> list[str]:
    known = known_clusters(session)
    unknown = [name for name in clusters if name not in known]
    if unknown:
        raise MoldauError(
            f"cluster {unknown[0]!r} is not known: "
            f"{', '.join(known) or 'nothing was loaded yet, and moldau.yml names none'}"
        )
    if not known:
        raise MoldauError("there is no cluster yet: `moldau load` brings the records of one")
    return sorted(set(clusters)) or known


def _counts(session: Session, run: Run) -> dict[str, int]:
    """How many subjects have which decision, and how many were decided in this run."""
    counts: dict[str, int] = {"decided": 0}
    scope = f"cluster_id in ({', '.join(map(literal, run.cluster_ids))})"
    for table in DECIDES[run.kind].values():
        for decision, subjects, decided in session.sql(
            f"select decision, count(*), count_if(run_id = {literal(run.run_id)}) "
            f"from {table} where {scope} group by decision order by decision"
        ):
            name = decision if table != "decisions.offset_expirations" else f"offsets_{decision}"
            counts[name] = subjects
            counts["decided"] += decided
    return counts
