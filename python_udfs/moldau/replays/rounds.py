"""Every round of a replay that did something, in the form of decisions.metadata_rounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from moldau.replays.cache import Cache, Round
from moldau.replays.draft import DraftCache

ROUNDS = pa.schema(
    [
        ("cluster_id", pa.string()),
        ("producer_id", pa.string()),
        ("ruleset", pa.string()),
        ("round_at_ms", pa.int64()),
        ("cached_topics", pa.int64()),
        ("target_fetch_size", pa.int64()),
        ("urgent_topics", pa.int64()),
        ("non_urgent_topics", pa.int64()),
        ("fetched_topics", pa.int64()),
        ("evicted_topics", pa.int64()),
        ("fetched_topic_names", pa.list_(pa.string())),
        ("evicted_topic_names", pa.list_(pa.string())),
    ]
)


class Rounds:
    def __init__(self, cache: Cache, names: Sequence[str]) -> None:
        self._cache = cache
        self._names = names
        self.rows: list[tuple[Any, ...]] = []
        """From round_at_ms on."""

    def tell(self, now: int, done: Round) -> None:
        """An answer at the instant of its request adds what it made the producer forget."""
        evicted = [self._names[topic] for topic in sorted(done.evicted)]
        if self.rows and self.rows[-1][0] == now and done.request is None:
            *last, before = self.rows.pop()
            evicted = sorted([*before, *evicted])
            last[6] = len(evicted)
            self.rows.append((*last, evicted))
            return
        request = done.request
        fetched = []
        if request is not None:
            topics = sorted(self._cache.accessed) if request.topics is None else request.topics
            fetched = [self._names[topic] for topic in topics]
        sizes = self._sizes(now, done)
        counts = (len(fetched), len(evicted))
        self.rows.append((now, len(self._cache.refreshed), *sizes, *counts, fetched, evicted))

    def _sizes(self, now: int, done: Round) -> tuple[int | None, int, int]:
        """Target, topics in T and in U: those that a full request asks for beside T."""
        cache = self._cache
        if isinstance(cache, DraftCache):
            urgent = cache.urgent(now)
            return cache.target(), len(urgent), sum(1 for _ in cache.non_urgent(now, urgent))
        if done.request is None:
            return None, 0, 0
        fill = done.request.causes.fill
        return None, done.request.size - fill, fill
