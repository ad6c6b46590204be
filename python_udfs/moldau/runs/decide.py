"""One run of a kind that decides, and applies what it decided: cycle, sweep, tiers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from moldau.runs.scope import scope_of
from moldau.runs.stages import carry_out
from moldau.sessions import journal
from moldau.sessions.faults import fault
from moldau.sessions.open_run import next_run_id
from moldau.sessions.run import Run

if TYPE_CHECKING:
    from moldau.sessions.session import Session


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
    journal.note(session.warehouse, run)
    carry_out(session, run)
    return run
