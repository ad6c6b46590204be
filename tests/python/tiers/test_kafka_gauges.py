"""What Kafka's own code reports in the cases of spec 2, sections 5.1 to 5.3 (column K).

The values are those of Kafka 4.4.0. Where the column, of October 2024, has others, the case says
so: 4.4.0 writes the copy gauges only when a run ends (KAFKA-19995), so it never shows the steps of
case 1, and no longer counts a segment of one record that was copied (KAFKA-20977, case 20).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from gauge_events import AT_MS, LONG_AGO_MS, Event, Segment, copied, deleted, table_of
from gauge_runs import RUNS, world_of_runs
from gauge_support import METRICS, World, decide_worlds, gauges, id_of
from spark_support import mart

from moldau.sessions.session import Session


@dataclass
class Case:
    """One partition; `kafka` and `waits`: bytes and segments, of the copy or the delete gauges."""

    name: str
    kafka: tuple[int, int]
    waits: tuple[int, int]
    causes: set[str] = field(default_factory=set)
    events: Sequence[Event] = ()
    bases: Sequence[int] = (1000,)  # of local segments, the last one active
    closed_ms: int = LONG_AGO_MS
    size: int = 1000
    last_stable_offset: int = 10_000
    log_start: int = 0
    epochs: Sequence[tuple[int, int]] = ()
    configs: dict[str, str] = field(default_factory=dict)

    @property
    def cluster(self) -> str:
        return "gauges-" + "-".join(self.name.split())


def local_segments(case: Case) -> list[dict[str, Any]]:
    return [
        {
            "base_offset": base,
            "size_bytes": case.size if base != case.bases[-1] else 50,
            "max_timestamp_ms": case.closed_ms,
            "is_active": base == case.bases[-1],
            "record_count": 1,
        }
        for base in case.bases
    ]


def world_of(case: Case) -> World:
    world = World(table_of(case.cluster, {0: case.events}))
    topic_id = id_of(f"{case.cluster}-orders")
    world.add_topic("orders", topic_id, {"retention.ms": "-1"} | case.configs)
    offsets = {
        "log_start_offset": case.log_start,
        "local_log_start_offset": case.log_start,
        "last_stable_offset": case.last_stable_offset,
        "high_watermark": case.bases[-1] + 10,
        "log_end_offset": case.bases[-1] + 10,
        "taken_at_ms": AT_MS,
    }
    epochs = case.epochs or [(0, case.log_start)]
    world.add_partition(("orders", topic_id, 0), epochs, local_segments(case), offsets)
    return world


HUNDREDS = [Segment(f"s{start}", start, start + 99, 1000) for start in range(0, 1000, 100)]
BASES = [*range(0, 1001, 100)]
KILO = [Segment(f"k{start}", start, start + 99, 1024) for start in (0, 100, 200)]
STRADDLING = Segment("straddles", 0, 199, 100, ((1, 0), (5, 50)))
UNREFERENCED = [
    Segment("u0", 0, 99, 100, ((0, 0),)),
    Segment("u100", 100, 299, 100, ((0, 100), (1, 200))),
    Segment("u300", 300, 449, 100, ((1, 300), (2, 400))),
    Segment("u450", 450, 499, 100, ((2, 450),)),
]
FAILED = [*copied(*KILO), (KILO[0], 2, 900_000)]
RETRY = [*FAILED, (KILO[0], 2, 999_900)]
ENDED = [*RETRY[:-1], *deleted(*KILO, at_ms=999_900)]
LOG_START_300: dict[str, Any] = {"log_start": 300, "bases": (300,)}
COPY_CASES = [
    Case(
        "1 the first copy is in progress, nothing was shown yet",
        kafka=(0, 0),
        waits=(10_000, 10),
        causes={"is_stale_until_run_ends"},
        events=[(HUNDREDS[0], 0, 999_500)],
        bases=BASES,
        closed_ms=999_400,
    ),
    Case(  # K of 2024: 6000 B, 6 segments
        "1 between two copies of a run nothing is written",
        kafka=(0, 0),
        waits=(6000, 6),
        causes={"is_stale_until_run_ends"},
        events=copied(*HUNDREDS[:4], at_ms=999_900),
        bases=BASES,
        closed_ms=999_400,
    ),
    Case("1 all copied", (0, 0), (0, 0), events=copied(*HUNDREDS), bases=BASES),
    Case(
        "4 the rest is above the last stable offset",
        kafka=(1000, 1),
        waits=(0, 0),
        causes={"counts_above_last_stable_offset"},
        events=copied(*HUNDREDS[:2]),
        bases=[0, 100, 200, 300],
        last_stable_offset=210,
    ),
    Case(
        "5 the last stable offset has moved",
        kafka=(1000, 1),
        waits=(1000, 1),
        events=copied(*HUNDREDS[:2]),
        bases=[0, 100, 200, 300],
        last_stable_offset=310,
    ),
    Case(
        "5 and the rest is copied",
        kafka=(0, 0),
        waits=(0, 0),
        events=copied(*HUNDREDS[:3]),
        bases=[0, 100, 200, 300],
    ),
    Case(
        "19 the second of three copies fails",
        kafka=(2000, 2),
        waits=(2000, 2),
        events=[
            *copied(HUNDREDS[0], at_ms=999_900),
            *((HUNDREDS[1], state, 999_910 + state) for state in (0, 2, 3)),
        ],
        bases=[0, 100, 200, 300],
    ),
    Case(  # K of 2024: 100 B, 1 segment
        "20 segments of one record",
        kafka=(0, 0),
        waits=(0, 0),
        events=copied(Segment("r0", 0, 0), Segment("r1", 1, 1)),
        bases=[0, 1, 2],
    ),
    Case(  # not a case of K: 4.4.0 leaves out what starts at or below the copied offset
        "17 a segment is copied in part",
        kafka=(1000, 1),
        waits=(2000, 2),
        causes={"omits_partly_copied"},
        events=copied(Segment("p0", 0, 99), Segment("p100", 100, 149)),
        bases=[100, 200, 300],
    ),
]
DELETE_CASES = [
    Case(
        "31 ten segments are chosen",
        kafka=(10_000, 10),
        waits=(10_000, 10),
        events=[*copied(*HUNDREDS), (HUNDREDS[0], 2, 999_900)],
        log_start=1000,
        configs={"retention.ms": "0"},
    ),
    Case(
        "31 the first is deleted",
        kafka=(9000, 9),
        waits=(9000, 9),
        events=[*copied(*HUNDREDS), *deleted(HUNDREDS[0], at_ms=999_900)],
        log_start=1000,
        configs={"retention.ms": "0"},
    ),
    Case(
        "31 all are deleted",
        kafka=(0, 0),
        waits=(0, 0),
        events=[*copied(*HUNDREDS), *deleted(*HUNDREDS, at_ms=999_900)],
        log_start=1000,
    ),
    Case(
        "32 two are chosen by size",
        kafka=(2048, 2),
        waits=(2048, 2),
        events=[*copied(*KILO[:2]), (KILO[0], 2, 999_900)],
        log_start=200,
        bases=(200,),
        configs={"retention.bytes": "0"},
    ),
    Case(
        "53 duplicates",
        kafka=(300, 2),
        waits=(300, 2),
        events=[
            *copied(Segment("d99", 0, 99), Segment("d199", 0, 199, 200)),
            (Segment("d199", 0, 199, 200), 2, 999_900),
        ],
        log_start=200,
        bases=(200,),
    ),
    Case("58 the first delete failed", (3072, 3), (3072, 3), events=FAILED, **LOG_START_300),
    Case(
        "58 the retry",
        kafka=(2048, 3),
        waits=(3072, 3),
        causes={"omits_bytes_of_retries"},
        events=RETRY,
        **LOG_START_300,
    ),
    Case(
        "58 the retry has deleted one",
        kafka=(1024, 2),
        waits=(2048, 2),
        causes={"keeps_negative_after_retry"},
        events=ENDED[:-4],
        **LOG_START_300,
    ),
    Case(
        "58 the retry has deleted two",
        kafka=(0, 1),
        waits=(1024, 1),
        causes={"keeps_negative_after_retry"},
        events=ENDED[:-2],
        **LOG_START_300,
    ),
    Case(
        "58 the retry has ended",
        kafka=(-1024, 0),
        waits=(0, 0),
        causes={"keeps_negative_after_retry", "keeps_last_value_without_segments"},
        events=ENDED,
        **LOG_START_300,
    ),
    Case(  # case 65 has 777 B and 7 segments, which no events lead to
        "65 long after the value stays as no segment is left",
        kafka=(-1024, 0),
        waits=(0, 0),
        causes={"keeps_negative_after_retry", "keeps_last_value_without_segments"},
        events=[*FAILED, *deleted(*KILO, at_ms=910_000)],
        **LOG_START_300,
    ),
    Case(
        "65 a segment is listed again and resets it",
        kafka=(0, 0),
        waits=(0, 0),
        events=[
            *FAILED,
            *deleted(*KILO, at_ms=910_000),
            *copied(Segment("k300", 300, 399, 1024), at_ms=950_000),
        ],
        log_start=300,
        bases=(300, 400),
    ),
    Case(
        "61 a segment that straddles the earliest epoch",
        kafka=(100, 1),
        waits=(0, 0),
        causes={"counts_straddling_epoch"},
        events=copied(STRADDLING),
        epochs=[(5, 50)],
        log_start=50,
        bases=(200,),
    ),
    Case(
        "62 unreferenced segments are counted per epoch",
        kafka=(400, 4),
        waits=(200, 2),
        causes={"counts_segment_per_epoch", "counts_straddling_epoch"},
        events=copied(*UNREFERENCED),
        epochs=[(2, 400)],
        log_start=400,
        bases=(500,),
    ),
    Case(
        "62 and deleted per epoch",
        kafka=(100, 1),
        waits=(0, 0),
        causes={"counts_straddling_epoch"},
        events=[
            *copied(*UNREFERENCED),
            *deleted(UNREFERENCED[0], UNREFERENCED[1], UNREFERENCED[1], at_ms=999_900),
        ],
        epochs=[(2, 400)],
        log_start=400,
        bases=(500,),
    ),
    Case(
        "64 a marked segment behind a fresh one",
        kafka=(0, 0),
        waits=(100, 1),
        causes={"omits_marked_behind_walk"},
        events=[
            *copied(Segment("f0", 0, 99)),
            *((Segment("m100", 100, 199), state, 200_000 + state) for state in (0, 2)),
        ],
        bases=(100, 200),
        last_stable_offset=110,
    ),
]
CASES = [*COPY_CASES, *DELETE_CASES]


@pytest.fixture(scope="module")
def decided(session: Session) -> Session:
    worlds = {case.cluster: world_of(case) for case in CASES} | {SUMS: world_of_sums()}
    return decide_worlds(session, worlds | {CROSSED: world_of_runs(CROSSED)}, AT_MS)


@pytest.fixture(scope="module")
def compared(decided: Session) -> list[dict[str, Any]]:
    return mart(decided, "kafka_gauge_comparison")


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_a_gauge_is_what_kafka_reports(compared: list[dict[str, Any]], case: Case) -> None:
    metrics = METRICS[:2] if case in COPY_CASES else METRICS[2:]
    found = {
        row["metric_name"]: (row["kafka_value"], row["moldau_value"], row["causes"])
        for row in compared
        if row["cluster_id"] == case.cluster
    }
    assert tuple(found[metric][0] for metric in metrics) == case.kafka
    assert tuple(found[metric][1] for metric in metrics) == case.waits
    assert {cause for metric in metrics for cause in found[metric][2]} == case.causes


CROSSED = "gauges-crossed"
SUMS = "gauges-of-topics"
# topic -> what its partitions add to the gauge, by partition; one is led by nobody any longer
ADDED = {"orders": {0: 4, 1: 5, 2: 6}, "bills": {0: 1}, "followed": {0: 7}}


def world_of_sums() -> World:
    """Closed segments above the last stable offset, which only Kafka counts; no events at all.

    Case 83: topic 15, broker 16. Case 85: a broker that became a follower shows nothing. Case 86: a
    topic that was deleted is in no sum, though a segment of it waits.
    """
    gone = Segment("gone", 0, 99)
    events = table_of(SUMS, {0: [*copied(gone), (gone, 2, 900_000)]})
    world = World(events)
    for topic, partitions in ADDED.items():
        world.add_topic(topic, id_of(f"{SUMS}-{topic}-id"), {})
        for partition, size in partitions.items():
            bases: list[dict[str, Any]] = [
                {
                    "base_offset": base,
                    "size_bytes": size,
                    "max_timestamp_ms": LONG_AGO_MS,
                    "is_active": base == 100,
                    "record_count": 1,
                }
                for base in (0, 100)
            ]
            offsets = {
                "log_start_offset": 0,
                "local_log_start_offset": 0,
                "last_stable_offset": 50,
                "high_watermark": 150,
                "log_end_offset": 150,
                "taken_at_ms": AT_MS,
            }
            named = (topic, id_of(f"{SUMS}-{topic}-id"), partition)
            world.add_partition(named, [(0, 0)], bases, offsets, is_leader=topic != "followed")
    return world


def test_topics_and_brokers_are_sums_over_the_partitions_that_they_lead(decided: Session) -> None:
    def of(copy: tuple[int, int]) -> dict[str, int]:
        return dict(zip(METRICS, (*copy, 0, 0), strict=True))

    assert gauges(decided, [SUMS])[SUMS] == {
        "orders": of((15, 3)),
        "bills": of((1, 1)),
        "(broker)": of((16, 4)),
    }


def test_a_deleted_topic_has_no_gauge_while_its_segments_wait(
    compared: list[dict[str, Any]],
) -> None:
    assert [
        (row["metric_name"], row["kafka_value"], row["moldau_value"], row["causes"])
        for row in compared
        if row["topic_id"] == id_of(SUMS + "-orders")
    ] == [
        ("RemoteDeleteLagBytes", None, 100, ["has_no_gauge"]),
        ("RemoteDeleteLagSegments", None, 1, ["has_no_gauge"]),
    ]


def test_a_run_that_crosses_epochs_is_counted_as_kafka_counts_it(
    compared: list[dict[str, Any]],
) -> None:
    """The walk moves the log's start, and so cuts the lineage, before it deletes (spec 2.6)."""
    values = {
        (row["partition_index"], row["metric_name"]): row["kafka_value"]
        for row in compared
        if row["cluster_id"] == CROSSED and row["metric_name"].startswith("RemoteDelete")
    }
    expected = {
        (number, metric): value
        for number, run in enumerate(RUNS)
        for metric, value in zip(METRICS[2:], run.kafka, strict=True)
    }
    wrong = {key: (values.get(key), value) for key, value in expected.items()}
    assert {key: both for key, both in wrong.items() if both[0] != both[1]} == {}


def test_every_difference_has_a_cause(compared: list[dict[str, Any]]) -> None:
    assert [row for row in compared if row["is_equal"] == bool(row["causes"])] == []
