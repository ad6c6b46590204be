"""One run of a kind that decides: cycle and sweep."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from moldau.errors import MoldauError
from moldau.loading.append import is_appended
from moldau.runs.marts import DECISION_MARTS
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

    Raises MoldauError for a cluster that is unknown, and where moldau would have to apply what
    was decided.
    """
    scope = scope_of(session, clusters)
    run = Run(next_run_id(session, kind), kind, scope, at_ms, is_dry_run=is_dry_run)
    if not is_dry_run:
        _refuse_to_apply(session, run)
    journal = _journal(session) / f"{run.run_id}.json"
    write_durably(journal, json.dumps(asdict(run)))
    _decide(session, run)
    journal.unlink()
    return run


def finish_interrupted_runs(session: Session) -> None:
    """Finish the run that a killed command left behind, under its own run_id and instant."""
    for journal in sorted(_journal(session).glob("*.json")):
        run = Run(**json.loads(journal.read_text()))
        if is_appended(session.spark, "state.runs", run.run_id):
            # killed after its row was written: only the marts may lag behind
            open_run(session, run)
            session.run_models(*DECISION_MARTS, "last_run")
        else:
            _decide(session, run)
        journal.unlink()


def _journal(session: Session) -> Path:
    return session.warehouse / "_moldau" / "runs"


def _decide(session: Session, run: Run) -> None:
    open_run(session, run)
    models = [*settings_models(session, run), *DECIDES[run.kind], "record_group_decision_changes"]
    session.run_models(*models)
    run.counts = _counts(session, run)
    close_run(session, run, DECISION_MARTS)


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


def _refuse_to_apply(session: Session, run: Run) -> None:
    ours = [n for n in run.cluster_ids if session.settings.cluster(n).authority == "moldau"]
    if ours:
        raise MoldauError(
            f"cluster {ours[0]} has `authority: moldau`, and this version decides only: "
            f"add --dry-run"
        )


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
