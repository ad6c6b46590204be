"""Carry out what a run decided, on the clusters that moldau is in charge of."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from moldau.engine.literals import literal
from moldau.plugins.registry import PluginSpec
from moldau.plugins.udtf import register_call_plugin
from moldau.runs import shutdown
from moldau.runs.ended import call_journal, repeat_while_plugins_end
from moldau.runs.faults import die_at, fault, pids
from moldau.runs.run import Run

if TYPE_CHECKING:
    from moldau.runs.session import Session

# kind of run -> what is applied, and the points at which a run may be made to die after it
APPLIES: dict[str, list[tuple[list[str], list[str]]]] = {
    "cycle": [
        (["mark_descriptions_uncertain"], []),
        (["record_plugin_calls"], ["after_call", "before_clear"]),
        (["clear_topology_epochs"], ["after_clear"]),
        (["record_epoch_clears"], []),
    ],
    "sweep": [
        ([], ["before_clear"]),
        (["tombstone_group_offsets", "tombstone_groups"], ["after_clear"]),
        (["record_tombstones"], []),
    ],
    "tiers": [],  # decisions are predictions: no broker is told of them
}
# decisions without which there is nothing to apply
ACTS_ON: dict[str, tuple[str, ...]] = {
    "cycle": ("eligible",),
    "sweep": ("offsets_expire", "tombstone"),
    "tiers": (),
}
_COUNTS = {
    "cycle": [
        "select concat('deletes_', outcome) as name, count(*) as n from history.plugin_calls "
        "where run_id = {run} group by outcome",
        "select outcome, count(*) from history.epoch_clears "
        "where run_id = {run} and step <> 'barrier' group by outcome",
    ],
    "sweep": [
        "select if(topic_name is null, 'groups_removed', 'offsets_removed') as name, "
        "count(*) as n from history.tombstones where run_id = {run} group by name",
    ],
}


def apply(session: Session, run: Run) -> None:
    """Apply the decisions of this run; what a killed run has applied already is not repeated.

    Adds to the run's counts: calls by outcome, cleared epochs,
    removed offsets and groups. Raises ShutdownRequested between two steps of a run that is to stop.
    """
    clusters = [name for name in run.cluster_ids if applies_to(session, run.kind, name)]
    has_work = any(run.counts.get(name) for name in ACTS_ON[run.kind])
    if run.is_dry_run or not has_work or not (clusters or _is_withdrawn(session, run)):
        return
    with carrying_on(session, run, clusters) as carry_on:
        steps = APPLIES[run.kind]
        if fault() is None and not shutdown.has_borders():  # one invocation of dbt for all of them
            steps = [([model for models, _ in steps for model in models], [])]
        for models, points in steps:
            shutdown.check()
            if models:
                carry_on(models)
            for point in points:
                die_at(point)
    counts = " union all ".join(_COUNTS[run.kind]).format(run=literal(run.run_id))
    run.counts |= {name: count for name, count in session.sql(counts)}


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
    if run.kind != "cycle":
        yield lambda models: session.run_models(*models)
        return
    with call_journal(session.warehouse, run.run_id) as journal:
        plugins = {name: plugin_spec(session, name) for name in clusters}
        dies = pids() if fault() == "in_call" else ()
        register_call_plugin(session.spark, plugins, journal, dies)
        yield lambda models: repeat_while_plugins_end(
            lambda: session.run_models(*models), journal, clusters
        )


def applies_to(session: Session, kind: str, cluster_id: str) -> bool:
    """Moldau is in charge of the cluster; of descriptions only where a plugin holds them."""
    cluster = session.settings.cluster(cluster_id)
    return cluster.authority == "moldau" and (kind != "cycle" or cluster.has_plugin)


def plugin_spec(session: Session, cluster_id: str) -> PluginSpec:
    """The plugin of a cluster that has one."""
    plugin, config = session.settings.cluster(cluster_id).plugin, session.settings.config
    assert plugin is not None
    return PluginSpec(
        name=plugin.name,
        options=plugin.options,
        cluster_id=cluster_id,
        warehouse=str(session.warehouse),
        folder=str((config.parent if config else Path.cwd()).resolve()),
        timeout_seconds=plugin.timeout_seconds,
    )
