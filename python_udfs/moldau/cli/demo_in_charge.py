"""The second half of the demo: moldau has the authority, so it applies what it decides."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from moldau.cli.demo_registry import Registry
from moldau.cli.output import write_rows
from moldau.cli.story import ask, heading, load, show, tell
from moldau.plugins.registry import make_plugin
from moldau.project import SAMPLES

if TYPE_CHECKING:
    from moldau.sessions.session import Session

CLUSTER, LAB = "own", "lab"
UNLUCKY = "c-repeat-off"  # the group whose first delete fails
MINUTE_MS = 60_000
_DESCRIPTION = {
    "subtopologies": [
        {
            "subtopologyId": "0",
            "nodes": [{"name": "KSTREAM-SOURCE-0000000000", "nodeType": 1, "sourceTopics": ["in"]}],
        }
    ]
}


def settings_text(registry: Registry) -> str:
    """The samples' moldau.yml and two more clusters: the same records, but moldau decides."""
    return (SAMPLES / "moldau.yml").read_text() + (
        f"  {CLUSTER}:                # the same groups, with moldau in charge\n"
        "    authority: moldau\n"
        f"    plugin: {{name: webhook, url: {registry.url!r}}}  # ran while the demo did\n"
        "    offsets.retention.minutes: 1\n"
        f"  {LAB}:                # and those of east\n"
        "    authority: moldau\n"
        "    ruleset: {groups: kafka_4_4}\n"
        f"    plugin: {{name: webhook, url: {registry.url!r}}}\n"
    )


def tell_of_being_in_charge(session: Session, registry: Registry, at_ms: int) -> None:
    """Fill the plugin, clean up at `at_ms`; a delete fails, is retried; then sweep."""
    from moldau.runs.decide import decide

    tell(
        "\n--- Now moldau is in charge ---\n"
        f"Cluster `{CLUSTER}`: the records of `west`, but `authority: moldau`, and the topology\n"
        "descriptions lie in an HTTP service (plugin `webhook`). What is decided happens."
    )
    load(session, CLUSTER, "records", "west/__consumer_offsets.jsonl")
    fill(session, CLUSTER)
    heading("What does the registry hold before?", registry.url)
    _show(registry)

    registry.fails_next.add(f"{CLUSTER}/{UNLUCKY}")
    _cycle(session, at_ms)
    _show_calls(session.warehouse)
    tell(f"\n{UNLUCKY}'s delete failed, so its epoch still says that something is stored.")
    _cycle(session, at_ms + MINUTE_MS)
    _show_calls(session.warehouse)
    heading("What does the registry hold now?", registry.url)
    _show(registry)

    tell(f"\n$ moldau sweep --cluster {CLUSTER}")
    decide(session, "sweep", [CLUSTER], at_ms + MINUTE_MS, is_dry_run=False)
    heading("What became of each group?", "history.plugin_calls, history.tombstones")
    show(
        session.warehouse,
        "select g.group_id, g.group_state, max(c.finished_at_ms) filter (c.outcome = 'success') "
        "as description_deleted_at_ms, g.deleted_by, g.deleted_at_ms as group_removed_at_ms "
        "from state.groups as g left join history.plugin_calls as c using (cluster_id, group_id) "
        f"where g.cluster_id = '{CLUSTER}' and g.deleted_by is distinct from 'broker' "
        "group by all order by 5, 1",
    )


def fill(session: Session, cluster: str) -> None:
    """What the members of these groups pushed, as the records say that it is stored."""
    spec = session.settings.plugin_spec(cluster)
    assert spec
    plugin = make_plugin(spec)
    for group_id, epoch in ask(
        session.warehouse,
        "select group_id, stored_description_topology_epoch from state.groups "
        f"where cluster_id = '{cluster}' and stored_description_topology_epoch >= 0",
    ):
        plugin.set_topology(group_id, epoch, _DESCRIPTION)


def _cycle(session: Session, at_ms: int) -> None:
    from moldau.runs.decide import decide

    tell(f"\n$ moldau cycle --cluster {CLUSTER}")
    run = decide(session, "cycle", [CLUSTER], at_ms, is_dry_run=False)
    told: dict[str, Any] = {k: n for k, n in run.counts.items() if k != "decided"}
    tell("  " + ", ".join(f"{name} {count}" for name, count in told.items()))


def _show_calls(warehouse: Path) -> None:
    heading("Which calls were made?", "marts.plugin_calls")
    show(
        warehouse,
        "select run_id, group_id, operation, outcome, message, duration_ms "
        f"from marts.plugin_calls where cluster_id = '{CLUSTER}' order by run_id, group_id",
    )


def _show(registry: Registry) -> None:
    write_rows(
        ("group_id", "topology_epoch", "subtopologies"), registry.rows(), "table", shape="glance"
    )
