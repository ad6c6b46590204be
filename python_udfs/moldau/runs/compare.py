"""Decide under two rule sets on the same state; apply nothing."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from moldau.declared import domains
from moldau.errors import MoldauError
from moldau.runs.scope import rulesets_of, scope_of
from moldau.sessions.closing import close_run
from moldau.sessions.open_run import next_run_id, open_run, settings_models
from moldau.sessions.run import Run
from moldau.settings.rule_sets import require_rule_set

if TYPE_CHECKING:
    from moldau.sessions.session import Session


def compare(
    session: Session, domain: str, rulesets: tuple[str, str], clusters: Sequence[str], at_ms: int
) -> Run:
    """Write the subjects that the two rule sets decide differently to marts.ruleset_differences."""
    reasoned = {one.name: one.reasoned for one in domains() if one.reasoned}
    if domain not in reasoned:
        raise MoldauError(f"{domain!r} cannot be compared: {', '.join(reasoned)} can")
    for name in rulesets:
        require_rule_set(domain, name)
    scope = scope_of(session, clusters)
    run = Run(next_run_id(session, "compare"), "compare", scope, at_ms, is_dry_run=True)
    folder = fresh_folder(session, run)
    if models := settings_models(session, run):
        open_run(session, run)
        session.run_models(*models)
    sides = []
    for side, name in zip("ab", rulesets, strict=True):
        run.rulesets = {
            cluster: rulesets_of(session.settings, cluster) | {domain: name} for cluster in scope
        }
        open_run(session, run)
        kept = session.keep(reasoned[domain], folder / side)
        sides.append(f"select '{side}' as side, * from {kept}")
    run.rulesets = {}
    open_run(session, run)
    session.bring("compared", " union all ".join(sides))
    session.run_models("replace_ruleset_comparison")
    differences = session.sql("select count(*) from state.ruleset_comparison")[0][0]
    run.counts = {"differences": differences}
    close_run(session, run)
    shutil.rmtree(folder, ignore_errors=True)
    return run


def fresh_folder(session: Session, run: Run) -> Path:
    """Where a run keeps what it compares; of one that was killed nothing is left."""
    folder = session.warehouse / "_moldau" / "compare" / run.run_id
    shutil.rmtree(folder, ignore_errors=True)
    return folder
