"""The topology description of a group as Kafka would return it: first from the records, then from
the plugin.

Source of the rules: StreamsGroupDescribe of Kafka 4.4 (KIP-1331).
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass, replace
from typing import Any

from moldau.errors import MoldauError
from moldau.plugins.calls import Call, Outcome, get_topology
from moldau.plugins.registry import make_plugin, secrets_of
from moldau.reading.explain.called import GROUPS, groups_called, told_of
from moldau.reading.explain.subjects import one_cluster
from moldau.reading.tables.query import Tables
from moldau.settings import Settings
from moldau.topologies.description import TopologyDescription, from_wire, to_wire

MART = "marts.topology_descriptions"
_CLASSIC = "; a Streams application without `group.protocol=streams` is one, and pushes no topology"


@dataclass(frozen=True)
class Described:
    """`status`: Kafka's AVAILABLE, NOT_STORED or ERROR, or UNKNOWN where only a broker has the
    plugin. `description` is there if it is AVAILABLE; `reason`: why the plugin has none; `call`:
    how it was asked, and what came of it; None = it was not. `has_plugin`: the cluster's settings
    name one; without it Kafka asks none, whatever epoch is noted as stored."""

    cluster_id: str
    group_id: str
    topology_epoch: int
    status: str
    description: TopologyDescription | None = None
    reason: str | None = None
    call: tuple[Call, Outcome] | None = None
    has_plugin: bool = True


def describe_topology(settings: Settings, group_id: str, cluster: str | None) -> Described:
    """MoldauError if no cluster has such a streams group, or several have and none was chosen."""
    tables = Tables(settings.warehouse, [MART, GROUPS])
    rows = tables.rows(MART, "where group_id = ? order by cluster_id", [group_id])
    if not any(cluster in (None, row["cluster_id"]) for row in rows):
        there = "" if cluster is None else f" in cluster {cluster!r}"
        others = groups_called(tables, group_id, cluster)
        hint = _CLASSIC * any(
            row["group_type"] == "classic" and not row["is_deleted"] for row in others
        )
        raise MoldauError(
            f"no live streams group{there} is called {group_id!r}{told_of(others)}{hint}"
        )
    chosen = one_cluster([row["cluster_id"] for row in rows], group_id, cluster)
    row = next(row for row in rows if row["cluster_id"] == chosen)
    told = Described(
        chosen, group_id, row["topology_epoch"], row["status"], has_plugin=row["has_plugin"]
    )
    return told if told.status != "AVAILABLE" else _as_the_plugin_says(settings, told)


def _as_the_plugin_says(settings: Settings, told: Described) -> Described:
    spec = settings.plugin_spec(told.cluster_id)
    if spec is None:
        reason = "the plugin is the broker's, not moldau's"
        return replace(told, status="UNKNOWN", reason=reason)
    call = Call(uuid.uuid4().hex, told.cluster_id, told.group_id, "get", told.topology_epoch)
    outcome, description = get_topology(
        lambda: make_plugin(spec), call, spec.timeout_seconds, _checked,
        secrets=lambda: secrets_of(spec),
    )  # fmt: skip
    told = replace(told, call=(call, outcome))
    if outcome.outcome != "success":
        return replace(told, status="ERROR", reason=outcome.message)
    if description is None:
        return replace(told, status="NOT_STORED", reason="the plugin has none of this epoch")
    return replace(told, description=from_wire(description))


def _checked(answer: Any) -> dict[str, Any] | None:
    """The answer in Kafka's shape: what is no description fails the call."""
    return None if answer is None else to_wire(from_wire(answer))
