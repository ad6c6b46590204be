"""The behaviour of Kafka's own producer: 2.5 and later, and before 2.5."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from moldau.replays.cache import LONG_AGO, NEVER, Cache, Causes, Known, Request, Round, Topic


@dataclass(frozen=True)
class KafkaRules:
    """The switches of a rule set that follows Kafka's producer (seeds/rule_sets.csv)."""

    asks_for_new_alone: bool = True
    """New topics are asked for alone (2.5 and later), and not with every known one."""
    idle_from_answer: bool = False
    """A topic is idle from the first answer after its last access (before 2.5)."""
    reads_max_idle: bool = True
    evict_strict: bool = False


@dataclass
class KafkaCache(Cache):
    """Topics are forgotten while an answer is handled, and only then.

    `failed_at` is Kafka's `lastRefreshMs`: the last answer or failure, whatever it was. An answer
    that tells of every topic costs what it changes: `full_at` alone says that all are refreshed.
    """

    rules: KafkaRules = field(default_factory=KafkaRules)

    def __post_init__(self) -> None:
        self._needs_full = False
        self._new: set[Topic] = set()  # that no answer has told of
        self._uncached: set[Topic] = set()
        self._added: set[Topic] = set()  # that became known while the request was under way
        self._full_answers: list[int] = []
        self._asked_again: dict[Topic, int] = {}  # accessed just after the answer at that instant
        self._given: set[Topic] = set()  # that were cached before the first answer
        self._is_uneven = True  # some topics were refreshed after `full_at`
        # clocks that ran at the begin, with the access they are of
        self._clocks: dict[Topic, tuple[int, int | None]] = {}
        self._idle_ms = self.idle_limit_ms + self.rules.evict_strict

    @property
    def idle_limit_ms(self) -> int:
        if self.rules.reads_max_idle and self.limits.max_idle_ms is not None:
            return self.limits.max_idle_ms
        return self.limits.evict_ms

    def start(self, known: Iterable[Known]) -> None:
        known = list(known)
        super().start(known)
        self._uncached = self.accessed.keys() - self.refreshed.keys()
        self._given = set(self.refreshed)
        self._new = {one.topic for one in known if one.topic in self.waiting} - {
            one.topic for one in known if one.is_in_error
        }
        self._needs_full = bool(self.notified) or self.waiting.keys() != self._new
        for one in known:
            accessed = one.last_access_at_ms
            is_cached = one.last_refresh_at_ms is not None
            since = one.idle_since_at_ms if is_cached else accessed
            self._clocks[one.topic] = (accessed, since)
            self._time(one.topic, accessed + self._idle_ms)
        # each full answer refreshes all, so the topic that waits longest tells of the last one
        self.full_at = min(self.refreshed.values(), default=LONG_AGO)

    def want(self, topic: Topic, at_ms: int) -> None:
        self._access(topic, at_ms)
        self.waiting.setdefault(topic, at_ms)
        self._needs_full |= topic not in self._new

    def notice(self, topic: Topic, at_ms: int) -> None:
        super().notice(topic, at_ms)
        self._needs_full |= topic in self.accessed and topic not in self._new

    def close(self, at_ms: int) -> None:
        super().close(at_ms)
        self.__post_init__()

    def due(self, now: int) -> int:
        if self.in_flight is not None or not self.accessed:
            return NEVER
        if self._needs_full or self._new:
            wanted = now
        elif self.refreshed:
            wanted = self.full_at + self.limits.max_age_ms
        else:
            return NEVER
        return max(wanted, self.failed_at + self.limits.retry_backoff_ms, now)

    def round(self, now: int) -> Round:
        if self.due(now) > now:
            return Round([])
        is_stale = bool(self.refreshed) and self.full_at + self.limits.max_age_ms <= now
        is_full = is_stale or self._needs_full or not self.rules.asks_for_new_alone
        topics = None if is_full else sorted(self._new)
        size = len(self.accessed) if topics is None else len(topics)
        wanted = frozenset(one for one in self.waiting if is_full or one in self._new)
        notified = stale = 0
        if is_full:
            noticed = self.notified.keys() - wanted
            notified = len(noticed)
            if is_stale:
                stale = len(self.refreshed) - len(noticed & self.refreshed.keys())
        fill = size - len(wanted) - notified - stale
        causes = Causes(len(wanted), notified, stale, fill)
        self._added.clear()
        self.in_flight = Request(now, topics, size, causes, wanted)
        return Round([], self.in_flight)

    def answer(self, at_ms: int, failing: Collection[Topic]) -> list[Topic]:
        request = self.in_flight
        assert request is not None
        self.in_flight = None
        self.failed_at = at_ms
        if request.topics is None:
            later = {one: told for one, told in self.notified.items() if told > request.at_ms}
            self.notified = later
            self._needs_full = bool(later)
        evicted = self._forget(at_ms, request)
        are_others = bool(evicted)
        if request.topics is None:
            for topic in failing:
                if self.refreshed.pop(topic, None) is not None:
                    are_others = True
                    self._uncached.add(topic)
                    self._given.discard(topic)
            self._full_answers.append(at_ms)
            self._tell_ages(at_ms)
        for topic in self._told(request):
            self._new.discard(topic)
            if topic in failing:
                self._needs_full = True
            else:
                are_others |= topic not in self.refreshed
                self.refreshed[topic] = at_ms
                self._uncached.discard(topic)
                if (since := self.waiting.pop(topic, None)) is not None:
                    self.watcher.served(at_ms, since)
        self._is_uneven = request.topics is not None
        if request.topics is None or self.full_at == LONG_AGO:
            self.full_at = at_ms  # the first answer tells of all that is known
        self._ask_again(at_ms)
        if are_others:
            self.watcher.sized(at_ms, len(self.refreshed))
        return evicted

    def has_asked(self, request: Request, topic: Topic) -> bool:
        is_late = request.topics is None and topic in self._added
        return not is_late and super().has_asked(request, topic)

    def _access(self, topic: Topic, at_ms: int) -> None:
        if topic not in self.accessed:
            self._new.add(topic)
            self._uncached.add(topic)
            self._added.add(topic)
            self.failed_at = LONG_AGO  # a new topic waits for no back-off
            self.watcher.known(topic)
            self._time(topic, at_ms + self._idle_ms)
        self.accessed[topic] = max(at_ms, self.accessed.get(topic, at_ms))

    def _ask_again(self, at_ms: int) -> None:
        """Whoever still waits after an answer, or has data for a topic that is gone."""
        if not (self.waiting or self.held):
            return
        for topic in {*self.waiting, *(one for one in self.held if one not in self.refreshed)}:
            self._access(topic, at_ms)
            self._asked_again[topic] = at_ms
            if topic in self._new:
                self.failed_at = LONG_AGO
            else:
                self._needs_full = True

    def _told(self, request: Request) -> list[Topic]:
        """Of the topics that were asked for and are known, those that are not cached yet."""
        if request.topics is None:
            return sorted(self._uncached - self._added)
        return [topic for topic in request.topics if topic in self.accessed]

    def _tell_ages(self, at_ms: int) -> None:
        if self._is_uneven:
            for refreshed_at_ms in self.refreshed.values():
                self.watcher.refreshed(at_ms - max(refreshed_at_ms, self.full_at), 1)
        elif self.refreshed:
            self.watcher.refreshed(at_ms - self.full_at, len(self.refreshed))

    def _expires_at(self, topic: Topic, now: int) -> int:
        """When the topic is forgotten, if nobody uses it after now."""
        accessed = since = self.accessed[topic]
        if self.rules.idle_from_answer:
            of, clock = self._clocks.get(topic, (NEVER, None))
            if of == accessed and clock is not None:
                since = clock
            else:
                is_later = self._asked_again.get(topic) == accessed
                place = (bisect_right if is_later else bisect_left)(self._full_answers, accessed)
                answers = self._full_answers
                since = answers[place] if place < len(answers) else now
        return since + self._idle_ms

    def _forget(self, now: int, request: Request) -> list[Topic]:
        """A new topic is kept whatever its clock says, and one that the answer has nothing of."""
        evicted = []
        kept = []
        for topic in self._timed_until(now):
            is_told = topic in self.refreshed or request.topics is None or topic in request.topics
            if topic in self._new or not is_told:
                kept.append(topic)
            elif (expires_at_ms := self._expires_at(topic, now)) > now:
                self._time(topic, expires_at_ms)
            else:
                self._forget_one(topic, now)
                evicted.append(topic)
        for topic in kept:
            self._time(topic, now)
        return evicted

    def _forget_one(self, topic: Topic, now: int) -> None:
        accessed = self.accessed.pop(topic)
        first = self.refreshed.pop(topic, None)
        self._asked_again.pop(topic, None)
        self._clocks.pop(topic, None)
        self._uncached.discard(topic)
        self.notified.pop(topic, None)
        wasted = 0
        if first is not None:
            answers = self._full_answers
            used = bisect_left(answers, accessed)
            if topic not in self._given:
                used = max(used, bisect_right(answers, first))
            wasted = len(answers) - used
        self._given.discard(topic)
        self.watcher.evicted(now, topic, first is not None, False, now - accessed, wasted)
