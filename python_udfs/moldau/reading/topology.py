"""The topology description of a group as Kafka would answer it: what the records say, then what the
plugin has.

Source of the rules: StreamsGroupDescribe of Kafka 4.4 (KIP-1331).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from moldau.errors import MoldauError
from moldau.plugins.calls import get_topology
from moldau.plugins.outcomes import SUCCESS
from moldau.plugins.registry import make_plugin
from moldau.reading.query import Tables
from moldau.reading.subjects import one_cluster
from moldau.settings import Settings
from moldau.topologies.description import InvalidTopology, TopologyDescription, from_wire

MART = "marts.topology_descriptions"


@dataclass(frozen=True)
class Described:
    """`status`: Kafka's AVAILABLE, NOT_STORED or ERROR, or UNKNOWN where only a broker has the
    plugin. `description` is there if it is AVAILABLE; `reason`: why the plugin has none."""

    cluster_id: str
    group_id: str
    topology_epoch: int
    status: str
    description: TopologyDescription | None = None
    reason: str | None = None


def describe_topology(settings: Settings, group_id: str, cluster: str | None) -> Described:
    """MoldauError if no cluster has such a streams group, or several have and none was chosen."""
    tables = Tables(settings.warehouse, [MART])
    rows = tables.rows(MART, "where group_id = ? order by cluster_id", [group_id])
    if not rows:
        raise MoldauError(f"no live streams group is called {group_id!r}")
    chosen = one_cluster([row["cluster_id"] for row in rows], group_id, cluster)
    row = next(row for row in rows if row["cluster_id"] == chosen)
    told = Described(chosen, group_id, row["topology_epoch"], row["status"])
    return told if told.status != "AVAILABLE" else _as_the_plugin_says(settings, told)


def _as_the_plugin_says(settings: Settings, told: Described) -> Described:
    spec = settings.plugin_spec(told.cluster_id)
    if spec is None:
        return _with(told, "UNKNOWN", reason="the plugin is the broker's, not moldau's")
    verdict, answer = get_topology(
        lambda: make_plugin(spec), told.group_id, told.topology_epoch, spec.timeout_seconds
    )
    if verdict != SUCCESS:
        return _with(told, "ERROR", reason=verdict.message)
    if answer is None:
        return _with(told, "NOT_STORED", reason="the plugin has none of this epoch")
    try:
        return _with(told, "AVAILABLE", from_wire(answer))
    except InvalidTopology as error:
        return _with(told, "ERROR", reason=str(error))


def _with(told: Described, status: str, description: Any = None, reason: Any = None) -> Described:
    place = (told.cluster_id, told.group_id, told.topology_epoch)
    return Described(*place, status, description, reason)
