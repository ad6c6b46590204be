"""What a plugin holds although no live group needs it: Kafka leaves it to the operator.

A plugin that is removed, swapped or lost track of (spec of KIP-1331, 7.5 and 11.3) keeps entries
that nothing deletes any more.
"""

from __future__ import annotations

from dataclasses import dataclass

from moldau.plugins.calls import list_topologies
from moldau.plugins.registry import make_plugin, secrets_of
from moldau.reading.tables.query import Tables
from moldau.settings import Settings

_REASONS = {None: "GROUP_GONE", -1: "NOTHING_STORED"}  # by the stored epoch


@dataclass(frozen=True)
class LeftOver:
    """`stored_epoch`: what the group's records or moldau say; None = there is no such group.

    `is_kept`: the plugin holds another entry of the group, which is no left-over; a plugin deletes
    by group alone.
    """

    cluster_id: str
    group_id: str
    topology_epoch: int
    stored_epoch: int | None
    reason_code: str
    is_kept: bool


def left_overs(settings: Settings, cluster_id: str) -> list[LeftOver]:
    """Of a cluster with a plugin of moldau's; MoldauError if the plugin cannot tell."""
    spec = settings.plugin_spec(cluster_id)
    assert spec
    held = list_topologies(
        lambda: make_plugin(spec), spec.timeout_seconds, secrets=lambda: secrets_of(spec)
    )
    live = Tables(settings.warehouse, ["state.groups"]).rows(
        "state.groups",
        "where cluster_id = ? and group_type = 'streams' and not is_deleted",
        [cluster_id],
    )
    stored = {row["group_id"]: row["stored_description_topology_epoch"] for row in live}
    # an uncertain epoch (-2) is none: the plugin may hold what a member is about to be asked for
    vouched_for = {
        (group_id, epoch)
        for group_id, epoch in held
        if stored.get(group_id) in (-2, epoch) and stored[group_id] != -1
    }
    kept = {group_id for group_id, _ in vouched_for}
    return [
        LeftOver(
            cluster_id,
            group_id,
            epoch,
            stored.get(group_id),
            _REASONS.get(stored.get(group_id), "EPOCH_DIFFERS"),
            group_id in kept,
        )
        for group_id, epoch in sorted(held)
        if (group_id, epoch) not in vouched_for
    ]
