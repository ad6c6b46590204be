"""The draft of KIP-526: topics age individually and are requested in batches of a target size."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from moldau.replays.cache import NEVER, Cache, Causes, Known, Request, Round, Topic


@dataclass(frozen=True)
class DraftRules:
    """The switches of a rule set that follows the draft (seeds/rule_sets.csv)."""

    multiplies: bool = False
    """The target is ten times the topics evicted a second, not a tenth of them."""
    evict_strict: bool = False
    pace_ms: int = 0
    """Between two requests that have topics which are not urgent."""
    mode: str = "single"
    """Whether a batch of the rest goes beside what is urgent: single, independent, sequential."""

    def non_urgent(self, target: int, urgent: int, rest: Sequence[Topic]) -> tuple[int, int]:
        """How many of the rest fill up a request, and how many are a batch of their own."""
        room = max(target - urgent, 0) if urgent else 0
        fill = min(room, len(rest))
        left = {
            "single": 0 if urgent else len(rest),
            "independent": len(rest),
            "sequential": len(rest) - fill,
        }[self.mode]
        if left < target:
            return fill, 0
        end = target if self.mode == "independent" else room + target
        return fill, min(end, len(rest)) - fill

    def target(self, cached: int, evict_ms: int) -> int:
        """Topics that a request that is not urgent asks for."""
        a_second = cached // (evict_ms // 1000)
        return max(a_second * 10 if self.multiplies else a_second // 10, 20)


@dataclass
class DraftCache(Cache):
    """`refreshed` is in order: oldest first, then by name."""

    rules: DraftRules = field(default_factory=DraftRules)

    def __post_init__(self) -> None:
        self.refreshed: OrderedDict[Topic, int] = OrderedDict()
        self._idle_ms = self.limits.evict_ms + self.rules.evict_strict
        self._half_ms = (self.limits.max_age_ms + 1) // 2
        self._unused: dict[Topic, tuple[int, int]] = {}  # last access, refreshes since then

    def start(self, known: Iterable[Known]) -> None:
        super().start(known)
        for topic in self.accessed:
            self._time_access(topic)
        self._put_in_order()

    def want(self, topic: Topic, at_ms: int) -> None:
        if topic not in self.accessed:
            self.watcher.known(topic)
        self.accessed[topic] = max(at_ms, self.accessed.get(topic, at_ms))
        self.waiting.setdefault(topic, at_ms)

    def abandon(self, topic: Topic) -> None:
        super().abandon(topic)
        self._time_access(topic)

    def drain(self, topic: Topic) -> None:
        super().drain(topic)
        self._time_access(topic)

    def close(self, at_ms: int) -> None:
        super().close(at_ms)
        self._unused.clear()

    def due(self, now: int) -> int:
        if self.in_flight is not None:
            return NEVER
        wake = self._fetch_due(now)
        allowed = self.failed_at + self.limits.retry_backoff_ms
        if allowed > wake:
            wake = allowed
        if self._idle:
            forgotten = self._idle[0][0] + self._idle_ms
            if forgotten < wake:
                wake = forgotten
        return wake if wake > now else now

    def round(self, now: int) -> Round:
        if self.in_flight is not None:
            return Round([])
        done = Round(self._evict(now))
        if now >= self.failed_at + self.limits.retry_backoff_ms:
            done.request = self.in_flight = self._chosen(now)
        return done

    def answer(self, at_ms: int, failing: Collection[Topic]) -> list[Topic]:
        request = self.in_flight
        assert request is not None
        self.in_flight = None
        is_behind = bool(self.refreshed) and next(reversed(self.refreshed.values())) >= at_ms
        are_others = False
        for topic in sorted(request.topics or ()):
            if self.notified.get(topic, NEVER) <= request.at_ms:
                del self.notified[topic]
            if topic in failing:
                are_others |= self.refreshed.pop(topic, None) is not None
                self._unused.pop(topic, None)
                self.failed_at = at_ms
            else:
                are_others |= topic not in self.refreshed
                self._refresh(topic, at_ms, topic in request.for_demand)
            self._time_access(topic)
        if is_behind:
            self._put_in_order()
        if are_others:
            self.watcher.sized(at_ms, len(self.refreshed))
        return []

    def urgent(self, now: int) -> dict[Topic, str]:
        """T, each topic with the first of its causes."""
        found = dict.fromkeys(self._wanted(), "new")
        for topic in self.notified:
            found.setdefault(topic, "notified")
        latest = now - self.limits.max_age_ms
        for topic, at_ms in self.refreshed.items():
            if at_ms > latest:
                break
            found.setdefault(topic, "stale")
        return found

    def non_urgent(self, now: int, urgent: Collection[Topic]) -> Iterator[Topic]:
        """U, oldest first."""
        latest = now - self._half_ms
        for topic, at_ms in self.refreshed.items():
            if at_ms > latest:
                return
            if topic not in urgent:
                yield topic

    def target(self) -> int:
        return self.rules.target(len(self.refreshed), self.limits.evict_ms)

    def _refresh(self, topic: Topic, at_ms: int, for_demand: bool) -> None:
        last = self.refreshed.get(topic)
        self.refreshed[topic] = at_ms
        self.refreshed.move_to_end(topic)
        if last is not None:
            self.watcher.refreshed(at_ms - last, 1)
            accessed = self.accessed[topic]
            of, unused = self._unused.get(topic, (accessed, 0))
            self._unused[topic] = (accessed, unused + 1 if of == accessed else 1)
        if for_demand:
            self.accessed[topic] = max(at_ms, self.accessed[topic])
        if (since := self.waiting.pop(topic, None)) is not None:
            self.watcher.served(at_ms, since)

    def _wanted(self) -> set[Topic]:
        """T1: not cached, and there is demand."""
        if not self.held:
            return set(self.waiting)
        return {*self.waiting, *(one for one in self.held if one not in self.refreshed)}

    def _chosen(self, now: int) -> Request | None:
        target = self.target()
        urgent = self.urgent(now)
        if not urgent and now < self._batch_due(target):
            return None
        rest: list[Topic] = []
        if now >= self.paced_at + self.rules.pace_ms:
            is_filled = urgent and self.rules.mode == "single"
            enough = max(target - len(urgent), 0) if is_filled else 2 * target
            rest = list(islice(self.non_urgent(now, urgent), enough))
        fill, oldest = self.rules.non_urgent(target, len(urgent), rest)
        if fill + oldest:
            self.paced_at = now
        chosen = [*sorted(urgent), *rest[: fill + oldest]]
        why = list(urgent.values())
        wanted = why.count("new")
        causes = Causes(wanted, why.count("notified"), why.count("stale"), fill, oldest)
        for_demand = frozenset(list(urgent)[:wanted])  # they come first
        return Request(now, chosen, len(chosen), causes, for_demand)

    def _fetch_due(self, now: int) -> int:
        if self.notified or self.waiting or (self.held and self._wanted()):
            return now
        if not self.refreshed:
            return NEVER
        oldest = next(iter(self.refreshed.values()))
        return min(oldest + self.limits.max_age_ms, self._batch_due(self.target()))

    def _batch_due(self, target: int) -> int:
        """When a target of topics are in U, if none is urgent before."""
        ages = self.refreshed.values()
        if len(ages) < target:
            return NEVER
        due = next(islice(ages, target - 1, None)) + self._half_ms
        return max(due, self.paced_at + self.rules.pace_ms)

    def _evict(self, now: int) -> list[Topic]:
        evicted = []
        latest = now - self._idle_ms
        for topic in self._timed_until(latest):
            if self.accessed[topic] > latest:
                self._time_access(topic)
                continue
            is_cached = topic in self.refreshed
            has_demand = topic in self.waiting or topic in self.held
            if has_demand and not is_cached:
                continue  # it never goes
            accessed = self.accessed[topic]
            self.notified.pop(topic, None)
            self.refreshed.pop(topic, None)
            of, unused = self._unused.pop(topic, (accessed, 0))
            if not has_demand:
                del self.accessed[topic]
            evicted.append(topic)
            wasted = unused if of == accessed else 0
            self.watcher.evicted(now, topic, is_cached, has_demand, now - accessed, wasted)
        if evicted:
            self.watcher.sized(now, len(self.refreshed))
        return evicted

    def _time_access(self, topic: Topic) -> None:
        if topic in self.accessed:
            self._time(topic, self.accessed[topic])

    def _put_in_order(self) -> None:
        in_order = sorted(self.refreshed.items(), key=lambda one: (one[1], one[0]))
        self.refreshed = OrderedDict(in_order)
