"""Producers in random states, at the edges of their limits more often than not."""

from __future__ import annotations

import random
from dataclasses import replace

from metadata_reference import RULE_SETS, Producer, Rules, Topic


def random_rules(chance: random.Random) -> Rules:
    rules = chance.choice(RULE_SETS)
    evict_ms = chance.choice([1000, 1999, 5000, 60_000, 300_000, 3_600_000])
    rules = replace(
        rules,
        evict_ms=evict_ms,
        idle_ms=evict_ms,
        max_age_ms=chance.choice([0, 1, 7, 1000, 299_999, 300_000]),
        backoff_ms=chance.choice([0, 100, 1000]),
        is_strict=chance.random() < 0.3,
    )
    if rules.requests == "subset":
        rules = replace(rules, mode=chance.choice(["single", "independent", "sequential"]))
        rules = replace(rules, multiplies=chance.random() < 0.5)
    elif rules.requests == "new_or_all" and chance.random() < 0.5:
        rules = replace(rules, idle_ms=chance.choice([5000, 60_000]))
    return rules


def random_producer(chance: random.Random, now: int, rules: Rules) -> Producer:
    count = chance.choice([0, 1, 3, 19, 20, 21, 25, 45])
    topics = {f"t{number:02}": _topic(chance, now, rules) for number in range(count)}
    held = chance.random()
    return Producer(
        topics,
        in_flight_since=now - chance.choice([0, 50, 5000]) if held < 0.05 else None,
        failed_at=now - _near(chance, rules.backoff_ms) if 0.05 <= held < 0.2 else None,
        closed_at=now + 10**9 if 0.2 <= held < 0.23 else None,
    )


def _topic(chance: random.Random, now: int, rules: Rules) -> Topic:
    is_busy = chance.random() < 0.7
    accessed = now - (chance.choice([-50, 0, 10, 900]) if is_busy else _near(chance, rules.idle_ms))
    ages = [0, rules.max_age_ms // 2, (rules.max_age_ms + 1) // 2, rules.max_age_ms]
    age = _near(chance, chance.choice(ages))
    is_cached = chance.random() < 0.85
    return Topic(
        accessed,
        now - age if is_cached else None,
        chance.random() < (0.1 if is_cached else 0.5),
        now - chance.choice([0, 5, 400]) if chance.random() < 0.05 else None,
    )


def _near(chance: random.Random, limit_ms: int) -> int:
    return max(limit_ms + chance.choice([-1, 0, 0, 1, -500, 500]), 0)
