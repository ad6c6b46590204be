"""A partition of four local segments, about which one run after the other decides."""

from __future__ import annotations

from typing import Any

from kafka_metadata import COPY_FINISHED, COPY_STARTED, Event, Segment
from kafka_reference import Config, Partition, from_bases
from tier_support import tiered

NOW_MS = 1_000_000
RETENTION_MS = 1_000
BASES = [0, 100, 200, 300]


def copied(name: str, start: int, at_ms: int = NOW_MS) -> list[Event]:
    segment = Segment(name, start, start + 99, {0: start}, max_timestamp_ms=at_ms)
    return [Event(name, COPY_STARTED, copy=segment), Event(name, COPY_FINISHED)]


def partition(**more: Any) -> Partition:
    """Closed segments of a hundred offsets from 0 to 300, the active one from 300."""
    ends = {"last_stable": 310, "high_watermark": 310, "log_end": 310}
    config = {"config": Config(retention_ms=RETENTION_MS)}
    return Partition(local=from_bases(BASES), **ends | config | more)


OPEN = tiered("open", partition(), ())
