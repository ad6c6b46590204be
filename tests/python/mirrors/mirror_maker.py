"""MirrorMaker 2 as the specification describes it: what writes syncs, and what translates by them.

Written rule by rule and as loops, so that moldau's SQL can be held against it. Section numbers are
those of the specification. A sync (u -> d) says: the record at upstream offset u was written at
downstream offset d. `g` is a group's committed offset, the next record that it would read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

SLOTS = 64
MAX_OUTSTANDING = 10  # sends of syncs that MM2 lets be in flight (2.1)
BEFORE_FIRST_SYNC = -1


@dataclass(frozen=True)
class Sync:
    """One record of the syncs topic: where it stands there, and when it was written."""

    u: int
    d: int
    log_offset: int = 0
    at_ms: int = 0

    def translates(self, g: int) -> int:
        """t(s, g) of 4.1, for an s at or before g: never beyond the first unread record."""
        return self.d if self.u == g else self.d + 1


def syncs_of(pairs: Iterable[tuple[int, int]], first_log_offset: int = 0) -> list[Sync]:
    """Syncs in their order, one millisecond apart."""
    return [Sync(u, d, at, at) for at, (u, d) in enumerate(pairs, first_log_offset)]


class PartitionState:
    """What the writer knows of a source partition in the lifetime of a task (2.1)."""

    def __init__(self, lag_max: int) -> None:
        self.lag_max = lag_max
        self.previous_upstream = -1
        self.previous_downstream = -1
        self.last_synced_downstream = -1
        self.is_due = False

    def update(self, upstream: int, downstream: int) -> bool:
        """Whether a sync is due now; it stays due until `reset` (the sticky flag)."""
        is_first = self.last_synced_downstream == -1
        is_stale = downstream - (self.last_synced_downstream + 1) >= self.lag_max
        is_gap_or_rewind = upstream - self.previous_upstream != 1
        is_truncated = downstream < self.previous_downstream
        if is_first or is_stale or is_gap_or_rewind or is_truncated:
            self.last_synced_downstream = downstream
            self.is_due = True
        self.previous_upstream, self.previous_downstream = upstream, downstream
        return self.is_due

    def reset(self) -> None:
        self.is_due = False


class OffsetSyncWriter:
    """2.1: decides which mirrored records make a sync, holds some back and may lose some."""

    def __init__(self, lag_max: int, permits: int = MAX_OUTSTANDING) -> None:
        self.lag_max = lag_max
        self.permits = permits
        self.states: dict[object, PartitionState] = {}
        self.pending: dict[object, tuple[int, int]] = {}
        self.delayed: dict[object, tuple[int, int]] = {}

    def queue(self, partition: object, upstream: int, downstream: int) -> None:
        """A record was acknowledged: its sync is due now, or is delayed until `promote`."""
        state = self.states.setdefault(partition, PartitionState(self.lag_max))
        if state.update(upstream, downstream):
            # an unsent one of the same partition is replaced: that one is lost
            self.pending.pop(partition, None)
            self.pending[partition] = (upstream, downstream)
            self.delayed.pop(partition, None)
            state.reset()
        else:
            self.delayed[partition] = (upstream, downstream)

    def promote(self) -> None:
        """The task commits, every `offset.flush.interval.ms`; nothing becomes "last synced"."""
        self.pending |= self.delayed
        self.delayed.clear()

    def fire(self) -> list[tuple[object, int, int]]:
        """What is sent now, as far as permits go; the caller returns them by `acknowledge`."""
        sent = []
        while self.pending and self.permits > 0:
            partition = next(iter(self.pending))
            sent.append((partition, *self.pending.pop(partition)))
            self.permits -= 1
        return sent

    def acknowledge(self, count: int = 1) -> None:
        self.permits += count


def keeps_b(newer: Sync, older: Sync, i: int, j: int) -> bool:
    """Invariant B: slots i < j are not too far apart. Python's integers do not overflow."""
    return newer is older or newer.u <= older.u + 2**j - 2**i


