"""Remote segments follow the log, whatever the order and the number of the loads.

Every way to load is a cluster of its own; a few folds serve all of them.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import pytest
from kafka_metadata import (
    COPY_FINISHED,
    COPY_STARTED,
    DELETE_FINISHED,
    DELETE_STARTED,
    STATE_NAMES,
    Event,
    Segment,
)
from kafka_reference import Partition
from listed_cases import copy, delete, mark, start
from random_partitions import NOW_MS, random_partition
from spark_support import contents, rows, with_clusters
from tier_support import (
    Record,
    Tiered,
    bytes_of,
    fold_log,
    fold_snapshots,
    in_chunks,
    log_of,
    tiered,
)

from moldau.runs.decide import decide
from moldau.sessions.session import Session
from moldau.warehouse.contracts import tables

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


COPIED, MARKED = "COPY_SEGMENT_FINISHED", "DELETE_SEGMENT_STARTED"
STARTED, DELETED = "COPY_SEGMENT_STARTED", "DELETE_SEGMENT_FINISHED"
# segment -> its events, the state that stays, the state that was not taken, and why not
DROPPED: dict[str, tuple[list[Event], str | None, str, str]] = {
    "0 to 3": ([*start("0 to 3", 0, 9), Event("0 to 3", DELETE_FINISHED)],
        STARTED, DELETED, "ILLEGAL_TRANSITION"),
    "1 to 3": ([*copy("1 to 3", 0, 9), Event("1 to 3", DELETE_FINISHED)],
        COPIED, DELETED, "ILLEGAL_TRANSITION"),
    "1 to 0": ([*copy("1 to 0", 0, 9), *start("1 to 0", 0, 9)],
        COPIED, STARTED, "ILLEGAL_TRANSITION"),
    "2 to 1": ([*copy("2 to 1", 0, 9), *mark("2 to 1"), Event("2 to 1", COPY_FINISHED)],
        MARKED, COPIED, "ILLEGAL_TRANSITION"),
    "2 to 0": ([*copy("2 to 0", 0, 9), *mark("2 to 0"), *start("2 to 0", 0, 9)],
        MARKED, STARTED, "ILLEGAL_TRANSITION"),
    "3 to 2": ([*copy("3 to 2", 0, 9), *delete("3 to 2"), *mark("3 to 2")],
        DELETED, MARKED, "ILLEGAL_TRANSITION"),
    "state 9": ([*copy("state 9", 0, 9), Event("state 9", 9)],
        COPIED, "UNKNOWN_9", "ILLEGAL_TRANSITION"),
    "unknown": (list(mark("unknown")), None, MARKED, "UNKNOWN_SEGMENT"),
    "update to 0": ([*start("update to 0", 0, 9), Event("update to 0", COPY_STARTED)],
        STARTED, STARTED, "STARTED_AS_UPDATE"),
    "full in state 1": ([Event("full in state 1", COPY_FINISHED, copy=Segment("", 0, 9, {0: 0}))],
        None, COPIED, "NOT_STARTED"),
    "ends before it starts": (list(start("ends before it starts", 9, 8)),
        None, STARTED, "INVALID_SEGMENT"),
}  # fmt: skip


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
    dropped = (event for events, *_ in DROPPED.values() for event in events)
    clusters["dropped"] = [log_of([unfolded("dropped", dropped)])]
    fold_ways(session, clusters)
    decide_once(session, [name for name in clusters if name != "dropped"])
    return session


def decide_once(session: Session, clusters: Sequence[str]) -> None:
    """A run of tiers about all of them, under the same snapshots."""
    told = {"segments": HISTORIES, "short": short_history()}
    fold_snapshots(session, {name: told[name.split()[0]] for name in clusters})
    settings = with_clusters(session, dict.fromkeys(clusters, "{}"))
    decide(settings, "tiers", clusters, NOW_MS, is_dry_run=False)


@pytest.mark.parametrize(
    "table",
    [
        "state.remote_segments",
        "state.tier_lag",
        "history.rejected_segment_events",
        "history.tier_lag",
    ],
)
def test_the_order_of_loads_changes_nothing(folded: Session, table: str) -> None:
    hidden = [name for name in RUN_COLUMNS if name in {c.name for c in tables()[table].columns}]
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
        (
            *row[:-2],
            None if row[-2] is None else bytes(row[-2]),
            tuple(tuple(epoch.values()) for epoch in row[-1]),
        )
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


def test_a_dropped_event_leaves_its_segment_and_says_why(folded: Session) -> None:
    """Case 76, and a state that no version knows (91)."""
    names = {unfolded("dropped", ()).id_of(name): name for name in DROPPED}
    states = dict(
        rows(
            folded,
            "select segment_id, segment_state from state.remote_segments "
            "where cluster_id = 'dropped'",
        )
    )
    rejected = rows(
        folded,
        "select segment_id, from_state, to_state, rejection "
        "from history.rejected_segment_events where cluster_id = 'dropped'",
    )
    assert {names[row[0]]: row[1:] for row in rejected} == {
        name: (state, event, why) for name, (_, state, event, why) in DROPPED.items()
    }
    assert len(rejected) == len(DROPPED)
    assert {names[segment]: state for segment, state in states.items()} == {
        name: state for name, (_, state, _, _) in DROPPED.items() if state
    }


def test_replayed_transitions(folded: Session) -> None:
    """Case 95: the states 0, 1, 1, 2, 3 are taken, the mark after them is not."""
    name = tiered("short", Partition(), ()).id_of("a")
    [(state, events)] = rows(
        folded,
        "select segment_state, events from state.remote_segments "
        f"where cluster_id = 'short at once' and segment_id = '{name}'",
    )
    assert (state, events) == (DELETED, 5)
    assert rows(
        folded,
        "select from_state, to_state from history.rejected_segment_events "
        f"where cluster_id = 'short at once' and segment_id = '{name}'",
    ) == [(DELETED, MARKED)]


def unfolded(topic: str, events: Iterable[Event]) -> Tiered:
    """A topic with events that the reference is not told of."""
    plain = Tiered(topic, Partition())
    named = tuple(replace(event, segment_id=plain.id_of(event.segment_id)) for event in events)
    return replace(plain, events=named)


def test_ids_and_positions_survive_the_log() -> None:
    one = HISTORIES[1]
    assert all(len(bytes_of(event.segment_id)) == 16 for event in one.events)
    positions = [(record.log_partition, record.log_offset) for record in log_of(HISTORIES)]
    assert len(set(positions)) == len(positions)
