"""How many translations of random histories are ahead of what was mirrored, by rule set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import full_history_reference as full
import mirror_maker as maker
from mirror_logs import Instant, World, instants

REPLAYS = World()
DROPPED = World(dropped_syncs=30)
FOREIGN = World(foreign_records=15)
RECREATED = World(recreated_targets=3, recreated_sources=3, foreign_records=5)
EXACTLY_ONCE = World(is_exactly_once=True)
WORLDS = {
    "replays": REPLAYS,
    "dropped": DROPPED,
    "foreign": FOREIGN,
    "recreated": RECREATED,
    "exactly once": EXACTLY_ONCE,
}


def count_unsafe(world: World, seeds: Iterable[int], commits: int) -> Counter[str]:
    """`all` translations, and those that are ahead under each rule set."""
    found: Counter[str] = Counter()
    for seed in seeds:
        store, known = maker.OffsetSyncStore(), 0
        for instant in instants(world, seed, commits):
            maker.filled(store, instant.syncs[known:])
            known = len(instant.syncs)
            found += unsafe_at(world, instant, store)
    return found


def unsafe_at(world: World, instant: Instant, store: maker.OffsetSyncStore) -> Counter[str]:
    syncs, truth = instant.syncs, instant.truth
    gated = full.fold(syncs, is_exactly_once=world.is_exactly_once)
    found: Counter[str] = Counter()
    for g in instant.commits:
        by_gate = full.translate(gated, g)
        is_max_safe = truth.is_safe(g, by_gate.at_rest)
        found["all"] += 1
        found["full_history"] += not truth.is_safe(g, by_gate.offset)
        found["full_history_max"] += not is_max_safe
        found["kafka"] += not truth.is_safe(g, store.translate(g))
        found["max at rest"] += truth.is_at_rest and not is_max_safe
        found["held back"] += by_gate.is_held_back
    return found
