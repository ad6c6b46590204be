"""The rules of producers' metadata, instant by instant and with every topic looked at each time.

Written from the specification (1.5, 2.3, 2.4, 5.6, 5.7) without a look at how `moldau.replays`
does it: no clocks in heaps, no order that is kept, no tick left out.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

Event = tuple[int, str, str]  # instant, event, topic
AT_ONE_INSTANT = (
    "refreshed", "topic_error", "request_failed", "access", "demand", "demand_served",
    "demand_abandoned", "notice", "closed",
)  # fmt: skip


@dataclass
class Row:
    accessed: int
    refreshed: int | None = None
    notified: int | None = None
    waits_since: int | None = None
    is_held: bool = False
    is_new: bool = False  # Kafka: no answer has told of it
    idle_since: int | None = None  # before 2.5: None = no answer since the last access
    unused: int = 0  # refreshes since the last access

    @property
    def has_demand(self) -> bool:
        return self.is_held or self.waits_since is not None


@dataclass
class Naive:
    """One producer under one rule set; `switches` as in seeds/rule_sets.csv."""

    switches: dict[str, Any]
    evict_ms: int
    max_age_ms: int
    backoff_ms: int
    max_idle_ms: int | None
    bucket_ms: int
    rows: dict[str, Row] = field(default_factory=dict)
    failed_at: int | None = None
    full_at: int | None = None
    needs_full: bool = False
    paced_at: int | None = None
    in_flight: tuple[int, list[str], set[str], bool] | None = None
    failing: set[str] = field(default_factory=set)
    evicted_at: dict[str, int] = field(default_factory=dict)
    were_known: set[str] = field(default_factory=set)
    counts: dict[int, Counter[str]] = field(default_factory=dict)
    partitions: dict[str, int] = field(default_factory=dict)
    told: Counter[tuple[int, int]] = field(default_factory=Counter)
    """Bytes of topics in answers by bucket and second."""
    requests: list[tuple[int, list[str]]] = field(default_factory=list)
    evictions: list[tuple[int, list[str]]] = field(default_factory=list)
    kept: dict[int, list[str]] = field(default_factory=dict)
    """Cached when the bucket ends."""

    @property
    def is_draft(self) -> bool:
        return self.switches["topics_requested"] == "subset"

    @property
    def idle_ms(self) -> int:
        if self.switches["reads_max_idle"] == "true" and self.max_idle_ms is not None:
            return self.max_idle_ms
        return self.evict_ms

    def cached(self) -> list[str]:
        return [name for name, row in self.rows.items() if row.refreshed is not None]

    def count(self, now: int, **counts: int) -> None:
        self.counts.setdefault(now // self.bucket_ms, Counter()).update(counts)

    def begin(self, known: dict[str, Row]) -> None:
        self.rows = known
        self.were_known = set(known)
        refreshed = [row.refreshed for row in known.values() if row.refreshed is not None]
        self.full_at = min(refreshed, default=None)
        for name, row in known.items():
            is_wanted = row.refreshed is None and row.has_demand
            row.is_new = is_wanted and name not in self.failing
            self.needs_full |= row.notified is not None or (is_wanted and name in self.failing)
            if row.refreshed is None:
                row.idle_since = row.accessed

    def happen(self, now: int, event: str, topic: str) -> None:
        row = self.rows.get(topic)
        match event:
            case "access" | "demand":
                self._use(now, topic, event == "demand")
            case "notice" if row:
                row.notified = now
                self.needs_full |= not row.is_new
            case "demand_served" if row:
                row.is_held = False
            case "demand_abandoned" if row:
                row.is_held, row.waits_since = False, None
            case "refreshed":
                self.failing.discard(topic)
                if row:
                    row.is_held = False
            case "topic_error":
                self.failing.add(topic)
            case "request_failed":
                self.count(now, failed_requests=int(self.in_flight is not None))
                self.in_flight, self.failed_at = None, now
            case "closed":
                self.rows.clear()
                self.evicted_at.clear()
                self.were_known.clear()
                self.in_flight = self.full_at = self.failed_at = None
                self.needs_full = False

    def _use(self, now: int, topic: str, is_demand: bool) -> None:
        row = self.rows.get(topic)
        if row and row.refreshed is not None:
            self.count(now, uses=1, use_age_ms=now - row.refreshed)
            self.count(now, uses_over_max_age=int(now - row.refreshed > self.max_age_ms))
            row.is_held |= is_demand
        elif not row or row.waits_since is None:
            evicted_at = self.evicted_at.pop(topic, None)
            is_late = evicted_at is not None and now - evicted_at <= self.idle_ms
            is_first = topic not in self.were_known
            self.count(now, misses=1, first_misses=int(is_first), regrets=int(is_late))
        self._access(now, topic)
        row = self.rows[topic]
        if row.refreshed is None:
            row.waits_since = now if row.waits_since is None else row.waits_since
            self.needs_full |= not row.is_new

    def _access(self, now: int, topic: str) -> None:
        if topic not in self.rows:
            self.rows[topic] = Row(now, is_new=True)
            if not self.is_draft:
                self.failed_at = None
        self.were_known.add(topic)
        row = self.rows[topic]
        if now > row.accessed:
            row.accessed, row.idle_since, row.unused = now, None, 0

    def is_idle(self, now: int, topic: str) -> bool:
        row = self.rows[topic]
        since: int | None = row.accessed
        if self.switches["idle_from"] == "answer":
            since = row.idle_since
        strictly = self.switches["evict_strict"] == "true"
        limit = self.evict_ms if self.is_draft else self.idle_ms
        return since is not None and now - since >= limit + strictly

    def _evict(self, now: int, topics: list[str]) -> None:
        for topic in topics:
            row = self.rows[topic]
            self.count(now, evictions=1)
            if row.refreshed is not None:
                self.evicted_at[topic] = now
                idle = now - row.accessed
                self.count(now, wasted_refreshes=row.unused, idle_topic_ms=idle)
            row.refreshed = row.notified = None
            row.unused = 0
            if not (self.is_draft and row.has_demand):
                del self.rows[topic]
        if topics:
            self.evictions.append((now, sorted(topics)))

    def round(self, now: int) -> None:
        if self.is_draft and not self.in_flight:
            self._evict(
                now,
                [
                    topic
                    for topic, row in self.rows.items()
                    if self.is_idle(now, topic)
                    and (row.refreshed is not None or not row.has_demand)
                ],
            )
        if self.in_flight or (
            self.failed_at is not None and now - self.failed_at < self.backoff_ms
        ):
            return
        chosen, is_full = self._draft_choice(now) if self.is_draft else self._kafka_choice(now)
        if not chosen:
            return
        wanted = {
            topic
            for topic in chosen
            if self.rows[topic].refreshed is None
            and (self.rows[topic].has_demand if self.is_draft else self._waits(topic))
        }
        self.in_flight = (now, chosen, wanted, is_full)
        self.requests.append((now, sorted(chosen)))
        self.count(now, requests=1, topics=len(chosen), blocking_fetches=len(wanted))

    def _waits(self, topic: str) -> bool:
        return self.rows[topic].waits_since is not None

    def _draft_choice(self, now: int) -> tuple[list[str], bool]:
        a_second = len(self.cached()) // (self.evict_ms // 1000)
        by_ten = a_second * 10 if self.switches["target_factor"] == "*10" else a_second // 10
        target = max(by_ten, 20)

        def age(topic: str) -> int:
            return now - (self.rows[topic].refreshed or 0)

        urgent = [
            topic
            for topic, row in self.rows.items()
            if (row.refreshed is None and row.has_demand)
            or row.notified is not None
            or (row.refreshed is not None and age(topic) >= self.max_age_ms)
        ]
        rest = [t for t in self.cached() if t not in urgent and 2 * age(t) >= self.max_age_ms]
        rest.sort(key=lambda topic: (-age(topic), topic))
        pace = int(self.switches["pace_ms"] or 0)
        if pace and self.paced_at is not None and now - self.paced_at < pace:
            rest = []
        room = max(target - len(urgent), 0) if urgent else 0
        left = {
            "single": [] if urgent else rest,
            "independent": rest,
            "sequential": rest[room:],
        }[self.switches["rule_mode"]]
        batch = left[:target] if len(left) >= target else []
        chosen = [topic for topic in rest if topic in rest[:room] or topic in batch]
        if chosen:
            self.paced_at = now
        return urgent + chosen, False

    def _kafka_choice(self, now: int) -> tuple[list[str], bool]:
        new = [topic for topic, row in self.rows.items() if row.is_new]
        is_stale = (
            bool(self.cached())
            and self.full_at is not None
            and now - self.full_at >= self.max_age_ms
        )
        if not (self.needs_full or is_stale or new):
            return [], False
        alone = self.switches["topics_requested"] == "new_or_all"
        if alone and not (self.needs_full or is_stale):
            return new, False
        return list(self.rows), True

    def answer(self, now: int) -> None:
        assert self.in_flight
        sent, asked, wanted, is_full = self.in_flight
        self.in_flight = None
        size = sum(
            10 + len(topic) + (0 if topic in self.failing else 42 * self.partitions[topic])
            for topic in asked
        )
        self.count(now, bytes=size)
        self.told[now // self.bucket_ms, now // 1000] += size
        if not self.is_draft:
            self._kafka_answer(now, sent, asked, is_full)
            return
        for topic in asked:
            row = self.rows.get(topic)
            if row is None:
                continue
            if row.notified is not None and row.notified <= sent:
                row.notified = None
            if topic in self.failing:
                row.refreshed, row.unused, self.failed_at = None, 0, now
            else:
                self._refresh(now, row)
                if topic in wanted and now > row.accessed:
                    row.accessed, row.unused = now, 0

    def _refresh(self, now: int, row: Row) -> None:
        if row.refreshed is not None:
            self.count(now, refreshes=1, refresh_age_ms=now - row.refreshed)
            row.unused += 1
        row.refreshed = now
        if row.waits_since is not None:
            self.count(now, blocked_ms=now - row.waits_since)
            row.waits_since = None

    def _kafka_answer(self, now: int, sent: int, asked: list[str], is_full: bool) -> None:
        self.failed_at = now
        if is_full:
            self.needs_full = False
            for row in self.rows.values():
                if row.notified is not None and row.notified <= sent:
                    row.notified = None
                self.needs_full |= row.notified is not None
        idle = [
            topic
            for topic, row in self.rows.items()
            if self.is_idle(now, topic)
            and not row.is_new
            and (topic in asked or row.refreshed is not None)
        ]
        wanted = {topic: self.rows[topic] for topic in idle if self.rows[topic].has_demand}
        self._evict(now, idle)
        for topic in asked:
            if topic in self.rows:
                row = self.rows[topic]
                row.is_new = False
                if topic in self.failing:
                    row.refreshed, row.unused, self.needs_full = None, 0, True
                else:
                    self._refresh(now, row)
        if is_full or self.full_at is None:
            self.full_at = now
        if is_full:
            for row in self.rows.values():
                row.idle_since = now if row.idle_since is None else row.idle_since
        for topic in sorted({*wanted, *self.rows}):
            row = self.rows.get(topic)
            if row and (row.refreshed is not None or not row.has_demand):
                continue
            self._access(now, topic)
            row = self.rows[topic]
            if topic in wanted:
                row.is_held, row.waits_since = wanted[topic].is_held, wanted[topic].waits_since
            if row.is_new:
                self.failed_at = None
            else:
                self.needs_full = True


def replay(
    naive: Naive,
    known: dict[str, Row],
    events: list[Event],
    span: tuple[int, int],
    tick_ms: int,
    round_trip_ms: int,
) -> None:
    """Every instant of the span at which an event, an answer or a tick is, one after another."""
    naive.begin(known)
    answer_at = None
    by_instant: dict[int, list[Event]] = {}
    for event in sorted(events, key=lambda one: (one[0], AT_ONE_INSTANT.index(one[1]), one[2])):
        by_instant.setdefault(event[0], []).append(event)
    last_cached = len(naive.cached())
    for now in range(*span):
        for at_ms, event, topic in by_instant.get(now, ()):
            naive.happen(at_ms, event, topic)
            if naive.in_flight is None:
                answer_at = None
        if answer_at == now:
            answer_at = None
            naive.answer(now)
        if (now - span[0]) % tick_ms == 0:
            naive.round(now)
            if naive.in_flight and naive.in_flight[0] == now:
                answer_at = now + round_trip_ms
                if round_trip_ms == 0:
                    answer_at = None
                    naive.answer(now)
        naive.kept[now // naive.bucket_ms] = naive.cached()
        cached = len(naive.cached())
        naive.count(now, cached_topic_ms=cached, cached_change=cached - last_cached)
        last_cached = cached