def keeps_c(newer: Sync, older: Sync, i: int) -> bool:
    """Invariant C: a slot is far enough from every later one."""
    return newer is older or newer.u >= older.u + 2 ** max(i - 2, 0)


class OffsetSyncStore:
    """2.2: at most 64 syncs of one source partition, thinner the older they are.

    `must_read_to_end`: the task could not load its checkpoints ("pessimistic", or a version before
    KAFKA-15905), so of what is read at the start only the last sync survives.
    """

    def __init__(self, *, must_read_to_end: bool = False) -> None:
        self.must_read_to_end = must_read_to_end
        self.is_reading = True
        self.slots: list[Sync] = []

    def finish_reading(self) -> None:
        self.is_reading = False

    def add(self, sync: Sync) -> None:
        only_last = self.is_reading and self.must_read_to_end
        if not self.slots or only_last or sync.u < self.slots[0].u:
            self.slots = [sync] * SLOTS
            return
        self._insert(sync)

    def _insert(self, sync: Sync) -> None:
        old, slots = self.slots, list(self.slots)
        slots[0] = replacement = sync
        candidate = 0  # position in the old array
        for k in range(1, SLOTS):
            before = slots[k - 1]
            while True:
                value = old[candidate]
                is_separated = keeps_c(before, value, k - 1)
                is_promoted = (
                    is_separated
                    and keeps_b(before, value, k - 1, k)
                    and (k + 1 == SLOTS or keeps_c(value, slots[k + 1], k))
                )
                if is_promoted:
                    replacement = value
                is_repeated = candidate + 1 < SLOTS and value is old[candidate + 1]
                is_skipped = is_repeated or not is_separated
                if is_promoted or is_skipped:
                    candidate += 1
                if not (is_skipped and candidate < k):
                    break
            if keeps_b(before, slots[k], k - 1, k):
                break
            slots[k] = replacement
        self.slots = slots

    def distinct(self) -> list[Sync]:
        """The syncs that are left, newest first."""
        found: list[Sync] = []
        for sync in self.slots:
            if not found or sync is not found[-1]:
                found.append(sync)
        return found

    def translate(self, g: int) -> int | None:
        """2.3: all branches; None = no answer, -1 = g is before the earliest usable sync."""
        if self.is_reading or not self.slots:
            return None
        usable = [sync for sync in self.slots if sync.u <= g]
        chosen = usable[0] if usable else self.slots[-1]
        return BEFORE_FIRST_SYNC if chosen.u > g else chosen.translates(g)


class LatestSyncStore(OffsetSyncStore):
    """Before KAFKA-14666 (1.3): a single sync of a partition, the latest."""

    def add(self, sync: Sync) -> None:
        self.slots = [sync]


def started_store(
    syncs: Iterable[Sync], syncs_end_offset: int = 0, *, must_read_to_end: bool = False
) -> OffsetSyncStore:
    """The store of a task that found the syncs before `syncs_end_offset`, and saw the others."""
    store = OffsetSyncStore(must_read_to_end=must_read_to_end)
    return filled(store, syncs, syncs_end_offset)


def filled(
    store: OffsetSyncStore, syncs: Iterable[Sync], syncs_end_offset: int = 0
) -> OffsetSyncStore:
    for sync in syncs:
        if sync.log_offset >= syncs_end_offset:
            store.finish_reading()
        store.add(sync)
    store.finish_reading()
    return store


RULE_SETS = ("sparse_reads_checkpoints", "sparse_restart_forgets", "latest_sync")


