"""Which remote segments the leader deletes, in what order, and the lag that they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from kafka_metadata import COPY_FINISHED, DELETE_FINISHED, DELETE_STARTED, Metadata, Segment
from kafka_reference import (
    Decision,
    Partition,
    RuleSet,
    filtered,
    is_within,
    only_local_bytes,
)


@dataclass
class Deletes:
    """Decisions by segment id, for live segments, and the sums; `walked`: ids in their order."""

    decisions: dict[str, Decision] = field(default_factory=dict)
    walked: list[str] = field(default_factory=list)
    lag: int = 0
    lag_sum: int = 0
    lag_issued: int = 0
    size: int = 0
    segments: int = 0
    log_start: int = 0  # as it is before the first delete
    over_deleted: set[str] = field(default_factory=set)
    over_deleted_bytes: int = 0

    def chosen(self) -> set[str]:
        return {name for name, one in self.decisions.items() if one.decision == "delete"}

    def columns(self) -> dict[str, int | None]:
        """The sums under their names in marts.tier_lag."""
        return {
            "delete_tier_lag": self.lag,
            "delete_tier_lag_sum": self.lag_sum,
            "delete_tier_lag_issued": self.lag_issued,
            "delete_lag_bytes": self.size,
            "delete_lag_segments": self.segments,
            "over_deleted_bytes": self.over_deleted_bytes,
        }


Listing = Callable[[int], Sequence[Segment]]


@dataclass
class Walk:
    """One pass over the listings of the leader's epochs, with what is left of the size breach."""

    partition: Partition
    rules: RuleSet
    cut_ms: int | None
    remaining: int
    counted: set[str]  # the remote segments that are part of the total size
    credits_log_start: bool = False
    reasons: dict[str, str] = field(default_factory=dict)
    chosen: list[Segment] = field(default_factory=list)
    is_stopped: bool = False
    log_start: int = -1

    def over(self, listing: Listing) -> Walk:
        for epoch in sorted(filtered(self.partition.lineage)):
            for segment in listing(epoch):
                self._see(segment)
        return self

    def _see(self, segment: Segment) -> None:
        name = segment.segment_id
        if self.is_stopped:
            self.reasons.setdefault(name, "WALK_STOPPED")
        elif self.partition.is_in_flight(segment):
            self.reasons[name] = "COPY_IN_FLIGHT"
            self.is_stopped = True
        elif segment.state == DELETE_FINISHED or segment in self.chosen:
            return
        elif segment.state == DELETE_STARTED:
            self._choose(segment, "DELETE_STARTED")
        elif self._is_below_log_start(segment):
            self._choose(segment, "LOG_START")
            if self.credits_log_start and name in self.counted:
                self.remaining = max(0, self.remaining - segment.size)
        elif not is_within(segment, filtered(self.partition.lineage), self.partition.log_end):
            self.reasons[name] = "OUTSIDE_LINEAGE"
        elif self._is_expired(segment):
            self.remaining = max(0, self.remaining - segment.size)
            self._choose(segment, "RETENTION_TIME")
            self.log_start = max(self.log_start, segment.end + 1)
        elif self.remaining > 0 and self.remaining - segment.size >= 0:
            self.remaining -= segment.size
            self._choose(segment, "RETENTION_SIZE")
            self.log_start = max(self.log_start, segment.end + 1)
        else:
            self.reasons[name] = "NOT_BREACHED"
            self.is_stopped = True

    def _choose(self, segment: Segment, reason: str) -> None:
        self.reasons[segment.segment_id] = reason
        self.chosen.append(segment)

    def _is_below_log_start(self, segment: Segment) -> bool:
        first = min(filtered(self.partition.lineage))
        return max(segment.epochs) <= first and segment.end < self.partition.log_start

    def _is_expired(self, segment: Segment) -> bool:
        if self.cut_ms is None:
            return False
        if self.rules.breaches_at_boundary:
            return segment.max_timestamp_ms <= self.cut_ms
        return segment.max_timestamp_ms < self.cut_ms

    def by_size(self) -> set[str]:
        return {name for name, reason in self.reasons.items() if reason == "RETENTION_SIZE"}


def deletes(
    partition: Partition, now_ms: int, rules: RuleSet, listing: Listing | None = None
) -> Deletes:
    """`listing`: the segments of an epoch in another order than Kafka's own metadata gives."""
    metadata, config = partition.metadata, partition.config
    listing = listing or metadata.listing
    counted = _counted(partition, listing)
    total = only_local_bytes(partition) + sum(metadata.segments[name].size for name in counted)
    breach = max(0, total - config.retention_bytes) if config.retention_bytes >= 0 else 0
    cut_ms = now_ms - config.retention_ms if config.retention_ms >= 0 else None
    if cut_ms is not None and cut_ms < 0:
        cut_ms = None
    walk = Walk(partition, rules, cut_ms, breach, counted).over(listing)
    fair = Walk(partition, rules, cut_ms, breach, counted, credits_log_start=True).over(listing)

    found = Deletes(walked=[segment.segment_id for segment in walk.chosen])
    found.log_start = max(partition.log_start, walk.log_start)
    found.over_deleted = walk.by_size() - {one.segment_id for one in fair.chosen}
    unreferenced = _unreferenced(partition)
    for segment in metadata.live():
        name, reason = segment.segment_id, walk.reasons.get(segment.segment_id, "OUTSIDE_LINEAGE")
        if segment.state == DELETE_STARTED:
            reason = "DELETE_STARTED"
        elif name in unreferenced:
            reason = "UNREFERENCED"
        is_chosen = name in found.walked or reason in ("DELETE_STARTED", "UNREFERENCED")
        found.decisions[name] = Decision("delete" if is_chosen else "keep", reason)
    for position, segment in enumerate(walk.chosen):
        rest = walk.chosen[position:]
        found.decisions[segment.segment_id] = Decision(
            "delete", walk.reasons[segment.segment_id], difference(rest), difference(rest[1:])
        )
    _add_up_deletes(metadata, found, walk.chosen)
    return found


def difference(chosen: Sequence[Segment]) -> int:
    """From the first chosen segment to the end of the furthest one."""
    return max(one.end + 1 for one in chosen) - chosen[0].start if chosen else 0


def _counted(partition: Partition, listing: Listing) -> set[str]:
    lineage = filtered(partition.lineage)
    return {
        segment.segment_id
        for epoch in lineage
        for segment in listing(epoch)
        if segment.state == COPY_FINISHED and is_within(segment, lineage, partition.log_end)
    }


def _unreferenced(partition: Partition) -> set[str]:
    """Listed in an epoch below the leader's first one, and all of whose epochs are below it."""
    if not partition.lineage:
        return set()
    first = min(partition.lineage)
    return {
        segment.segment_id
        for epoch in partition.metadata.epochs
        if epoch < first
        for segment in partition.metadata.listing(epoch)
        if max(segment.epochs) < first
    }


def _add_up_deletes(metadata: Metadata, found: Deletes, walked: Sequence[Segment]) -> None:
    chosen = [metadata.segments[name] for name in found.chosen()]
    found.lag = difference(walked)
    found.lag_sum = sum(one.span for one in chosen)
    found.lag_issued = sum(one.span for one in chosen if one.state != DELETE_STARTED)
    found.size = sum(one.size for one in chosen)
    found.segments = len(chosen)
    found.over_deleted_bytes = sum(metadata.segments[name].size for name in found.over_deleted)
