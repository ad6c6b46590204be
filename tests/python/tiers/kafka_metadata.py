"""What Kafka's remote log metadata manager knows of one partition, event by event.

An independent reading of RemoteLogSegmentState, RemoteLogMetadataCache and
RemoteLogLeaderEpochState in plain Python, for tests only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

COPY_STARTED, COPY_FINISHED, DELETE_STARTED, DELETE_FINISHED = range(4)
STATE_NAMES = (
    "COPY_SEGMENT_STARTED",
    "COPY_SEGMENT_FINISHED",
    "DELETE_SEGMENT_STARTED",
    "DELETE_SEGMENT_FINISHED",
)
# state (None: no such segment) -> the states that may follow
LEGAL: Mapping[int | None, set[int]] = {
    None: {COPY_STARTED},
    COPY_STARTED: {COPY_STARTED, COPY_FINISHED, DELETE_STARTED},
    COPY_FINISHED: {COPY_FINISHED, DELETE_STARTED},
    DELETE_STARTED: {DELETE_STARTED, DELETE_FINISHED},
    DELETE_FINISHED: set(),
}


@dataclass(frozen=True)
class Segment:
    """A remote segment: offsets `start` to `end`, both inclusive, and where each epoch starts."""

    segment_id: str
    start: int
    end: int
    epochs: Mapping[int, int]
    size: int = 100
    max_timestamp_ms: int = 0
    state: int = COPY_STARTED
    broker_id: int = 1
    started_broker_id: int = 1
    event_at_ms: int = 0
    custom: bytes | None = None

    @property
    def is_possible(self) -> bool:
        return self.start >= 0 and self.end >= self.start and bool(self.epochs)

    @property
    def span(self) -> int:
        return self.end - self.start + 1

    def end_in(self, epoch: int) -> int:
        """The segment's last offset in one of its epochs; one below its start if it has none."""
        later = [start for other, start in self.epochs.items() if other > epoch]
        return min(later) - 1 if later else self.end


@dataclass(frozen=True)
class Event:
    """A record about a segment: the full one that starts a copy, or (`copy` is None) an update."""

    segment_id: str
    state: int
    broker_id: int = 1
    at_ms: int = 0
    copy: Segment | None = None
    custom: bytes | None = None


@dataclass
class EpochIndex:
    """The segments of one leader epoch; readers find the indexed ones.

    A segment that is in neither is an orphan: another one took its place in the index.
    """

    indexed: dict[int, str] = field(default_factory=dict)
    unreferenced: set[str] = field(default_factory=set)
    highest: int | None = None

    def copied(self, segment_id: str, start: int, end: int) -> None:
        while self.indexed and self.highest is not None:
            last = max(self.indexed)
            if last < start or self.highest > end:
                break
            self.unreferenced.add(self.indexed.pop(last))
        self.indexed[start] = segment_id
        self.unreferenced.discard(segment_id)
        self.highest = end if self.highest is None else max(self.highest, end)

    def marked(self, segment_id: str, start: int) -> None:
        if self.indexed.get(start) == segment_id:
            del self.indexed[start]
        self.unreferenced.add(segment_id)


class Metadata:
    """All segments of one partition; `apply` takes the events in the order of the log."""

    def __init__(self, events: Iterable[Event] = ()) -> None:
        self.segments: dict[str, Segment] = {}  # those that were deleted stay, as DELETE_FINISHED
        self.epochs: dict[int, EpochIndex] = {}
        self.rejected: list[tuple[Event, int | None]] = []  # with the state that they met
        self.accepted = 0
        for event in events:
            self.apply(event)

    def apply(self, event: Event) -> bool:
        """Accept the event or leave everything as it is; tells which."""
        before = self.segments.get(event.segment_id)
        state = None if before is None else before.state
        is_full = event.copy is not None
        is_legal = event.state in LEGAL[state] and is_full == (event.state == COPY_STARTED)
        if not is_legal or (event.copy and not event.copy.is_possible):
            self.rejected.append((event, state))
            return False
        base = event.copy or before
        assert base is not None
        started_by = event.broker_id if event.copy else base.started_broker_id
        after = replace(
            base,
            segment_id=event.segment_id,
            state=event.state,
            broker_id=event.broker_id,
            started_broker_id=started_by,
            event_at_ms=event.at_ms,
            custom=event.custom,
        )
        self.segments[event.segment_id] = after
        self.accepted += 1
        for epoch, start in after.epochs.items():
            self._index(after, epoch, start)
        return True

    def _index(self, segment: Segment, epoch: int, start: int) -> None:
        index = self.epochs.setdefault(epoch, EpochIndex())
        if segment.state == COPY_STARTED:
            index.unreferenced.add(segment.segment_id)
        elif segment.state == COPY_FINISHED:
            index.copied(segment.segment_id, start, segment.end_in(epoch))
        elif segment.state == DELETE_STARTED:
            index.marked(segment.segment_id, start)
        else:
            index.unreferenced.discard(segment.segment_id)

    def live(self) -> list[Segment]:
        return [one for one in self.segments.values() if one.state != DELETE_FINISHED]

    def listing(self, epoch: int) -> list[Segment]:
        """By start offset; at the same one the indexed segment first, then by segment id."""
        index = self.epochs.get(epoch, EpochIndex())
        indexed = [self.segments[name] for name in index.indexed.values()]
        others = [self.segments[name] for name in sorted(index.unreferenced)]
        return sorted([*sorted(indexed, key=lambda one: one.segment_id), *others], key=_start)

    def orphans(self) -> set[str]:
        """Live segments that no epoch lists: only a deletion of the topic would remove them."""
        listed = {one.segment_id for epoch in self.epochs for one in self.listing(epoch)}
        return {one.segment_id for one in self.live()} - listed

    def highest(self, epoch: int) -> int | None:
        return self.epochs.get(epoch, EpochIndex()).highest

    def find(self, epoch: int, offset: int) -> Segment | None:
        """The segment from which a reader would read this offset of this epoch."""
        indexed = self.epochs.get(epoch, EpochIndex()).indexed
        starts = [start for start in indexed if start <= offset]
        if not starts:
            return None
        segment = self.segments[indexed[max(starts)]]
        return segment if offset <= segment.end_in(epoch) else None


def _start(segment: Segment) -> int:
    return segment.start
