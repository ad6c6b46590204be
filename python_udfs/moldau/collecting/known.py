"""What the warehouse knows of a cluster before it is asked again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from moldau.literals import literal
from moldau.reading.tables.query import query
from moldau.runs.same_cluster import offsets_id
from moldau.warehouse.paths import SCHEMA

_PARTITIONS = """
select distinct topic_name, partition_index from state.group_offsets
where cluster_id = {cluster} and not is_deleted
"""
_CONFIGS = """
select topic_id, max_by(configs, valid_from_ms) from state.topic_configs
where cluster_id = {cluster} group by topic_id
"""
_TRANSACTIONS = "select 1 from state.open_transactions where cluster_id = {cluster} limit 1"


@dataclass(frozen=True)
class Known:
    """`partitions` that groups have committed offsets of, by topic; `configs` by topic id.

    `offsets_id`: of its __consumer_offsets, by which a cluster is known; null = not known."""

    partitions: Mapping[str, frozenset[int]] = field(default_factory=dict)
    configs: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    has_open_transactions: bool = False
    cluster_id: str = ""
    offsets_id: str | None = None


def known_of(warehouse: Path, cluster: str) -> Known:
    """Nothing where there is no warehouse yet."""
    if not (warehouse / SCHEMA).exists():
        return Known()
    words = {"cluster": literal(cluster)}
    partitions: dict[str, set[int]] = {}
    for topic, index in query(warehouse, _PARTITIONS.format(**words)).rows:
        if index >= 0:
            partitions.setdefault(topic, set()).add(index)
    configs = query(warehouse, _CONFIGS.format(**words)).rows
    return Known(
        {topic: frozenset(indexes) for topic, indexes in partitions.items()},
        {topic_id: dict(told) for topic_id, told in configs},
        any(query(warehouse, _TRANSACTIONS.format(**words)).rows),
        cluster,
        offsets_id(warehouse, cluster),
    )
