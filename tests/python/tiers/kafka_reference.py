"""One partition as the broker that leads it sees it, and what its rules are told by.

With kafka_uploads and kafka_deletes an independent reference of Kafka's RemoteLogManager: written
from the specification, rule by rule and as loops, so that moldau's SQL can be held against it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from kafka_metadata import COPY_STARTED, Metadata, Segment

Lineage = Mapping[int, int]  # leader epoch -> start offset


@dataclass(frozen=True)
class RuleSet:
    name: str
    breaches_at_boundary: bool  # time breach: maxTs <= cut, else <
    delays_upload: bool  # KIP-1241


KIP_963_DRAFT = RuleSet("kip_963_draft", breaches_at_boundary=True, delays_upload=False)
KAFKA_4_4 = RuleSet("kafka_4_4", breaches_at_boundary=False, delays_upload=True)
RULE_SETS = (KIP_963_DRAFT, KAFKA_4_4)


@dataclass(frozen=True)
class Config:
    """A topic's settings; -1 is unlimited, local -2 takes the total one, lag -1 the local one."""

    is_tiered: bool = True
    is_copy_disabled: bool = False
    retention_ms: int = -1
    retention_bytes: int = -1
    local_retention_ms: int = -2
    local_retention_bytes: int = -2
    copy_lag_ms: int = 0
    copy_lag_bytes: int = -1

    def local_ms(self) -> int:
        return self.retention_ms if self.local_retention_ms == -2 else self.local_retention_ms

    def local_bytes(self) -> int:
        is_total = self.local_retention_bytes == -2
        return self.retention_bytes if is_total else self.local_retention_bytes

    def lag_ms(self) -> int:
        return self.local_ms() if self.copy_lag_ms == -1 else self.copy_lag_ms

    def lag_bytes(self) -> int:
        return self.local_bytes() if self.copy_lag_bytes == -1 else self.copy_lag_bytes


@dataclass(frozen=True)
class LocalSegment:
    base: int
    size: int = 100
    max_timestamp_ms: int = 0
    record_count: int | None = None


@dataclass
class Partition:
    """As its leader sees it; the last local segment is the active one, `lineage` unfiltered."""

    metadata: Metadata = field(default_factory=Metadata)
    config: Config = field(default_factory=Config)
    lineage: Lineage = field(default_factory=lambda: {0: 0})
    local: Sequence[LocalSegment] = ()
    broker_id: int = 1
    log_start: int = 0
    local_log_start: int = 0
    last_stable: int = 0
    high_watermark: int = 0
    log_end: int = 0

    def next_base(self, position: int) -> int:
        """One above the last offset of a local segment."""
        later = self.local[position + 1 :]
        return later[0].base if later else self.log_end

    def is_in_flight(self, segment: Segment) -> bool:
        return segment.state == COPY_STARTED and segment.started_broker_id == self.broker_id


def filtered(lineage: Lineage) -> dict[int, int]:
    """The epochs that have records: those that do not start where the next one does."""
    epochs = sorted(lineage.items())
    return {
        epoch: start
        for position, (epoch, start) in enumerate(epochs)
        if position + 1 == len(epochs) or epochs[position + 1][1] != start
    }


def is_within(segment: Segment, lineage: Lineage, log_end: int) -> bool:
    """The segment holds what the leader's log held there. `lineage` is filtered."""
    epochs = filtered(segment.epochs)
    last = max(epochs)
    if not lineage or not min(lineage) <= last <= max(lineage):
        return False
    shared = sorted(epoch for epoch in epochs if epoch >= min(lineage))
    first = shared[0]
    # between its first and its last epoch the segment has exactly the leader's
    if [epoch for epoch in sorted(lineage) if first <= epoch <= last] != shared:
        return False
    if first != min(lineage) and epochs[first] < lineage[first]:
        return False
    if any(epochs[epoch] != lineage[epoch] for epoch in shared[1:]):
        return False
    later = [start for epoch, start in lineage.items() if epoch > last]
    return segment.end < log_end and (not later or segment.end <= min(later) - 1)


def copied_offset(partition: Partition) -> tuple[int, int]:
    """The highest offset of the leader's log that is in remote storage, and its epoch; or -1s."""
    lineage = partition.lineage
    for epoch in sorted(lineage, reverse=True):
        highest = partition.metadata.highest(epoch)
        if highest is not None:
            later = [start for other, start in lineage.items() if other > epoch]
            end = min(later, default=partition.log_end)
            return min(highest, end - 1), epoch
    return -1, -1


def log_start_on_becoming_leader(partition: Partition) -> int:
    for epoch in sorted(partition.lineage):
        listing = partition.metadata.listing(epoch)
        if listing:
            return listing[0].start
    return partition.local_log_start


def only_local_bytes(partition: Partition) -> int:
    copied, _ = copied_offset(partition)
    return sum(one.size for one in partition.local if one.base > copied)


@dataclass(frozen=True)
class Decision:
    """`before` and `after`: the lag by difference before and after the act; None: no act."""

    decision: str
    reason: str
    before: int | None = None
    after: int | None = None


def locally_deleted(partition: Partition, now_ms: int) -> list[int]:
    """Base offsets of the local segments that local retention removes, oldest first."""
    config, local = partition.config, list(partition.local)
    copied, _ = copied_offset(partition)
    is_copied = config.is_tiered and not config.is_copy_disabled
    max_age_ms = config.local_ms() if is_copied else config.retention_ms
    max_size = config.local_bytes() if is_copied else config.retention_bytes
    log_start = partition.local_log_start if config.is_tiered else partition.log_start
    deleted: list[int] = []

    def upper(position: int) -> int:
        return local[position + 1].base if position + 1 < len(local) else partition.log_end

    def delete_while(breaches: Callable[[LocalSegment, int], bool]) -> None:
        while local:
            segment, bound = local[0], upper(0)
            is_empty_and_last = len(local) == 1 and segment.size == 0
            is_safe = not is_copied or bound - 1 <= copied or partition.log_start >= bound
            if is_empty_and_last or partition.high_watermark < bound or not is_safe:
                return
            if not breaches(segment, bound):
                return
            deleted.append(local.pop(0).base)

    def breaches_size(segment: LocalSegment, bound: int) -> bool:
        return sum(one.size for one in local) - max_size - segment.size >= 0

    delete_while(lambda segment, bound: len(local) > 1 and bound <= log_start)
    if max_size >= 0:
        delete_while(breaches_size)
    if max_age_ms >= 0:
        delete_while(lambda segment, bound: now_ms - segment.max_timestamp_ms > max_age_ms)
    return deleted


def from_bases(
    bases: Iterable[int], size: int = 100, active: int | None = None
) -> tuple[LocalSegment, ...]:
    """Local segments at these bases; the last, active one may have another size."""
    local = [LocalSegment(base, size) for base in bases]
    if active is not None:
        local[-1] = LocalSegment(local[-1].base, active)
    return tuple(local)
