"""Mirrored partitions whose offset syncs have stopped though their source moves."""

from __future__ import annotations

from collections.abc import Sequence

from moldau.escapes import visible
from moldau.reading.tables.table_status import Row

MART = "marts.mirror_sync_age"
STOPPED = "where finding is not null order by flow, topic_name, partition_index"
_LISTED = 10


def stopped_words(rows: Sequence[Row]) -> list[str]:
    """A sentence for each of these rows of MART that have a finding, and one for those past ten."""
    words = [
        f"{visible(row['topic_name'])}-{row['partition_index']} of {visible(row['flow'])}: no "
        f"offset sync since {_at(row['synced_at'])}, and the source was {row['upstream_distance']} "
        f"offsets further at {_at(row['source_end_taken_at'])} (offset.lag.max is "
        f"{row['offset_lag_max']}): MirrorMaker stands still or lags, or its offset-syncs topic "
        "was not loaded that far"
        for row in rows[:_LISTED]
    ]
    more = len(rows) - _LISTED
    return words + ([f"{more} more partitions: see {MART}"] if more > 0 else [])


def _at(instant: object) -> str:
    return "unknown" if instant is None else f"{instant:%Y-%m-%dT%H:%M:%SZ}"
