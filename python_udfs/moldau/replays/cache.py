"""A producer's cache of topic metadata and its requests, common to all rule sets.

Topics are whole numbers that sort as their names do. Times are Unix milliseconds, durations too.
"""

from __future__ import annotations

import heapq
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, TypeAlias

Topic: TypeAlias = int
NEVER = 2**63 - 1
LONG_AGO = -(2**63)


@dataclass(frozen=True)
class Limits:
    """What moldau.yml sets for one producer."""

    evict_ms: int = 300_000
    max_age_ms: int = 300_000
    retry_backoff_ms: int = 100
    max_idle_ms: int | None = None


@dataclass(frozen=True)
class Known:
    """A topic as a producer has it: a row of state.producer_topics."""

    topic: Topic
    last_access_at_ms: int
    last_refresh_at_ms: int | None = None
    has_demand: bool = False
    notified_at_ms: int | None = None
    idle_since_at_ms: int | None = None
    """First answer at or after the last access, from which Kafka before 2.5 counts."""
    is_in_error: bool = False


class Causes(NamedTuple):
    """Topics of a request for each cause, of several causes the first."""

    new: int = 0
    notified: int = 0
    stale: int = 0
    fill: int = 0
    oldest: int = 0


@dataclass(slots=True)
class Request:
    """What is asked for at one instant."""

    at_ms: int
    topics: Sequence[Topic] | None
    """In the order in which they were chosen; None = all that are known."""
    size: int
    causes: Causes
    for_demand: frozenset[Topic] = frozenset()
    """Those that somebody waits for."""


@dataclass(slots=True)
class Round:
    evicted: list[Topic]
    request: Request | None = None


class Watcher(Protocol):
    """Is told by a cache what happens in it (`moldau.replays.measures.Measures`)."""

    def known(self, topic: Topic) -> None: ...
    def served(self, at_ms: int, since_ms: int) -> None: ...
    def sized(self, at_ms: int, cached: int) -> None: ...
    def refreshed(self, age_ms: int, topics: int) -> None: ...
    def evicted(
        self, at_ms: int, topic: Topic, was_cached: bool, is_known: bool, idle_ms: int, wasted: int
    ) -> None: ...
    def closed(self, at_ms: int) -> None: ...


@dataclass
class Cache(ABC):
    """State of one producer under one rule set."""

    limits: Limits
    watcher: Watcher
    accessed: dict[Topic, int] = field(default_factory=dict)
    """Every topic that is known, with its last access."""
    refreshed: dict[Topic, int] = field(default_factory=dict)
    """Those that are cached, with their last refresh, unless `full_at` is later."""
    full_at: int = LONG_AGO
    """All cached topics were refreshed then."""
    waiting: dict[Topic, int] = field(default_factory=dict)
    """Those that are not cached and that somebody waits for, since when."""
    held: set[Topic] = field(default_factory=set)
    """Those with buffered data that an answer does not take away."""
    notified: dict[Topic, int] = field(default_factory=dict)
    in_flight: Request | None = None
    failed_at: int = LONG_AGO
    paced_at: int = LONG_AGO
    """When topics were last asked for that were not urgent."""
    _idle: list[tuple[int, Topic]] = field(default_factory=list, init=False)
    """A heap of clocks, each of which may be behind."""
    _timed: set[Topic] = field(default_factory=set, init=False)
    """Topics that have a clock."""

    def start(self, known: Iterable[Known]) -> None:
        """Begin with these topics."""
        for one in known:
            self.accessed[one.topic] = one.last_access_at_ms
            self.watcher.known(one.topic)
            if one.last_refresh_at_ms is not None:
                self.refreshed[one.topic] = one.last_refresh_at_ms
                if one.has_demand:
                    self.held.add(one.topic)
            elif one.has_demand:
                self.waiting[one.topic] = one.last_access_at_ms
            if one.notified_at_ms is not None:
                self.notified[one.topic] = one.notified_at_ms

    @property
    def idle_limit_ms(self) -> int:
        """The eviction time in force."""
        return self.limits.evict_ms

    @abstractmethod
    def want(self, topic: Topic, at_ms: int) -> None:
        """A topic that is not cached is used: somebody waits for it from now on."""

    @abstractmethod
    def due(self, now: int) -> int:
        """Before this instant, at or after now, no round does anything."""

    @abstractmethod
    def round(self, now: int) -> Round:
        """Forget what is idle, and send what is due."""

    @abstractmethod
    def answer(self, at_ms: int, failing: Collection[Topic]) -> list[Topic]:
        """The request in flight is answered, for `failing` topics with an error.

        Gives those that are forgotten by it."""

    def has_asked(self, request: Request, topic: Topic) -> bool:
        """The request, which is in flight, asks for the topic."""
        return topic in (self.accessed if request.topics is None else request.topics)

    def abandon(self, topic: Topic) -> None:
        """Nobody waits for the topic any more."""
        self.waiting.pop(topic, None)
        self.held.discard(topic)

    def drain(self, topic: Topic) -> None:
        """Data that was buffered for the topic is gone; who waits for it still waits."""
        self.held.discard(topic)

    def notice(self, topic: Topic, at_ms: int) -> None:
        """The topic's metadata has changed; of one that is not known there is nothing to ask."""
        if topic in self.accessed:
            self.notified[topic] = at_ms

    def fail(self, at_ms: int) -> None:
        """The cluster does not answer: the request in flight is lost."""
        self.failed_at = at_ms
        self.in_flight = None

    def close(self, at_ms: int) -> None:
        """The producer is gone, and what it knew."""
        for part in (self.accessed, self.refreshed, self.waiting, self.held, self.notified):
            part.clear()
        self._idle.clear()
        self._timed.clear()
        self.in_flight = None
        self.full_at = LONG_AGO
        self.failed_at = LONG_AGO
        self.watcher.closed(at_ms)

    def _time(self, topic: Topic, at_ms: int) -> None:
        """A topic that may become idle has a clock."""
        if topic not in self._timed:
            self._timed.add(topic)
            heapq.heappush(self._idle, (at_ms, topic))

    def _timed_until(self, now: int) -> Iterator[Topic]:
        """Known topics whose clocks have run by then, and stand still from now on."""
        while self._idle and self._idle[0][0] <= now:
            _, topic = heapq.heappop(self._idle)
            self._timed.discard(topic)
            if topic in self.accessed:
                yield topic
