"""Records counted by topic and decode status, those that were not understood by themselves."""

from __future__ import annotations

from collections import defaultdict

import pyarrow as pa
import pyarrow.compute as pc

UNDERSTOOD = ("ok", "tombstone")


class Tally:
    """`records`: topic -> decode status -> records; `statuses` are those that were not understood,
    `empty` of these, by topic, the values without a byte."""

    def __init__(self) -> None:
        self.records: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        self.statuses: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        self.empty: dict[str, int] = defaultdict(int)

    def add(self, topics: pa.Array, statuses: pa.Array, values: pa.Array) -> None:
        """Count records by their topics and outcomes; `values` as Kafka has them."""
        # Delta's rows come as views, which Arrow does not group
        rows = {
            "topic": topics.cast(pa.string()),
            "status": statuses,
            "empty": pc.equal(pc.binary_length(values.cast(pa.binary())), 0),
        }
        counted = pa.table(rows).group_by(["topic", "status"])
        for row in counted.aggregate([("status", "count"), ("empty", "sum")]).to_pylist():
            self.count(row["topic"], row["status"], row["status_count"], row["empty_sum"] or 0)

    def count(self, topic: str, status: str, records: int = 1, empty: int = 0) -> None:
        """Count these records, and how many of them have an empty value, which no record may."""
        self.records[topic][status] += records
        if status not in UNDERSTOOD:
            self.statuses[topic][status] += records
            self.empty[topic] += empty
