"""The plugin calls that a run makes before it decides, since it decides on their outcomes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from moldau.literals import literal
from moldau.runs.apply import applies_to, calling_plugins
from moldau.sessions import shutdown
from moldau.sessions.faults import die_at
from moldau.sessions.run import Run

if TYPE_CHECKING:
    from moldau.sessions.session import Session


def call(session: Session, run: Run) -> None:
    """Call the plugins round by round until no call is wanted: one may depend on another.

    The calls that a killed run has recorded are not made again.
    """
    models = [model.name for model in session.models("call", run.kind)]
    clusters = [
        name
        for name in run.cluster_ids
        if applies_to(session, run.kind, name) and session.settings.cluster(name).has_plugin
    ]
    if run.is_dry_run or not (models and clusters):
        return
    made = _calls(session, run)
    with calling_plugins(session, run, clusters) as carry_on:
        while True:
            shutdown.check()
            carry_on(models)
            before, made = made, _calls(session, run)
            if made == before:
                break
    die_at("after_call")


def _calls(session: Session, run: Run) -> int:
    mine = f"run_id = {literal(run.run_id)}"
    [(calls,)] = session.sql(f"select count(*) from history.plugin_calls where {mine}")
    return int(calls)
