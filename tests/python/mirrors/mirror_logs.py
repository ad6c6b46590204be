"""A source partition, MM2 that mirrors it, and the target partition: what was really written where.

The simulation knows of every commit the true position on the target, so that it can say whether a
translation would skip a record (4.2.2). It may replay (a task dies and starts again where it last
committed), leave gaps (compaction, markers), lose syncs, let others write to the target, and
re-create both topics.
"""

from __future__ import annotations

import bisect
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from mirror_maker import OffsetSyncWriter, Sync

PARTITION = "partition"
Copies = dict[int, int]  # upstream offset -> downstream offset of its last or first copy


@dataclass(frozen=True)
class World:
    """What may happen, as chances of 100 a step."""

    replays: int = 10
    gaps: int = 10
    dropped_syncs: int = 0  # of 100 syncs
    foreign_records: int = 0
    recreated_targets: int = 0
    recreated_sources: int = 0
    is_exactly_once: bool = False  # whole transactions are mirrored, each with its marker
    steps: int = 40


@dataclass
class Truth:
    """The logs at one instant."""

    source_end: int
    target_end: int
    is_at_rest: bool  # no replay is in progress
    upstream: list[int]  # of all mirrored records of the source as it is now
    positions: list[int]  # of each: where a reader must start so as to miss none from it on
    first_copies: list[int]
    at_ms: int

    def position(self, g: int) -> int:
        """X(g): the furthest position from which every record from g on is still read."""
        found = bisect.bisect_left(self.upstream, g)
        return self.positions[found] if found < len(self.positions) else self.target_end

    def is_safe(self, g: int, translated: int | None) -> bool:
        """Never ahead: nothing is skipped, and nothing points behind the log's end."""
        return translated is None or translated <= self.position(g)

    def consumed_upstream(self, x: int) -> int:
        """4.5: a group at x on the target has read a copy of each record before this offset."""
        unread = [
            upstream
            for upstream, copy in zip(self.upstream, self.first_copies, strict=True)
            if copy >= x
        ]
        return min(unread, default=self.source_end)


class MirrorLogs:
    """One partition in its life; `syncs` is what the syncs topic holds of it."""

    def __init__(self, world: World, seed: int) -> None:
        self.world = world
        self.chance = random.Random(f"mirror {seed}")
        self.lag_max = self.chance.choice([0, 1, 3, 10, 10, 25])
        self.writer = OffsetSyncWriter(self.lag_max)
        self.syncs: list[Sync] = []
        self.source: list[int] = []
        self.source_end = 0
        self.next_record = self.committed = self.furthest = 0  # positions in `source`
        self.copies: Copies = {}
        self.first_copies: Copies = {}
        self.target_end = 0
        self.at_ms = 0
        self.is_target_new = True  # nothing was mirrored into it yet

    def produce(self) -> None:
        for _ in range(self.chance.randint(1, 12)):
            if self.happens(self.world.gaps):
                self.source_end += self.chance.randint(1, 5)
            self.source.append(self.source_end)
            self.source_end += 1

    def happens(self, of_100: int) -> bool:
        return self.chance.randrange(100) < of_100

    def mirror_one(self) -> None:
        upstream = self.source[self.next_record]
        self.copies[upstream] = self.target_end
        self.first_copies.setdefault(upstream, self.target_end)
        self.writer.queue(PARTITION, upstream, self.target_end)
        self.target_end += 1
        self.next_record += 1
        self.furthest = max(self.furthest, self.next_record)
        self.is_target_new = False
        self.send()

    def mirror(self, count: int) -> None:
        """EOS: what a dead task left of a transaction is aborted, and MM2 tells nothing of it."""
        if self.world.is_exactly_once and count and self.happens(self.world.replays):
            self.target_end += count + 1
            return
        for _ in range(count):
            self.mirror_one()
        if self.world.is_exactly_once and count:
            self.target_end += 1
            self.committed = self.next_record

    def send(self) -> None:
        for _, upstream, downstream in self.writer.fire():
            self.writer.acknowledge()
            if not self.happens(self.world.dropped_syncs):
                self.syncs.append(Sync(upstream, downstream, len(self.syncs), self.at_ms))

    def flush(self) -> None:
        self.committed = self.next_record
        self.writer.promote()
        self.send()

    def replay(self) -> None:
        """The task dies; the next one starts where its source offsets were last committed."""
        self.next_record = self.committed
        self.writer = OffsetSyncWriter(self.lag_max)

    def recreate_target(self) -> None:
        """Not before it has a second record: MM2 would not see that one is at 0 again (2.1)."""
        if not any(self.copies.values()):
            return
        self.copies, self.first_copies = {}, {}
        self.target_end, self.is_target_new = 0, True
        self.furthest = self.next_record

    def recreate_source(self) -> None:
        """Its records start at 0 again; the old ones' copies are nobody's any more."""
        self.source, self.source_end = [], 0
        self.copies, self.first_copies = {}, {}
        self.next_record = self.committed = self.furthest = 0

    def live(self) -> Iterator[None]:
        """Steps; not before a new target has a record is there anything to be asked."""
        world = self.world
        events: list[tuple[int, Callable[[], None]]] = [
            (world.replays, self.replay),
            (world.recreated_targets, self.recreate_target),
            (world.recreated_sources, self.recreate_source),
            (12, self.flush),
        ]
        for _ in range(world.steps):
            self.at_ms += 1_000
            self.produce()
            for likely, happen in events:
                if self.happens(likely):
                    happen()
            # nor would it see that a new one was filled by others up to where the old one ended
            if not self.is_target_new and self.happens(world.foreign_records):
                self.target_end += self.chance.randint(1, 8)
            self.mirror(self.chance.randint(0, len(self.source) - self.next_record))
            if not self.is_target_new:
                yield

    def truth(self) -> Truth:
        upstream = sorted(self.copies)
        copies = [self.copies[one] for one in upstream]
        positions = list(copies)
        for index in range(len(positions) - 2, -1, -1):
            positions[index] = min(positions[index], positions[index + 1])
        return Truth(
            source_end=self.source_end,
            target_end=self.target_end,
            is_at_rest=self.next_record == self.furthest,
            upstream=upstream,
            positions=positions,
            at_ms=self.at_ms,
            first_copies=[self.first_copies[one] for one in upstream],
        )


@dataclass(frozen=True)
class Instant:
    """A history as far as it had come, and commits that groups had made."""

    syncs: list[Sync]
    truth: Truth
    commits: list[int]


def instants(world: World, seed: int, commits: int = 8, share: int = 25) -> Iterator[Instant]:
    """Of one partition's life: those that a share of 100 picks, each with random commits."""
    logs = MirrorLogs(world, seed)
    chance = random.Random(f"instants {seed}")
    for _ in logs.live():
        if chance.randrange(100) < share:
            truth = logs.truth()
            chosen = [chance.randint(0, truth.source_end) for _ in range(commits)]
            yield Instant(list(logs.syncs), truth, chosen)
