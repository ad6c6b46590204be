"""What each live cluster's partitions held when they were last looked at, beside the tables.

A poll that brings nothing writes no table: what it saw, and when, stands here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from moldau.literals import rows_sql
from moldau.warehouse.contracts import run_views
from moldau.warehouse.notes import EXACTLY, NotUnderstood, read_note, write_note
from moldau.warehouse.paths import POLLS

POLLED = "run.polled_partitions"


@dataclass(frozen=True)
class Polled:
    """One partition; `next_offset`: the first one that is not read."""

    __pydantic_config__ = EXACTLY

    topic_name: str
    partition_index: int
    next_offset: int
    log_start_offset: int
    last_stable_offset: int
    high_watermark: int


@dataclass(frozen=True)
class Poll:
    __pydantic_config__ = EXACTLY

    cluster_id: str
    polled_at_ms: int
    partitions: list[Polled]


def note_poll(
    warehouse: Path, cluster_id: str, polled_at_ms: int, partitions: Iterable[Polled]
) -> None:
    """In place of what was noted of the cluster before."""
    place = warehouse / POLLS / f"{quote(cluster_id, safe='')}.json"
    place.parent.mkdir(exist_ok=True)
    write_note(place, Poll(cluster_id, polled_at_ms, list(partitions)))


def polls_sql(warehouse: Path) -> str:
    """A query, for either engine, that gives a row per partition that was looked at."""
    rows = [
        {"cluster_id": poll.cluster_id, "polled_at_ms": poll.polled_at_ms, **vars(polled)}
        for poll in _polls(warehouse)
        for polled in poll.partitions
    ]
    return rows_sql(run_views()[POLLED.partition(".")[2]], rows)


def _polls(warehouse: Path) -> Iterable[Poll]:
    """Those that can be read: the tables know how far each partition is read without them."""
    for place in sorted((warehouse / POLLS).glob("*.json")):
        try:
            yield read_note(place, Poll)
        except (NotUnderstood, OSError):
            continue
