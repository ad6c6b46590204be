"""What a replay measures of one producer under one rule set, by buckets of time."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from moldau.replays.cache import Cache, Request, Topic


@dataclass(slots=True)
class Bucket:
    """Counts of one bucket; the columns of marts.metadata_replay of these names."""

    requests: int = 0
    topics: int = 0
    bytes: int = 0
    evictions: int = 0
    blocking_fetches: int = 0
    largest_request: int = 0
    request_topics_p50: int = 0
    request_topics_p99: int = 0
    request_bytes: int = 0
    overhead_bytes: int = 0
    new_topics: int = 0
    notified_topics: int = 0
    stale_topics: int = 0
    fill_topics: int = 0
    oldest_topics: int = 0
    failed_requests: int = 0
    misses: int = 0
    first_misses: int = 0
    regrets: int = 0
    blocked_ms: int = 0
    blocked_ms_max: int = 0
    wasted_refreshes: int = 0
    idle_topic_ms: int = 0
    refreshes: int = 0
    refresh_age_ms: int = 0
    refresh_age_ms_max: int = 0
    refreshes_over_max_age: int = 0
    uses: int = 0
    use_age_ms: int = 0
    use_age_ms_max: int = 0
    uses_over_max_age: int = 0
    became_cached: int = 0
    left_cache: int = 0
    cached_topics: int = 0
    cached_partitions: int = 0
    cached_bytes: int = 0
    cached_topic_ms: int = 0
    largest_second_topics: int = 0
    largest_second_bytes: int = 0
    largest_second_at_ms: int | None = None


COLUMNS = tuple(one.name for one in fields(Bucket))


@dataclass(frozen=True)
class Sizes:
    """Bytes of a topic in a request (`asked`), in an answer (`told`), in one with an error."""

    asked: Sequence[int]
    told: Sequence[int]
    refused: Sequence[int]
    partitions: Sequence[int]
    answer_overhead: int
    """Bytes of every answer beside its topics."""


@dataclass
class Measures:
    """Watches a cache, and is told of requests by the clock that moves it."""

    sizes: Sizes
    bucket_ms: int
    max_age_ms: int
    rows: list[tuple[int, Bucket]] = field(default_factory=list)
    """Starts of buckets in which anything happened or was cached, and what."""

    def begin(self, at_ms: int, cache: Cache) -> None:
        """The buckets begin with the one of this instant."""
        self._cache = cache
        self._start = at_ms // self.bucket_ms * self.bucket_ms
        self.ends_at = self._start + self.bucket_ms
        self._bucket = Bucket()
        self._requests = array("q")
        self._begin_seconds()
        self._known_bytes = self._asked_bytes = 0
        self._evicted_at: dict[Topic, int] = {}
        self._was_known: set[Topic] = set()
        self._cached, self._sized_at = 0, at_ms
        self._cached_size: tuple[int, int] | None = None

    def began(self) -> None:
        """The cache has what it begins with."""
        self._cached = len(self._cache.refreshed)

    def _begin_seconds(self) -> None:
        """Of a second that is longer than its bucket each has its part."""
        self._asked_second = self._told_second = -1
        self._second_topics = self._second_bytes = 0

    def roll(self, at_ms: int) -> None:
        """Close the buckets that end at this instant, or before."""
        while self.ends_at <= at_ms:
            self._integrate(self.ends_at)
            self._close()
            self._start = self.ends_at
            self.ends_at += self.bucket_ms
            # in buckets without anything nothing is to be told
            if not self._cached and at_ms >= self.ends_at:
                self._start = at_ms // self.bucket_ms * self.bucket_ms
                self.ends_at = self._start + self.bucket_ms
                self._sized_at = at_ms

    def end(self, at_ms: int) -> None:
        """Nothing happens at this instant or later."""
        self.roll(at_ms)
        if at_ms > self._start:
            self._integrate(at_ms)
            self._close()

    def used(self, uses: int, age_ms: int, age_ms_max: int, over_max_age: int) -> None:
        """So often cached topics were used; the sum of their ages, and the largest."""
        bucket = self._bucket
        bucket.uses += uses
        bucket.use_age_ms += age_ms
        bucket.use_age_ms_max = max(bucket.use_age_ms_max, age_ms_max)
        bucket.uses_over_max_age += over_max_age

    def missed(self, at_ms: int, topic: Topic) -> None:
        """Somebody begins to wait for a topic."""
        bucket = self._bucket
        bucket.misses += 1
        evicted_at = self._evicted_at.pop(topic, None)
        if evicted_at is not None:
            bucket.regrets += at_ms - evicted_at <= self._cache.idle_limit_ms
        elif topic not in self._was_known:
            bucket.first_misses += 1

    def sent(self, request: Request) -> int:
        """Gives the bytes of the topics in its answer, if none is refused."""
        bucket, sizes = self._bucket, self.sizes
        asked, told = self._asked_bytes, self._known_bytes
        if request.topics is not None:
            asked = sum(sizes.asked[topic] for topic in request.topics)
            told = sum(sizes.told[topic] for topic in request.topics)
        size, causes = request.size, request.causes
        bucket.requests += 1
        bucket.topics += size
        bucket.request_bytes += asked
        if size > bucket.largest_request:
            bucket.largest_request = size
        bucket.blocking_fetches += len(request.for_demand)
        bucket.new_topics += causes.new
        bucket.notified_topics += causes.notified
        bucket.stale_topics += causes.stale
        bucket.fill_topics += causes.fill
        bucket.oldest_topics += causes.oldest
        self._requests.append(size)
        if (second := request.at_ms // 1000) != self._asked_second:
            self._asked_second, self._second_topics = second, 0
        self._second_topics += size
        if self._second_topics > bucket.largest_second_topics:
            bucket.largest_second_topics = self._second_topics
        return told

    def answered(self, at_ms: int, request: Request, told: int, failing: Collection[Topic]) -> None:
        """`told`: bytes of its topics; those that are failing have no partitions in an answer."""
        bucket, sizes = self._bucket, self.sizes
        if failing:
            refused = [one for one in failing if self._cache.has_asked(request, one)]
            told -= sum(sizes.told[one] - sizes.refused[one] for one in refused)
        bucket.bytes += told
        bucket.overhead_bytes += sizes.answer_overhead
        if (second := at_ms // 1000) != self._told_second:
            self._told_second, self._second_bytes = second, 0
        self._second_bytes += told
        if self._second_bytes > bucket.largest_second_bytes:
            bucket.largest_second_bytes = self._second_bytes
            bucket.largest_second_at_ms = second * 1000

    def failed(self) -> None:
        self._bucket.failed_requests += 1

    def known(self, topic: Topic) -> None:
        """A topic is known from now on, cached or not."""
        self._known_bytes += self.sizes.told[topic]
        self._asked_bytes += self.sizes.asked[topic]
        self._was_known.add(topic)

    def evicted(
        self, at_ms: int, topic: Topic, was_cached: bool, is_known: bool, idle_ms: int, wasted: int
    ) -> None:
        """A topic is forgotten, or, where somebody has data for it, known without metadata.

        `wasted`: refreshes of it that nobody used."""
        bucket = self._bucket
        bucket.evictions += 1
        bucket.wasted_refreshes += wasted
        if was_cached:
            bucket.idle_topic_ms += idle_ms
            self._evicted_at[topic] = at_ms
        if not is_known:
            self._known_bytes -= self.sizes.told[topic]
            self._asked_bytes -= self.sizes.asked[topic]

    def refreshed(self, age_ms: int, topics: int) -> None:
        """So many cached topics were refreshed at this age."""
        bucket = self._bucket
        bucket.refreshes += topics
        bucket.refresh_age_ms += age_ms * topics
        if age_ms > bucket.refresh_age_ms_max:
            bucket.refresh_age_ms_max = age_ms
        if age_ms > self.max_age_ms:
            bucket.refreshes_over_max_age += topics

    def served(self, at_ms: int, since_ms: int) -> None:
        """A topic that somebody waited for is there."""
        bucket = self._bucket
        bucket.blocked_ms += at_ms - since_ms
        bucket.blocked_ms_max = max(bucket.blocked_ms_max, at_ms - since_ms)

    def sized(self, at_ms: int, cached: int) -> None:
        """Other topics are cached from now on than before, and so many."""
        self._integrate(at_ms)
        change = cached - self._cached
        if change > 0:
            self._bucket.became_cached += change
        else:
            self._bucket.left_cache -= change
        self._cached = cached
        self._cached_size = None

    def closed(self, at_ms: int) -> None:
        """Nothing is known any more."""
        self.sized(at_ms, 0)
        self._known_bytes = self._asked_bytes = 0
        self._evicted_at.clear()
        self._was_known.clear()

    def _integrate(self, until_ms: int) -> None:
        self._bucket.cached_topic_ms += self._cached * (until_ms - self._sized_at)
        self._sized_at = until_ms

    def _close(self) -> None:
        bucket, sizes = self._bucket, self.sizes
        if self._requests:
            asked = sorted(self._requests)
            bucket.request_topics_p50 = _percentile(asked, 50)
            bucket.request_topics_p99 = _percentile(asked, 99)
        if self._cached_size is None:
            cached = self._cache.refreshed
            self._cached_size = (
                sum(sizes.partitions[topic] for topic in cached),
                sum(sizes.told[topic] for topic in cached),
            )
        bucket.cached_topics = self._cached
        bucket.cached_partitions, bucket.cached_bytes = self._cached_size
        if bucket != Bucket():
            self.rows.append((self._start, bucket))
        self._bucket = Bucket()
        self._requests = array("q")
        self._begin_seconds()


def row_of(bucket: Bucket) -> tuple[Any, ...]:
    return tuple(getattr(bucket, name) for name in COLUMNS)


def _percentile(ascending: Sequence[int], percent: int) -> int:
    """By nearest rank."""
    return ascending[max(-(-len(ascending) * percent // 100) - 1, 0)]
