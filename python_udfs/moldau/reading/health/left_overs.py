"""What a plugin holds although no live group needs it: Kafka leaves it to the operator.

A plugin that is removed, swapped or lost track of (spec of KIP-1331, 7.5 and 11.3) keeps entries
that nothing deletes any more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from moldau.connecting import connect
from moldau.plugins.calls import list_topologies
from moldau.plugins.registry import make_plugin, secrets_of
from moldau.reading.tables.query import Tables
from moldau.settings import Settings

# an uncertain epoch (-2) is none: the plugin may hold what a member is about to be asked for
_LEFT_OVER = """
    select * exclude (is_vouched_for)
    from (
        select
            held.group_id,
            held.topology_epoch,
            g.stored_description_topology_epoch,
            case
                when g.group_id is null then 'GROUP_GONE'
                when g.stored_description_topology_epoch = -1 then 'NOTHING_STORED'
                else 'EPOCH_DIFFERS'
            end as reason_code,
            coalesce(
                g.stored_description_topology_epoch in (-2, held.topology_epoch)
                and g.stored_description_topology_epoch <> -1,
                false
            ) as is_vouched_for,
            bool_or(is_vouched_for) over (partition by held.group_id) as is_kept
        from held
        left join live_groups as g using (group_id)
    )
    where not is_vouched_for
    order by 1, 2
"""


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
    import pyarrow as pa

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
    names = ("group_id", "stored_description_topology_epoch")
    with connect() as connection:
        connection.register("held", _table(("group_id", "topology_epoch"), held, pa))
        rows = [tuple(row[name] for name in names) for row in live]
        connection.register("live_groups", _table(names, rows, pa))
        found = connection.execute(_LEFT_OVER).fetchall()
    return [LeftOver(cluster_id, *row) for row in found]


def _table(names: tuple[str, str], rows: list[Any], pa: Any) -> Any:
    texts, numbers = ([row[place] for row in rows] for place in (0, 1))
    return pa.table([pa.array(texts, pa.string()), pa.array(numbers, pa.int32())], list(names))
