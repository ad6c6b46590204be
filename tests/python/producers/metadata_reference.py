"""A round of KIP-526 by plain loops, and of what Kafka shipped: an oracle that knows no SQL.

Written from the rules as the specification reads them, one producer at a time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

SMALLEST_TARGET = 20


@dataclass(frozen=True)
class Rules:
    """What a producer decides under."""

    ruleset: str = "kip_526_draft"
    requests: str = "subset"  # subset, new_or_all, all
    multiplies: bool = False
    mode: str = "single"
    is_strict: bool = False
    counts_from_answer: bool = False
    pace_ms: int | None = None
    evict_ms: int = 300_000
    idle_ms: int = 300_000
    max_age_ms: int = 300_000
    backoff_ms: int = 100


DRAFT = Rules()
REVISED = Rules("kip_526_revised", multiplies=True)
KAFKA_2_5 = Rules("kafka_2_5", requests="new_or_all")
BEFORE_2_5 = Rules("before_2_5", requests="all", counts_from_answer=True)
PACED = Rules("paced", multiplies=True, pace_ms=10_000)
RULE_SETS = (DRAFT, REVISED, KAFKA_2_5, BEFORE_2_5, PACED)


@dataclass(frozen=True)
class Topic:
    """Instants in milliseconds; `refreshed` None = nothing is cached."""

    accessed: int
    refreshed: int | None = None
    has_demand: bool = False
    notified: int | None = None
    is_in_error: bool = False
    first_answer: int | None = None  # since the last access; None = as a snapshot tells it

    def answered_since_access(self) -> int | None:
        if self.first_answer is not None:
            return self.first_answer
        if self.refreshed is None or self.refreshed < self.accessed:
            return None
        return self.refreshed


@dataclass(frozen=True)
class Producer:
    topics: Mapping[str, Topic] = field(default_factory=dict)
    in_flight_since: int | None = None
    failed_at: int | None = None
    closed_at: int | None = None
    not_urgent_at: int | None = None


@dataclass
class Round:
    reason: str = "NOTHING_DUE"
    cached: int = 0
    target: int | None = None
    evicted: set[str] = field(default_factory=set)
    urgent: set[str] = field(default_factory=set)
    other: set[str] = field(default_factory=set)
    fetched: list[str] = field(default_factory=list)
    reasons: dict[str, str] = field(default_factory=dict)
    decisions: dict[str, str] = field(default_factory=dict)


def target_of(cached: int, rules: Rules) -> int:
    per_second = cached // (rules.evict_ms // 1000)
    return max(per_second * 10 if rules.multiplies else per_second // 10, SMALLEST_TARGET)


def is_idle(topic: Topic, now: int, rules: Rules) -> bool:
    since: int | None = topic.accessed
    if rules.counts_from_answer and topic.refreshed is not None:
        since = topic.answered_since_access()
    if since is None:
        return False
    return now - since > rules.idle_ms if rules.is_strict else now - since >= rules.idle_ms


def held(producer: Producer, now: int, rules: Rules) -> str | None:
    if producer.closed_at is not None:
        return "CLOSED"
    if producer.in_flight_since is not None:
        return "REQUEST_IN_FLIGHT"
    if producer.failed_at is not None and now - producer.failed_at < rules.backoff_ms:
        return "BACKING_OFF"
    return None


def decide_round(producer: Producer, now: int, rules: Rules) -> Round:
    found = Round()
    hold = held(producer, now, rules)
    topics = dict(producer.topics) if hold != "CLOSED" else {}
    forgettable = {
        name
        for name, topic in topics.items()
        if is_idle(topic, now, rules) and not (topic.refreshed is None and topic.has_demand)
    }
    left = dict(topics)
    if rules.requests == "subset" and hold != "REQUEST_IN_FLIGHT":
        found.evicted = set(forgettable)
        for name in forgettable:
            if topics[name].has_demand:
                left[name] = replace(topics[name], refreshed=None, notified=None)
            else:
                del left[name]
    cached = {name: topic for name, topic in left.items() if topic.refreshed is not None}
    found.cached = len(cached)
    ages = {name: now - (topic.refreshed or 0) for name, topic in cached.items()}
    oldest = max(ages.values(), default=-1)
    clauses = {}
    for name, topic in left.items():
        age = ages.get(name, -1) if rules.requests == "subset" else oldest
        if topic.refreshed is None and topic.has_demand:
            clauses[name] = "NEW"
        elif topic.notified is not None:
            clauses[name] = "NOTIFIED"
        elif name in cached and age >= rules.max_age_ms:
            clauses[name] = "STALE"
    found.urgent = set(clauses)
    if rules.requests == "subset":
        found.target = target_of(found.cached, rules)
        found.other = {
            name
            for name, age in ages.items()
            if name not in clauses and 2 * age >= rules.max_age_ms
        }
        riding, batch = _of_the_rest(found, producer, now, rules)
    else:
        asks_for_all = bool({"NOTIFIED", "STALE"} & set(clauses.values())) or any(
            clause == "NEW" and (rules.requests == "all" or left[name].is_in_error)
            for name, clause in clauses.items()
        )
        found.other = set(left) - set(clauses) if asks_for_all else set()
        riding, batch = _by_age(found.other, left), []
    planned = [*sorted(found.urgent), *riding, *batch]
    is_sent = bool(planned) and hold is None
    found.fetched = planned if is_sent else []
    if rules.requests != "subset" and is_sent:
        # of what is neither cached nor asked for the answer has nothing
        found.evicted = forgettable & {*cached, *planned}
    found.reason = hold or ("FETCH" if is_sent else "NOTHING_DUE")
    for name, topic in topics.items():
        is_fetched = name in found.fetched
        if name in found.evicted:
            is_kept = is_fetched and topic.has_demand
            found.decisions[name] = "evict_and_fetch" if is_kept else "evict"
        else:
            found.decisions[name] = "fetch" if is_fetched else "keep"
        if found.decisions[name] == "evict":
            reason = "IDLE"
        elif name in planned and hold:
            reason = hold
        elif name in clauses:
            reason = clauses[name]
        elif name in riding:
            reason = "FILL"
        elif name in batch:
            reason = "OLDEST"
        elif name in found.other:
            reason = _why_left(found, producer, now, rules)
        else:
            reason = "FRESH" if name in cached else "UNWANTED"
        found.reasons[name] = reason
    return found


def _by_age(names: set[str], topics: Mapping[str, Topic]) -> list[str]:
    def key(name: str) -> tuple[int, str]:
        refreshed = topics[name].refreshed
        return (-1 if refreshed is None else refreshed, name)

    return sorted(names, key=key)


def _is_paced(producer: Producer, now: int, rules: Rules) -> bool:
    last = producer.not_urgent_at
    return rules.pace_ms is not None and last is not None and now - last < rules.pace_ms


def _of_the_rest(
    found: Round, producer: Producer, now: int, rules: Rules
) -> tuple[list[str], list[str]]:
    """Topics of U that ride along (F1), and those of a batch of their own (F2)."""
    assert found.target is not None
    waiting = _by_age(found.other, producer.topics)
    if _is_paced(producer, now, rules):
        return [], []
    riding = waiting[: max(found.target - len(found.urgent), 0)] if found.urgent else []
    if rules.mode == "independent":
        batch = waiting[: found.target] if len(waiting) >= found.target else []
        return riding, [name for name in batch if name not in riding]
    left = waiting[len(riding) :]
    may_go = rules.mode == "sequential" or not found.urgent
    return riding, left[: found.target] if may_go and len(left) >= found.target else []


def _why_left(found: Round, producer: Producer, now: int, rules: Rules) -> str:
    assert found.target is not None
    if _is_paced(producer, now, rules):
        return "PACED"
    is_batch = len(found.other) >= found.target
    return "OVER_TARGET" if found.urgent or is_batch else "NOT_DUE"