def kafka_store(
    ruleset: str,
    syncs: Iterable[Sync],
    syncs_end_offset: int = 0,
    *,
    checkpoints_readable: bool = True,
) -> OffsetSyncStore:
    """The store under each of the rule sets that are Kafka's own.

    Only `sparse_reads_checkpoints` reads checkpoints, and only if it may (1.4).
    """
    if ruleset == "latest_sync":
        return filled(LatestSyncStore(), syncs, syncs_end_offset)
    is_optimistic = ruleset == "sparse_reads_checkpoints" and checkpoints_readable
    return started_store(syncs, syncs_end_offset, must_read_to_end=not is_optimistic)


@dataclass(frozen=True)
class Checkpoint:
    upstream: int
    downstream: int
    incarnation: int | None = None  # MM2's have none (2.6)


def guard(last: Checkpoint | None, g: int, downstream: int) -> str:
    """2.4: MM2's guard, in the words of 4.6; `last` is the last one that was emitted."""
    if last is None:
        return "EMIT_FIRST"
    if g < last.upstream:
        return "EMIT_GROUP_REWIND"
    if downstream > last.downstream:
        return "EMIT_ADVANCED"
    return "SKIP_REPEATED" if downstream == last.downstream else "SKIP_DOWNSTREAM_REWIND"


@dataclass
class CheckpointTask:
    """2.4 for one flow: emits checkpoints and remembers the last of each group and partition."""

    emitted: dict[tuple[str, str, int], Checkpoint] = field(default_factory=dict)

    def offer(self, key: tuple[str, str, int], g: int | None, downstream: int | None) -> str | None:
        """Why it was emitted or withheld; None: nothing that could be emitted."""
        if g is None or downstream is None or downstream < 0:
            return None
        reason = guard(self.emitted.get(key), g, downstream)
        if reason.startswith("EMIT"):
            self.emitted[key] = Checkpoint(g, downstream)
        return reason


def topic_source(topic: str, separator: str = ".") -> str | None:
    """The alias that the default replication policy reads off a topic's name (2.7)."""
    alias, found, _ = topic.partition(separator)
    return alias if found else None


def original_topic(topic: str, separator: str = ".") -> str:
    return topic.rpartition(separator)[2]


def target_topic(topic: str, source: str, target: str, separator: str = ".") -> str:
    """2.7: where the records of a topic are on the other cluster; topics come home bare."""
    if topic_source(topic, separator) == target:
        return original_topic(topic, separator)
    return f"{source}{separator}{topic}"


@dataclass(frozen=True)
class TargetGroup:
    """A group on the target as MM2 describes it; an offset of None is Kafka's null value."""

    state: str = "EMPTY"
    offsets: Mapping[str, int | None] = field(default_factory=dict)


def target_write(group: TargetGroup | None, partition: str, converted: int) -> tuple[str, str]:
    """2.5 for one partition, as moldau tells it: decision and reason.

    MM2 tries to write to an active group and is refused; moldau says so and does not try.
    """
    if group is None or group.state == "DEAD":
        return "write", "TARGET_ABSENT"
    if group.state != "EMPTY":
        return "skip", "TARGET_GROUP_ACTIVE"
    current = group.offsets.get(partition)
    if current is None:
        return "write", "TARGET_ABSENT"
    if current == converted:
        return "skip", "TARGET_EQUAL"
    return ("skip", "TARGET_AHEAD") if current > converted else ("write", "TARGET_BEHIND")


def target_writes(group: TargetGroup | None, converted: Mapping[str, int]) -> dict[str, int]:
    """2.5: what would be written; empty = no call."""
    return {
        partition: offset
        for partition, offset in converted.items()
        if target_write(group, partition, offset)[0] == "write"
    }


def loaded_checkpoints(
    records: Sequence[tuple[str, str, Checkpoint] | None], groups: set[str]
) -> dict[str, dict[str, Checkpoint]]:
    """1.4 CheckpointStore: the last one of each group and partition; None = a malformed record."""
    found: dict[str, dict[str, Checkpoint]] = {}
    for record in records:
        if record is not None and record[0] in groups:
            group, partition, checkpoint = record
            found.setdefault(group, {})[partition] = checkpoint
    return found
