"""What a run leaves behind so that the next one can tell that nothing changed (see idle.py)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from moldau.compiled.graph import tables_under
from moldau.declared import kinds
from moldau.runs.apply import applies_to
from moldau.runs.idle import Notes, Standstill, digest, read_notes, table_versions, write_notes
from moldau.runs.scope import loaded_clusters
from moldau.warehouse.contracts import tables

if TYPE_CHECKING:
    from moldau.sessions.run import Run
    from moldau.sessions.session import Session


@dataclass
class Decided:
    """What a run decided for one cluster; `next_due_at_ms`: None = never."""

    counts: Counter[str] = field(default_factory=Counter)
    next_due_at_ms: int | None = None

    def add(self, name: str, subjects: int, next_due_at_ms: int | None) -> None:
        self.counts[name] += subjects
        self.wait_for(next_due_at_ms)

    def wait_for(self, at_ms: int | None) -> None:
        if at_ms is not None:
            self.next_due_at_ms = min(at_ms, self.next_due_at_ms or at_ms)


def versions_read(session: Session, models: Sequence[str]) -> dict[str, int | None]:
    """Versions of the tables that these models decide on, and of every decision.

    Decisions of other kinds: a plain dbt run may have left changes that are not recorded yet.
    Without state.runs: every run adds its row, and which was the last one decides nothing.
    """
    decisions = {name for name, table in tables().items() if table.database == "decisions"}
    read = (tables_under(models) | decisions) - {"state.runs"}
    return table_versions(session.warehouse, read)


def note_standstills(
    session: Session, run: Run, read: dict[str, int | None], decided: dict[str, Decided]
) -> None:
    """Note each cluster to which this run has nothing to apply.

    `read`: versions of before the decision; those of what the run wrote are taken anew.
    """
    kind = kinds()[run.kind]
    if kind.decides_once and run.is_dry_run:
        return  # what was decided is not done, and is decided by no run but the next
    if kind.in_scope and not set(session.settings.named_clusters()) <= set(run.cluster_ids):
        return  # what the other clusters have to do with these was not decided
    stages = ("decide", "apply") if kind.settles else ("decide",)
    of_run = {model.table for stage in stages for model in session.models(stage, run.kind)}
    written = [name for name in read if name.startswith("decisions.") or name in of_run]
    versions = read | table_versions(session.warehouse, [*written, "state.settings"])
    quiet = {
        name: Standstill(
            settings_hash=digest(session.settings, run.kind, name),
            decided_at_ms=run.at_ms,
            next_due_at_ms=decided[name].next_due_at_ms,
            counts={} if kind.decides_once else dict(decided[name].counts),
            versions={table: version for table, version in versions.items() if version is not None},
        )
        for name in run.cluster_ids
        if (kind.settles and not run.is_dry_run)
        or not _has_work(session, run.kind, name, decided[name])
    }
    before = read_notes(session.warehouse, run.kind)
    notes = Notes(
        sorted(loaded_clusters(session.settings)), list(tables()), before.clusters | quiet
    )
    write_notes(session.warehouse, run.kind, notes)


def _has_work(session: Session, kind: str, cluster: str, decided: Decided) -> bool:
    is_due = any(decided.counts[name] for name in kinds()[kind].acts_on)
    return is_due and applies_to(session, kind, cluster)
