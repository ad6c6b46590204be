"""Random partitions with everything that goes wrong in tiered storage, by a seed.

Few offsets, few epochs and round times, so that overlaps, holes and exact boundaries are common.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import replace

from kafka_metadata import (
    COPY_FINISHED,
    COPY_STARTED,
    DELETE_FINISHED,
    DELETE_STARTED,
    Event,
    Metadata,
    Segment,
)
from kafka_reference import KIP_963_DRAFT, Config, LocalSegment, Partition
from kafka_uploads import uploads

NOW_MS = 1_000_000
OFFSETS = 60
LEADER, FOLLOWERS = 1, (2, 3)
BROKERS = (LEADER, *FOLLOWERS)
WHOLE_LIVES = {
    (COPY_STARTED, COPY_FINISHED): 60,
    (COPY_STARTED,): 10,
    (COPY_STARTED, DELETE_STARTED, DELETE_FINISHED): 8,  # the copy failed
    (COPY_STARTED, DELETE_STARTED): 4,
    (COPY_STARTED, COPY_FINISHED, DELETE_STARTED): 8,  # the delete failed
    (COPY_STARTED, COPY_FINISHED, DELETE_STARTED, DELETE_STARTED): 2,
    (COPY_STARTED, COPY_FINISHED, DELETE_STARTED, DELETE_FINISHED): 8,
}


class Chance(random.Random):
    def happens(self, percent: float) -> bool:
        return self.random() * 100 < percent

    def life(self) -> tuple[int, ...]:
        (found,) = self.choices(list(WHOLE_LIVES), list(WHOLE_LIVES.values()))
        return found


def random_partition(seed: int) -> tuple[Partition, list[Event]]:
    chance = Chance(seed)
    log_end = chance.randint(1, OFFSETS)
    lineage = _lineage(chance, log_end)
    local = _local(chance, log_end)
    events = list(
        _without_late_repeats(_events(chance, lineage, log_end, [one.base for one in local]))
    )
    log_start = chance.choice([0, 0, 0, chance.randint(0, log_end)])
    if chance.happens(70):
        lineage = _truncated(lineage, log_start)
    if chance.happens(2):
        lineage = {}
    partition = Partition(
        metadata=Metadata(events),
        config=_config(chance),
        lineage=lineage,
        local=local,
        broker_id=LEADER,
        log_start=log_start,
        local_log_start=max(log_start, local[0].base),
        last_stable=chance.choice([log_end, log_end, chance.randint(0, log_end), 0, -1]),
        high_watermark=log_end,
        log_end=log_end,
    )
    for event in _under_way(chance, partition):
        events.append(event)
        partition.metadata.apply(event)
    return partition, events


def random_followers(seed: int, leader: Partition) -> tuple[Partition, ...]:
    """Brokers that have the partition, too, with other segments and their own idea of offsets."""
    chance = Chance(f"followers {seed}")
    brokers = chance.sample(FOLLOWERS, chance.choice([0, 0, 1, 2]))
    return tuple(
        replace(
            leader,
            broker_id=broker,
            local=_local(chance, leader.log_end),
            log_start=chance.randint(0, leader.log_end),
            last_stable=chance.randint(0, leader.log_end),
            log_end=leader.log_end + chance.randint(0, 3),
        )
        for broker in brokers
    )


def _under_way(chance: Chance, partition: Partition) -> Iterator[Event]:
    """Copies that the leader has started of what it would upload next."""
    for base in uploads(partition, NOW_MS, KIP_963_DRAFT).chosen():
        if chance.happens(70):
            return
        end = min(one.base for one in partition.local if one.base > base) - 1
        epochs = _epochs(partition.lineage or {0: 0}, base, end)
        copy = Segment(f"under way {base}", base, end, epochs, _size(chance), _max_ms(chance))
        yield Event(copy.segment_id, COPY_STARTED, LEADER, NOW_MS, copy)


def _lineage(chance: Chance, log_end: int) -> dict[int, int]:
    """Some epochs have no records: they start where the next one does."""
    count = chance.choice([1, 1, 2, 3, 4, 5])
    epochs = sorted(chance.sample(range(8), count))
    starts = sorted(chance.randint(0, log_end) for _ in epochs[1:])
    return dict(zip(epochs, [0, *starts], strict=True))


def _truncated(lineage: Mapping[int, int], log_start: int) -> dict[int, int]:
    """As Kafka cuts a leader's lineage at the start of its log."""
    kept = {epoch: start for epoch, start in lineage.items() if start > log_start}
    before = [epoch for epoch, start in lineage.items() if start <= log_start]
    return ({max(before): log_start} if before else {}) | kept


def _other(chance: Chance, lineage: Mapping[int, int]) -> dict[int, int]:
    """What a leader that lost an unclean election had: the same up to some epoch."""
    epochs = sorted(lineage)
    cut = chance.randint(1, len(epochs))
    other = {epoch: lineage[epoch] for epoch in epochs[:cut]}
    epoch, start = epochs[cut - 1], other[epochs[cut - 1]]
    for _ in range(chance.randint(0, 2)):
        epoch, start = epoch + chance.randint(1, 2), start + chance.randint(0, 15)
        other[epoch] = start
    return other


def _max_ms(chance: Chance) -> int:
    return NOW_MS - 1_000 * chance.randint(-1, 5)


def _size(chance: Chance) -> int:
    return chance.choice([0, 50, 100, 100, 100, 150, 200, chance.randint(1, 300)])


