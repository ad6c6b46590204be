"""Random runs of the expiration task that delete the oldest segments of a log of several epochs.

What Kafka shows while such a run goes on follows from spec 2.6: it counts what it has chosen, and
takes off each segment when it is deleted.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from gauge_events import AT_MS, Event, Segment, copied, table_of
from gauge_support import World, id_of

SEGMENT_OFFSETS = SEGMENT_BYTES = 100
SEEDS = range(150)


@dataclass(frozen=True)
class Run:
    """Segments from offset 0, the oldest of which the run deletes: so far up to an event of it."""

    epochs: dict[int, int]  # with the first offset of each, before the run
    segments: list[Segment]
    chosen: int
    events: int  # of the run: a mark and an end for each segment

    @property
    def log_start(self) -> int:
        return self.chosen * SEGMENT_OFFSETS

    @property
    def epochs_left(self) -> list[tuple[int, int]]:
        """The checkpoint after the log's start has moved."""
        first = max(epoch for epoch, start in self.epochs.items() if start <= self.log_start)
        later = {epoch: start for epoch, start in self.epochs.items() if epoch > first}
        return [(first, self.log_start), *later.items()]

    @property
    def kafka(self) -> tuple[int, int]:
        """What its gauges show, bytes and segments."""
        left = self.chosen - self.events // 2
        return left * SEGMENT_BYTES, left

    def log(self) -> list[Event]:
        started_ms = AT_MS - 100
        gone = [
            (segment, state, started_ms + 2 * number + state - 2)
            for number, segment in enumerate(self.segments[: self.chosen])
            for state in (2, 3)
        ]
        return [*copied(*self.segments), *gone[: self.events]]


def random_run(seed: int) -> Run:
    chance = random.Random(seed)
    count = chance.randint(1, 6)
    end = count * SEGMENT_OFFSETS
    starts = [0, *sorted(chance.sample(range(1, end), chance.randint(0, 3)))]
    epochs = dict(enumerate(starts))
    chosen = chance.randint(1, count)
    segments = []
    for number in range(count):
        base = number * SEGMENT_OFFSETS
        last = base + SEGMENT_OFFSETS - 1
        own = max(epoch for epoch, start in epochs.items() if start <= base)
        pieces = [(e, max(s, base)) for e, s in epochs.items() if e >= own and s <= last]
        newest_ms = 0 if number < chosen else AT_MS
        segments.append(
            Segment(f"{seed}-{base}", base, last, SEGMENT_BYTES, tuple(pieces), newest_ms)
        )
    return Run(epochs, segments, chosen, chance.randint(1, 2 * chosen))


RUNS = [random_run(seed) for seed in SEEDS]


def world_of_runs(cluster: str) -> World:
    """A partition for each."""
    world = World(table_of(cluster, {number: run.log() for number, run in enumerate(RUNS)}))
    topic_id = id_of(f"{cluster}-orders")
    world.add_topic("orders", topic_id, {"retention.ms": str(AT_MS // 2)})
    for number, run in enumerate(RUNS):
        end = len(run.segments) * SEGMENT_OFFSETS
        active = {
            "base_offset": end, "size_bytes": 50, "max_timestamp_ms": AT_MS, "is_active": True,
            "record_count": 1,
        }  # fmt: skip
        offsets = {
            "log_start_offset": run.log_start, "local_log_start_offset": end,
            "last_stable_offset": end + 10, "high_watermark": end + 10, "log_end_offset": end + 10,
            "taken_at_ms": AT_MS,
        }  # fmt: skip
        world.add_partition(("orders", topic_id, number), run.epochs_left, [active], offsets)
    return world
