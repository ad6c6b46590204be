"""Remote segments follow the log, whatever the order and the number of the loads.

Every way to load is a cluster of its own; a few folds serve all of them.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

import pytest
from kafka_metadata import (
    COPY_FINISHED,
    DELETE_FINISHED,
    DELETE_STARTED,
    STATE_NAMES,
    Event,
)
from kafka_reference import Partition
from listed_cases import copy, mark, start
from random_partitions import random_partition
from spark_support import contents, rows
from tier_support import Record, Tiered, bytes_of, fold_log, in_chunks, log_of, tiered

from moldau.runs.session import Session

SEEDS = range(150)
WRITTEN = "cluster_id like 'segments %' or cluster_id like 'short %'"
RUN_COLUMNS = ("run_id", "changed_in_run_id")
HISTORIES = [tiered(f"history {seed}", *random_partition(seed)) for seed in SEEDS]


def short_history() -> list[Tiered]:
    """Case 95 and a segment that is marked before it is there: a load for each record."""
    events = [
        *copy("a", 0, 99),
        Event("a", COPY_FINISHED),
        Event("b", DELETE_STARTED),
        *mark("a"),
        *start("b", 100, 199),
        Event("a", DELETE_FINISHED),
        Event("a", DELETE_STARTED),
    ]
    return [tiered("short", Partition(), events)]


def ways(records: Sequence[Record]) -> dict[str, list[list[Record]]]:
    """How the same records come: by name of the cluster, load by load."""
    middle = len(records) // 2
    return {
        "at once": [list(records)],
        "backwards": [list(reversed(records))],
        "second half first": [list(records[middle:]), list(records[:middle])],
        **{f"in any order {seed}": in_chunks(records, 3, random.Random(seed)) for seed in range(3)},
    }


def fold_ways(session: Session, clusters: Mapping[str, list[list[Record]]]) -> None:
    for step in range(max(map(len, clusters.values()))):
        fold_log(
            session,
            {name: loads[step] for name, loads in clusters.items() if step < len(loads)},
        )


@pytest.fixture(scope="module")
def folded(session: Session) -> Session:
    clusters = {f"segments {name}": loads for name, loads in ways(log_of(HISTORIES)).items()}
    records = log_of(short_history())
    clusters["short at once"] = [records]
    clusters["short record by record"] = [[one] for one in records]
    clusters["short record by record backwards"] = [[one] for one in reversed(records)]
    fold_ways(session, clusters)
    return session


@pytest.mark.parametrize("table", ["state.remote_segments", "history.rejected_segment_events"])
def test_the_order_of_loads_changes_nothing(folded: Session, table: str) -> None:
    hidden = [name for name in RUN_COLUMNS if name in folded.spark.table(table).columns]
    found = contents(folded, table, hidden, WRITTEN)
    assert len(found) == len(ways([])) + 3
    for cluster, several in found.items():
        assert several == found[f"{cluster.split()[0]} at once"], cluster


def test_segments_are_as_kafkas_metadata_has_them(folded: Session) -> None:
    expected = {
        (
            one.topic_id,
            segment.segment_id,
            STATE_NAMES[segment.state],
            segment.start,
            segment.end,
            segment.size,
            segment.max_timestamp_ms,
            segment.broker_id,
            segment.started_broker_id,
            segment.event_at_ms,
            segment.custom,
            tuple(sorted(segment.epochs.items())),
        )
        for one in HISTORIES
        for segment in one.partition.metadata.segments.values()
    }
    found = rows(
        folded,
        "select topic_id, segment_id, segment_state, start_offset, end_offset, size_bytes, "
        "max_timestamp_ms, broker_id, started_broker_id, event_at_ms, custom_metadata, "
        "leader_epochs from state.remote_segments where cluster_id = 'segments at once'",
    )
    told = {
        (*row[:-2], None if row[-2] is None else bytes(row[-2]), tuple(map(tuple, row[-1])))
        for row in found
    }
    assert told == expected
    assert any(STATE_NAMES[DELETE_FINISHED] in row for row in told)


def test_the_events_that_kafka_drops_are_kept_aside(folded: Session) -> None:
    expected = sorted(
        (
            one.topic_id,
            event.segment_id,
            "" if state is None else STATE_NAMES[state],
            STATE_NAMES[event.state],
            event.at_ms,
            event.broker_id,
        )
        for one in HISTORIES
        for event, state in one.partition.metadata.rejected
    )
    found = rows(
        folded,
        "select topic_id, segment_id, coalesce(from_state, ''), to_state, event_at_ms, broker_id "
        "from history.rejected_segment_events where cluster_id = 'segments at once' "
        "order by topic_id",
    )
    assert sorted(found) == expected
    assert expected


def test_ids_and_positions_survive_the_log() -> None:
    one = HISTORIES[1]
    assert all(len(bytes_of(event.segment_id)) == 16 for event in one.events)
    positions = [(record.log_partition, record.log_offset) for record in log_of(HISTORIES)]
    assert len(set(positions)) == len(positions)
