"""The clock of a replay: it goes from event to event, and to ticks at which something is due."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from moldau.replays.cache import NEVER, Cache, Known, Round, Topic
from moldau.replays.measures import Measures

# What events do to a replay. Requests of the log are those of its own client, and not looked at
CODES = (
    "refreshed", "topic_error", "request_failed", "access", "demand", "demand_served",
    "demand_abandoned", "notice", "closed",
)  # fmt: skip
REFRESHED, TOPIC_ERROR, FAILED, ACCESS, DEMAND, SERVED, ABANDONED, NOTICE, CLOSED = range(9)
Told = Callable[[int, Round], None]


@dataclass(frozen=True)
class Span:
    """Rounds are at `from_ms`, each tick after it, and before `to_ms`."""

    from_ms: int
    to_ms: int
    tick_ms: int
    round_trip_ms: int = 0
    """From a request to its answer; 0 = at once."""


@dataclass(frozen=True)
class Log:
    """Events of one producer in order; columns of the same length."""

    at_ms: Sequence[int]
    codes: Sequence[int]
    topics: Sequence[Topic]


@dataclass
class Clock:
    """Moves a cache through a log. At one instant events come first, then an answer, a round last.

    A topic answers with an error while the latest that the log tells of it is one.
    """

    span: Span
    cache: Cache
    measures: Measures
    tell: Told | None = None
    """Is told of rounds that did something, and of answers by which topics are forgotten."""

    def start(
        self,
        known: Sequence[Known],
        failed_at_ms: int | None = None,
        paced_at_ms: int | None = None,
    ) -> None:
        """What is known at the begin, and when something last failed or was not urgent."""
        self._failing = {one.topic for one in known if one.is_in_error}
        self.measures.begin(self.span.from_ms, self.cache)
        self.cache.start(known)
        self.measures.began()
        if failed_at_ms is not None:
            self.cache.fail(failed_at_ms)
        if paced_at_ms is not None:
            self.cache.paced_at = paced_at_ms

    def run(self, log: Log) -> None:
        cache, measures = self.cache, self.measures
        self._answer_at = NEVER
        self._next_tick = self.span.from_ms
        self._round_at = self._next_round(self.span.from_ms)
        act_at = self._round_at
        limit = self.cache.limits.max_age_ms
        accessed = cache.accessed
        uses = ages = oldest = over = 0
        for at_ms, code, topic in zip(log.at_ms, log.codes, log.topics, strict=True):
            if act_at < at_ms or measures.ends_at <= at_ms:
                measures.used(uses, ages, oldest, over)
                uses = ages = oldest = over = 0
                while act_at < at_ms:
                    act_at = self._act(act_at)
                measures.roll(at_ms)
            if code in (ACCESS, DEMAND):
                last = cache.refreshed.get(topic)
                if last is not None:
                    if at_ms > accessed[topic]:
                        accessed[topic] = at_ms
                    if code == DEMAND:
                        cache.held.add(topic)
                    if last < cache.full_at:
                        last = cache.full_at
                    age = at_ms - last
                    uses += 1
                    ages += age
                    if age > oldest:
                        oldest = age
                    if age > limit:
                        over += 1
                    continue
            self._happen(at_ms, code, topic)
            self._round_at = self._next_round(at_ms)
            act_at = min(self._answer_at, self._round_at)
        measures.used(uses, ages, oldest, over)
        while act_at < self.span.to_ms:
            act_at = self._act(act_at)
        measures.end(self.span.to_ms)

    def _happen(self, at_ms: int, code: int, topic: Topic) -> None:
        cache = self.cache
        if code in (ACCESS, DEMAND):
            if topic not in cache.waiting:
                self.measures.missed(at_ms, topic)
            cache.want(topic, at_ms)
        elif code == NOTICE:
            cache.notice(topic, at_ms)
        elif code == SERVED:
            cache.drain(topic)
        elif code == ABANDONED:
            cache.abandon(topic)
        elif code == REFRESHED:
            self._failing.discard(topic)
            cache.drain(topic)
        elif code == TOPIC_ERROR:
            self._failing.add(topic)
        elif code == FAILED:
            if cache.in_flight is not None:
                self.measures.failed()
                self._answer_at = NEVER
            cache.fail(at_ms)
        else:
            self._answer_at = NEVER
            cache.close(at_ms)

    def _act(self, now: int) -> int:
        """The answer, or round, that comes at this instant; gives when the next one does."""
        if self.measures.ends_at <= now:
            self.measures.roll(now)
        if self._answer_at == now:
            self._answer(now)
        else:
            self._next_tick = now + self.span.tick_ms
            done = self.cache.round(now)
            if self.tell is not None and (done.evicted or done.request):
                self.tell(now, done)
            if done.request is not None:
                self._told = self.measures.sent(done.request)
                self._answer_at = now + self.span.round_trip_ms
                if self._answer_at == now:
                    self._answer(now)
        self._round_at = self._next_round(now)
        return min(self._answer_at, self._round_at)

    def _answer(self, now: int) -> None:
        request = self.cache.in_flight
        assert request is not None
        self._answer_at = NEVER
        self.measures.answered(now, request, self._told, self._failing)
        evicted = self.cache.answer(now, self._failing)
        if self.tell is not None and evicted:
            self.tell(now, Round(evicted))

    def _next_round(self, now: int) -> int:
        """The first tick at which something may be due."""
        due = self.cache.due(now)
        if due < self._next_tick:
            due = self._next_tick
        if due >= self.span.to_ms:
            return NEVER
        return due + (self.span.from_ms - due) % self.span.tick_ms
