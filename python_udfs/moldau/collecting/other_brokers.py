"""A snapshot replaces the one before as a whole: what other brokers' hosts told is told again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from moldau.collecting.log_dirs import OnDisk
from moldau.literals import literal
from moldau.reading.tables.query import query
from moldau.warehouse.paths import SCHEMA

_SEGMENTS = """
select topic_id, topic_name as topic, partition_index as partition, broker_id, segments
from state.local_segments where cluster_id = {cluster} and broker_id <> {broker}
"""
# an epoch checkpoint that was stored stays where another broker is known to lead the partition
_EPOCHS = """
select topic_id, topic_name as topic, partition_index as partition, epochs,
    exists (
        select 1 from state.partition_states as states
        where states.cluster_id = epochs.cluster_id and states.topic_id = epochs.topic_id
            and states.partition_index = epochs.partition_index
            and states.is_leader and states.broker_id <> {broker}
    ) as is_led_elsewhere
from state.leader_epochs as epochs where cluster_id = {cluster}
"""


def with_other_brokers(warehouse: Path, cluster: str, found: OnDisk) -> None:
    """Add to the rows of one broker those that others' loads brought."""
    if not (warehouse / SCHEMA).exists():
        return
    words = {"cluster": literal(cluster), "broker": found.broker_id}
    found.rows["local_segments"] += query(warehouse, _SEGMENTS.format(**words)).as_dicts()
    own = {_key(row): row for row in found.rows["leader_epochs"]}
    for stored in query(warehouse, _EPOCHS.format(**words)).as_dicts():
        if stored.pop("is_led_elsewhere") or _key(stored) not in own:
            told = [
                {"epoch": each["leader_epoch"], "start_offset": each["start_offset"]}
                for each in stored["epochs"]
            ]
            own[_key(stored)] = {**stored, "epochs": told}
    found.rows["leader_epochs"] = list(own.values())


def _key(row: dict[str, Any]) -> tuple[str, int]:
    return row["topic_id"], row["partition"]
