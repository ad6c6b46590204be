"""The replay: one row of Arrow for each producer in, rows of what it would have done out.

Whichever engine is at hand calls it: DuckDB's reader of batches, or Spark's mapInArrow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from moldau.replays.cache import Cache, Known, Limits, Watcher
from moldau.replays.clock import CODES, Clock, Log, Span
from moldau.replays.draft import DraftCache, DraftRules
from moldau.replays.kafka import KafkaCache, KafkaRules
from moldau.replays.measures import COLUMNS, Measures, Sizes, row_of
from moldau.replays.rounds import ROUNDS, Rounds

_KNOWN = (
    "last_access_at_ms", "last_refresh_at_ms", "has_demand", "notified_at_ms", "idle_since_at_ms",
    "is_in_error",
)  # fmt: skip
NONE = -1
"""An instant or number that there is not, in arrays."""

PRODUCERS = pa.schema(
    [
        ("cluster_id", pa.string()),
        ("producer_id", pa.string()),
        ("ruleset", pa.string()),
        ("target_factor", pa.string()),
        ("rule_mode", pa.string()),
        ("evict_strict", pa.bool_()),
        ("pace_ms", pa.int64()),
        ("evict_ms", pa.int64()),
        ("max_idle_ms", pa.int64()),
        ("max_age_ms", pa.int64()),
        ("retry_backoff_ms", pa.int64()),
        ("last_failure_at_ms", pa.int64()),
        ("last_non_urgent_at_ms", pa.int64()),
        ("overhead_bytes", pa.int64()),
        ("topic_names", pa.list_(pa.string())),
        ("last_access_at_ms", pa.list_(pa.int64())),
        ("last_refresh_at_ms", pa.list_(pa.int64())),
        ("has_demand", pa.list_(pa.bool_())),
        ("notified_at_ms", pa.list_(pa.int64())),
        ("idle_since_at_ms", pa.list_(pa.int64())),
        ("is_in_error", pa.list_(pa.bool_())),
        ("partition_counts", pa.list_(pa.int64())),
        ("asked_bytes", pa.list_(pa.int64())),
        ("told_bytes", pa.list_(pa.int64())),
        ("refused_bytes", pa.list_(pa.int64())),
        ("event_at_ms", pa.list_(pa.int64())),
        ("events", pa.list_(pa.string())),
        ("event_topics", pa.list_(pa.string())),
    ]
)
"""What the replay is of. Topics are all that are known at its begin or have an event; the lists
about them are of one length and in one order, and so are those about events, in any order."""

_RowsOf = Callable[[Clock, "_Producer"], Iterable[tuple[Any, ...]]]
_KEY = [("cluster_id", pa.string()), ("producer_id", pa.string()), ("ruleset", pa.string())]
BUCKETS = pa.schema(
    [*_KEY, ("bucket_start_ms", pa.int64()), *((name, pa.int64()) for name in COLUMNS)]
)


@dataclass(frozen=True)
class Replay:
    """What to replay: a span of time under some rule sets, name -> switches."""

    span: Span
    rulesets: Mapping[str, Mapping[str, Any]]
    bucket_ms: int = 300_000

    def buckets(self, producers: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Rows of BUCKETS, of producers as PRODUCERS has them."""
        return self._replayed(producers, _buckets, BUCKETS)

    def rounds(self, producers: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Rows of ROUNDS: what each round did, where it did anything."""
        return self._replayed(producers, _rounds, ROUNDS)

    def _replayed(
        self, producers: Iterable[pa.RecordBatch], rows_of: _RowsOf, schema: pa.Schema
    ) -> Iterator[pa.RecordBatch]:
        for batch in producers:
            for index in range(batch.num_rows):
                producer = _Producer(batch, index)
                rows = [
                    (*producer.key, ruleset, *row)
                    for ruleset in self.rulesets
                    for row in rows_of(self._clock(producer, ruleset), producer)
                ]
                yield _batch(rows, schema)

    def _clock(self, producer: _Producer, ruleset: str) -> Clock:
        limits = producer.limits
        measures = Measures(producer.sizes, self.bucket_ms, limits.max_age_ms)
        cache = _cache_of(producer.switches(ruleset, self.rulesets[ruleset]), limits, measures)
        clock = Clock(self.span, cache, measures)
        clock.start(producer.known, producer.failed_at, producer.paced_at)
        return clock


def _buckets(clock: Clock, producer: _Producer) -> Iterable[tuple[Any, ...]]:
    clock.run(producer.log)
    return ((start, *row_of(found)) for start, found in clock.measures.rows)


def _rounds(clock: Clock, producer: _Producer) -> Iterable[tuple[Any, ...]]:
    rounds = Rounds(clock.cache, producer.names)
    clock.tell = rounds.tell
    clock.run(producer.log)
    return rounds.rows


def _cache_of(switches: Mapping[str, Any], limits: Limits, watcher: Watcher) -> Cache:
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


class _Producer:
    """One row of PRODUCERS: topics are numbered in the order of their names."""

    def __init__(self, batch: pa.RecordBatch, row: int) -> None:
        def one(name: str) -> Any:
            return batch.column(name)[row].as_py()

        def many(name: str) -> pa.Array:
            return batch.column(name)[row].values

        self.key = (one("cluster_id"), one("producer_id"))
        self._own = {
            name: one(name) for name in ("target_factor", "rule_mode", "evict_strict", "pace_ms")
        }
        self._ruleset = one("ruleset")
        self.limits = Limits(
            one("evict_ms"), one("max_age_ms"), one("retry_backoff_ms"), one("max_idle_ms")
        )
        self.failed_at: int | None = one("last_failure_at_ms")
        self.paced_at: int | None = one("last_non_urgent_at_ms")
        names = many("topic_names")
        # by bytes of UTF-8, as SQL sorts: those of code points are in the same order
        order = pc.array_sort_indices(names)
        sorted_names = names.take(order)
        self.names: list[str] = sorted_names.to_pylist()

        def in_order(name: str) -> list[Any]:
            found: list[Any] = many(name).take(order).to_pylist()
            return found

        self.known = [
            Known(topic, accessed, _none(told), demand, _none(noticed), _none(idle), error)
            for topic, (accessed, told, demand, noticed, idle, error) in enumerate(
                zip(*map(in_order, _KNOWN), strict=True)
            )
            if accessed != NONE
        ]
        self.sizes = Sizes(
            asked=in_order("asked_bytes"),
            told=in_order("told_bytes"),
            refused=in_order("refused_bytes"),
            partitions=in_order("partition_counts"),
            answer_overhead=one("overhead_bytes"),
        )
        self.log = _log(
            many("event_at_ms").to_numpy(zero_copy_only=False),
            pc.index_in(many("events"), pa.array(CODES)).fill_null(NONE).to_numpy(False),
            pc.index_in(many("event_topics"), sorted_names).fill_null(NONE).to_numpy(False),
        )

    def switches(self, ruleset: str, switches: Mapping[str, Any]) -> Mapping[str, Any]:
        """What a producer has otherwise it has so under its own rule set."""
        if ruleset != self._ruleset:
            return switches
        own = {name: value for name, value in self._own.items() if value is not None}
        return {**switches, **own}


def _none(value: int) -> int | None:
    return None if value == NONE else value


def _log(at_ms: Any, codes: Any, topics: Any) -> Log:
    """In order of time; at one instant answers of the log come first, and closing last."""
    matters = codes != NONE
    at_ms, codes, topics = at_ms[matters], codes[matters], topics[matters]
    order = np.lexsort((topics, codes, at_ms))
    return Log(*(column[order].tolist() for column in (at_ms, codes, topics)))


def _batch(rows: list[tuple[Any, ...]], schema: pa.Schema) -> pa.RecordBatch:
    columns = zip(*rows, strict=True) if rows else ([] for _ in schema)
    arrays = [pa.array(values, field.type) for values, field in zip(columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)
