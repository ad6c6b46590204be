"""Apply what a run decided, on the clusters where moldau has the authority."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from moldau.compiled.graph import models_tagged
from moldau.declared import kinds
from moldau.literals import literal
from moldau.runs.ended import call_journal, repeat_while_plugins_end
from moldau.sessions import shutdown
from moldau.sessions.faults import die_at, fault, pids
from moldau.sessions.run import Run

if TYPE_CHECKING:
    from moldau.compiled.graph import Node
    from moldau.sessions.session import Session


def apply(session: Session, run: Run) -> None:
    """Apply the decisions of this run; what a killed run has applied already is not repeated.

    Adds to the run's counts: calls by outcome, cleared epochs,
    removed offsets and groups. Raises ShutdownRequested between two steps of a run that is to stop.
    """
    kind = kinds()[run.kind]
    clusters = applied_clusters(session, run)
    has_work = kind.always_applies or any(run.counts.get(name) for name in kind.acts_on)
    if run.is_dry_run or not has_work or not (clusters or _is_withdrawn(session, run)):
        return
    with carrying_on(session, run, clusters) as carry_on:
        models = session.models("apply", run.kind)
        steps = [[model.name] for model in models]
        if fault() is None and not shutdown.has_borders():  # one invocation of dbt for all of them
            steps = [[model.name for model in models]]
        first, last = clears(models)
        for step in steps:
            shutdown.check()
            if step == [first]:
                die_at("before_clear")
            carry_on(step)
            if any(model.calls_plugins for model in models if step == [model.name]):
                die_at("after_call")
            if step == [last]:
                die_at("after_clear")
    count_applied(session, run)


def applied_clusters(session: Session, run: Run) -> list[str]:
    """Those of the run to which it applies what it decides."""
    return [name for name in run.cluster_ids if applies_to(session, run.kind, name)]


def count_applied(session: Session, run: Run) -> None:
    """Add to the run's counts what it applied."""
    counts = " union all ".join(
        f"select {place} as place, * from ({count})"
        for place, count in enumerate(kinds()[run.kind].counts)
    )
    if counts:
        counted = sorted(session.sql(counts.format(run=literal(run.run_id))))
        run.counts |= {name: count for _, name, count in counted}


def clears(models: Sequence[Node]) -> tuple[str, str]:
    """The first and the last that change state by what was decided, and answered by plugins."""
    calls = [place for place, model in enumerate(models) if model.calls_plugins]
    after = models[calls[-1] + 1 if calls else 0 :]
    clears = [model.name for model in after if model.table.startswith("state.")]
    return (clears[0], clears[-1]) if clears else ("", "")


def _is_withdrawn(session: Session, run: Run) -> bool:
    """The run was killed when moldau was in charge of a cluster of which it no longer is.

    Nothing more is applied there, but what was is recorded.
    """
    return any(
        authority == "moldau" and session.settings.cluster(name).authority != "moldau"
        for name, authority in run.authorities.items()
    )


@contextmanager
def carrying_on(
    session: Session, run: Run, clusters: list[str]
) -> Iterator[Callable[[list[str]], None]]:
    """Gives a function that writes models, whatever plugins do to the process that calls them."""
    if not calls_plugins(run.kind):
        yield lambda models: session.run_models(*models)
        return
    with calling_plugins(session, run, clusters) as carry_on:
        yield carry_on


@contextmanager
def calling_plugins(
    session: Session, run: Run, clusters: list[str]
) -> Iterator[Callable[[list[str]], None]]:
    """The same, for models that call the plugins of these clusters."""
    with plugins_called(session, run, clusters) as journal:
        yield lambda models: repeat_while_plugins_end(
            lambda: session.run_models(*models), journal, clusters
        )


@contextmanager
def plugins_called(session: Session, run: Run, clusters: Sequence[str]) -> Iterator[Path]:
    """In this block models may call the plugins of these clusters; gives the calls' journal."""
    with call_journal(session.warehouse, run.run_id) as journal:
        specs = {name: session.settings.plugin_spec(name) for name in clusters}
        plugins = {name: spec for name, spec in specs.items() if spec}
        dies = pids() if fault() == "in_call" else ()
        with session.engines.at_hand.calling(plugins, journal, dies):
            yield journal


def calls_plugins(kind: str) -> bool:
    """What it applies are plugin calls: only clusters that have a plugin are applied to."""
    return any(model.calls_plugins for model in models_tagged(f"apply_{kind}"))


def applies_to(session: Session, kind: str, cluster_id: str) -> bool:
    """Moldau is in charge of the cluster; of descriptions only where a plugin holds them."""
    if kinds()[kind].applies_everywhere:
        return True
    cluster = session.settings.cluster(cluster_id)
    return cluster.authority == "moldau" and (cluster.has_plugin or not calls_plugins(kind))