def _events(
    chance: Chance, lineage: Mapping[int, int], log_end: int, bases: list[int]
) -> Iterator[Event]:
    """What several leaders wrote one after the other, or at times mixed up.

    `bases`: where the segments of the present leader start.
    """
    lives: list[list[Event]] = []
    for _ in range(chance.choice([0, 1, 1, 2, 3])):
        broker = chance.choice(BROKERS)
        own = _other(chance, lineage) if chance.happens(30) else dict(lineage)
        base = chance.choice([0, 0, bases[0], chance.randint(0, log_end)])
        limit = chance.choice([log_end + 5, chance.randint(0, log_end)])
        while base <= limit:
            later = [other - 1 for other in bases if other > base]
            if later and chance.happens(50):
                end = later[0]
            else:
                end = base + chance.choice([0, 4, 9, chance.randint(0, 20)])
            is_last = end >= limit and chance.happens(40)
            lives.append(_life(chance, f"{len(lives)}", base, end, own, broker, is_last))
            base = end + 1 + chance.choice([0, 0, 0, 0, 0, 0, chance.randint(0, 9)])
    if chance.happens(25):
        yield from _mixed(chance, lives)
    else:
        late = [life.pop() for life in lives if len(life) > 1 and chance.happens(20)]
        yield from (event for life in lives for event in life)
        yield from late


def _without_late_repeats(events: Iterator[Event]) -> Iterator[Event]:
    """Kafka finishes a copy once; moldau does not index it anew when it is finished again later."""
    finished: set[str] = set()
    last = ""
    for event in events:
        is_finish = event.state == COPY_FINISHED
        if is_finish and event.segment_id in finished and event.segment_id != last:
            continue
        if is_finish:
            finished.add(event.segment_id)
        last = event.segment_id
        yield event


def _mixed(chance: Chance, lives: list[list[Event]]) -> Iterator[Event]:
    """Each life in its order, as a rule."""
    left = [life if chance.happens(95) else chance.sample(life, len(life)) for life in lives]
    while left:
        life = chance.choice(left[:3])
        yield life.pop(0)
        left = [life for life in left if life]


def _life(
    chance: Chance,
    name: str,
    base: int,
    end: int,
    lineage: Mapping[int, int],
    broker: int,
    is_in_flight: bool,
) -> list[Event]:
    epochs = _epochs(lineage, base, end)
    if chance.happens(5):
        some = sorted(chance.sample(range(8), 2))
        epochs = {some[0]: base, some[1]: chance.randint(base, end)}
    if chance.happens(1):
        epochs = {}  # no segment has such a record
    copy = Segment(name, base, end, epochs, _size(chance), _max_ms(chance))
    events = []
    for state in (COPY_STARTED,) if is_in_flight else chance.life():
        events.append(_event(chance, name, state, broker, copy))
        if chance.happens(4):  # Kafka writes it again, or a thing that it never writes
            events.append(_event(chance, name, chance.choice([state, 0, 1, 2, 3]), broker, copy))
    if chance.happens(2):
        events.append(_event(chance, f"unknown {name}", chance.choice([0, 1, 2, 3]), broker, None))
    return events


def _event(chance: Chance, name: str, state: int, broker: int, copy: Segment | None) -> Event:
    is_full = copy is not None and (state == COPY_STARTED) != chance.happens(1)
    custom = chance.choice([None, None, b"", b"\x00\x01"])
    return Event(
        name,
        state,
        chance.choice(BROKERS) if chance.happens(5) else broker,
        NOW_MS - chance.randint(0, 9_999),
        copy if is_full else None,
        custom,
    )


def _epochs(lineage: Mapping[int, int], base: int, end: int) -> dict[int, int]:
    """As the copying leader writes them: with its epochs without records, too."""
    before = [epoch for epoch in sorted(lineage) if lineage[epoch] <= base]
    first = before[-1] if before else min(lineage)
    return {
        epoch: max(start, base)
        for epoch, start in sorted(lineage.items())
        if epoch >= first and start <= end
    } or {first: base}


def _local(chance: Chance, log_end: int) -> tuple[LocalSegment, ...]:
    first = chance.choice([0, 0, chance.randint(0, log_end)])
    others = chance.sample(
        range(first, log_end + 1), min(log_end + 1 - first, chance.randint(0, 5))
    )
    round_ones = [base for base in range(0, log_end, 10) if base > first]
    bases = sorted({first, *(round_ones if chance.happens(40) else others)})
    return tuple(LocalSegment(base, _size(chance), _max_ms(chance)) for base in bases)


def random_config(seed: int) -> Config:
    return _config(Chance(f"config {seed}"))


def _config(chance: Chance) -> Config:
    times = [-1, -1, 0, 1_000, 2_000, 3_000, 2 * NOW_MS, 2**63 - 1]
    sizes = [-1, -1, 0, 100, 250, 400, chance.randint(0, 1_500)]
    lags = [0, -1, 1_000, 2_000]
    return Config(
        is_copy_disabled=chance.happens(3),
        retention_ms=chance.choice(times),
        retention_bytes=chance.choice(sizes),
        local_retention_ms=chance.choice([-2, -1, 1_000]),
        local_retention_bytes=chance.choice([-2, -1, 150]),
        copy_lag_ms=chance.choice(lags),
        copy_lag_bytes=chance.choice([-1, -1, 0, 100, 250]),
    )
