"""What events say of a producer's topics, told one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from metadata_reference import Topic
from producer_support import Event

# of one millisecond
ORDER = (
    "access", "demand", "notice", "requested", "refreshed", "topic_error", "demand_served",
    "demand_abandoned", "request_failed", "closed",
)  # fmt: skip


@dataclass
class Known:
    accessed: int | None = None
    refreshed: int | None = None
    wanted: int | None = None
    notified: int | None = None
    requested: int | None = None
    last_answer: int | None = None
    last_demand: int | None = None
    last_end: int | None = None

    def answered_demand(self) -> int | None:
        """The last answer, if the last demand waited for it: an access, too."""
        if self.last_answer is None or self.last_demand is None:
            return None
        is_over = self.last_end is not None and self.last_demand <= self.last_end < self.last_answer
        return None if self.last_demand > self.last_answer or is_over else self.last_answer

    def row(self, first: int) -> dict[str, Any]:
        accesses = [it for it in (self.accessed, self.answered_demand()) if it is not None]
        return {
            "last_access_at_ms": max(accesses) if accesses else first,
            "last_refresh_at_ms": self.refreshed,
            "has_demand": self.wanted is not None,
            "notified_at_ms": self.notified,
        }


def topics_told(
    events: Iterable[Event], snapshot: Mapping[tuple[str, str], Topic]
) -> dict[str, dict[str, dict[str, Any]]]:
    """By producer and topic. A snapshot's row holds from its latest instant on."""
    in_order = sorted(events, key=lambda one: (one.at_ms, ORDER.index(one.event)))
    closed = {one.producer: one.at_ms for one in in_order if one.event == "closed"}
    by_topic: dict[tuple[str, str], list[Event]] = {key: [] for key in snapshot}
    for one in in_order:
        if one.topic and one.at_ms > closed.get(one.producer, -1):
            by_topic.setdefault((one.producer, one.topic), []).append(one)
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for (producer, topic), told in by_topic.items():
        start = snapshot.get((producer, topic))
        if start is not None and _taken(start) <= closed.get(producer, -1):
            start = None
        if start is None and not told:
            continue
        known = _tell(told, start)
        first = told[0].at_ms if told else 0
        found.setdefault(producer, {})[topic] = known.row(first)
    return found


def _taken(start: Topic) -> int:
    return max(start.accessed, start.refreshed or 0, start.notified or 0)


def _tell(told: Iterable[Event], start: Topic | None) -> Known:
    known, since = Known(), -1
    if start is not None:
        since = _taken(start)
        known.accessed, known.refreshed = start.accessed, start.refreshed
        known.notified = start.notified
        known.wanted = known.last_demand = start.accessed if start.has_demand else None
    for one in told:
        at = one.at_ms
        if one.event in ("access", "demand"):
            known.accessed = max(known.accessed or 0, at)
        if one.event == "requested":
            known.requested = at
        is_end = one.event in ("demand_served", "demand_abandoned")
        if at < since or (at == since and is_end):
            continue
        match one.event:
            case "demand":
                known.wanted = known.last_demand = at
            case "demand_served" | "demand_abandoned":
                known.wanted, known.last_end = None, at
            case "notice":
                known.notified = max(known.notified or 0, at)
            case "refreshed" | "topic_error":
                is_good = one.event == "refreshed"
                known.refreshed = at if is_good else None
                known.last_answer = at if is_good else known.last_answer
                left = at if known.requested is None else known.requested
                if known.notified is not None and known.notified <= left:
                    known.notified = None
    return known
