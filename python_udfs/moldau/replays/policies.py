"""Rule sets of producers as caches that follow them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from moldau.replays.cache import Cache, Limits, Watcher
from moldau.replays.draft import DraftCache, DraftRules
from moldau.replays.kafka import KafkaCache, KafkaRules


def cache_of(switches: Mapping[str, Any], limits: Limits, watcher: Watcher) -> Cache:
    """A cache under a rule set with these switches, which are columns of seeds/rule_sets.csv.

    They are texts there; None or an empty text = not set."""
    if switches["topics_requested"] == "subset":
        draft = DraftRules(
            multiplies=switches["target_factor"] == "*10",
            evict_strict=_flag(switches["evict_strict"]),
            pace_ms=int(switches["pace_ms"] or 0),
            mode=switches["rule_mode"],
        )
        return DraftCache(limits, watcher, rules=draft)
    kafka = KafkaRules(
        asks_for_new_alone=switches["topics_requested"] == "new_or_all",
        idle_from_answer=switches["idle_from"] == "answer",
        reads_max_idle=_flag(switches["reads_max_idle"]),
        evict_strict=_flag(switches["evict_strict"]),
    )
    return KafkaCache(limits, watcher, rules=kafka)


def _flag(value: Any) -> bool:
    return str(value).lower() == "true"
