"""Events of remote segments, by name and instant, as a load would have decoded them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from decoded_support import columns_of
from gauge_support import id_of

from moldau.records.families import REMOTE_LOG_METADATA

AT_MS = 1_000_000
LONG_AGO_MS = 500_000
STATES = (
    "COPY_SEGMENT_STARTED",
    "COPY_SEGMENT_FINISHED",
    "DELETE_SEGMENT_STARTED",
    "DELETE_SEGMENT_FINISHED",
)
EVENTS = pa.schema(
    [
        ("log_topic_name", pa.string()),
        ("log_partition_index", pa.int32()),
        ("log_offset", pa.int64()),
        ("recorded_at_ms", pa.int64()),
        *columns_of(REMOTE_LOG_METADATA),
    ]
)


@dataclass(frozen=True)
class Segment:
    """A remote segment; `epochs` with the first offset of each in it."""

    name: str
    start: int
    end: int
    size: int = 100
    epochs: tuple[tuple[int, int], ...] = ()
    max_timestamp_ms: int = 0


Event = tuple[Segment, int, int]  # which, its state, when


def copied(*segments: Segment, at_ms: int = 100_000) -> list[Event]:
    """Copied long ago, one after the other in one run."""
    return [
        (segment, state, at_ms + 2 * number + state)
        for number, segment in enumerate(segments)
        for state in (0, 1)
    ]


def deleted(*segments: Segment, at_ms: int) -> list[Event]:
    return [
        (segment, state, at_ms + 2 * number + state - 2)
        for number, segment in enumerate(segments)
        for state in (2, 3)
    ]


def table_of(cluster: str, partitions: dict[int, Sequence[Event]]) -> pa.Table:
    found: list[dict[str, Any]] = []
    seen: set[str] = set()
    flat = [(number, *event) for number, events in partitions.items() for event in events]
    for offset, (number, segment, state, at_ms) in enumerate(sorted(flat, key=lambda e: e[3])):
        segment_id = id_of(f"{cluster}-{number}-{segment.name}")
        row: dict[str, Any] = {
            "log_topic_name": "__remote_log_metadata",
            "log_partition_index": 0,
            "log_offset": offset,
            "recorded_at_ms": at_ms,
            "record_type": int(segment_id in seen),
            "decode_status": "ok",
            "is_tombstone": False,
            "topic_name": "orders",
            "topic_id": id_of(f"{cluster}-orders"),
            "partition_index": number,
            "segment_id": segment_id,
            "broker_id": 1,
            "event_at_ms": at_ms,
            "segment_state": STATES[state],
        }
        if segment_id not in seen:
            epochs = segment.epochs or ((0, segment.start),)
            row |= {
                "start_offset": segment.start,
                "end_offset": segment.end,
                "size_bytes": segment.size,
                "max_timestamp_ms": segment.max_timestamp_ms,
                "leader_epochs": [{"leader_epoch": e, "start_offset": o} for e, o in epochs],
            }
        seen.add(segment_id)
        found.append(row)
    return pa.Table.from_pylist(found, EVENTS)
