"""One story of loads, a round and a replay, told by both engines: what they write is the same."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import pytest
from fold_reference import topics_told
from metadata_reference import Rules, decide_round
from producer_support import (
    events_of,
    load_events,
    load_topics,
    rounds_of,
    topics_of,
    with_producers,
)
from spark_support import contents, in_spark, statements
from test_metadata_answers import IN_CHARGE
from test_metadata_answers import several as fates
from test_metadata_replays import LOGGED, LOGGED_SPAN, logged_events
from test_producer_folds import in_pieces, random_log, random_snapshot
from test_producer_folds import rows_of as told_by
from test_random_rounds import NOW_MS, applied, as_row, expected, population

from moldau.runs.decide import decide
from moldau.runs.replay import Asked, replay_metadata
from moldau.sessions.session import Session
from moldau.warehouse.contracts import tables

pytestmark = pytest.mark.spark

ENGINES = ("duckdb", "spark")
OF_THE_RUN = {"run_id", "changed_in_run_id"}
WRITTEN = [
    "raw.producer_events", "raw.producer_topics", "state.producer_topics", "state.producers",
    "decisions.metadata_topics", "decisions.metadata_rounds", "history.decision_changes",
    "state.metadata_replay", "state.metadata_replay_rounds",
]  # fmt: skip

CHANCE = random.Random(21)
LOG = random_log(CHANCE, "in both ")
BEFORE, AFTER = in_pieces(CHANCE, LOG, 2)
SNAPSHOT = random_snapshot(CHANCE, "in both ")
AT_RANDOM = population(7, "random in both ", 80)
RULED = {name: AT_RANDOM[name] for name in expected(AT_RANDOM)} | {
    name: (one, Rules()) for name, one in fates("fate in both", NOW_MS).items()
}


def folded(engine: str) -> str:
    """A cluster of a broker, which follows loads of this engine."""
    return f"producers folded in both by {engine}"


def charged(engine: str) -> str:
    """A cluster whose rounds moldau applies."""
    return f"producers charged in both by {engine}"


@dataclass(frozen=True)
class Told:
    """What loads and runs said of themselves."""

    loads: list[tuple[int, int, list[Any]]]
    counts: list[dict[str, int]]


def tell(session: Session, engine: str) -> Told:
    """What the engine's folds and rounds begin with is DuckDB's."""
    ours = with_producers(
        session, {name: rules for name, (_, rules) in RULED.items()}, {charged(engine): IN_CHARGE}
    )
    own = in_spark(ours) if engine == "spark" else ours
    ruled = {name: one for name, (one, _) in RULED.items()}
    load_events(ours, folded(engine), BEFORE)
    load_topics(ours, charged(engine), ruled)
    load_events(ours, charged(engine), events_of(ruled))
    loads = [
        load_topics(own, folded(engine), SNAPSHOT | LOGGED),
        load_events(own, folded(engine), [*AFTER, *logged_events()]),
    ]
    clusters = [folded(engine), charged(engine)]
    decided = decide(own, "metadata", clusters, NOW_MS, is_dry_run=False)
    replayed = replay_metadata(
        own, [folded(engine)], Asked(LOGGED_SPAN, 300_000, keeps_rounds=True)
    )
    return Told(
        [(one.rows_new, one.rows_already_there, one.refused) for one in loads],
        [decided.counts, replayed.counts],
    )


@pytest.fixture(scope="module")
def told(session: Session) -> dict[str, Told]:
    found = {}
    for engine in ENGINES:
        with statements() as given:
            found[engine] = tell(session, engine)
        is_of_dbt = any('"app": "dbt"' in statement for statement in given)
        assert is_of_dbt is (engine == "spark")
    return found


def test_both_say_the_same_of_what_they_did(told: dict[str, Told]) -> None:
    assert told["spark"] == told["duckdb"]
    assert all(told["spark"].counts)


@pytest.mark.parametrize("table", WRITTEN)
def test_both_write_the_same_rows(told: dict[str, Told], session: Session, table: str) -> None:
    hidden = [column.name for column in tables()[table].columns if column.name in OF_THE_RUN]
    found = contents(session, table, hidden, "cluster_id like 'producers % in both by %'")
    by_duckdb, by_spark = (
        {name: found.get(name) for name in (folded(engine), charged(engine))} for engine in ENGINES
    )
    assert list(by_duckdb.values()) == list(by_spark.values())
    assert by_spark[folded("spark")]


def test_state_is_what_was_told_where_a_broker_is_in_charge(
    told: dict[str, Told], session: Session
) -> None:
    """Moldau decides about its producers, and applies nothing."""
    want = topics_told([*LOG, *logged_events()], told_by(SNAPSHOT | LOGGED))
    assert topics_of(session, folded("spark")) == want
    assert any(one.evicted for one in rounds_of(session, folded("spark")).values())


def test_rounds_are_those_of_the_reference(told: dict[str, Told], session: Session) -> None:
    want = {name: decide_round(one, NOW_MS, rules) for name, (one, rules) in RULED.items()}
    assert rounds_of(session, charged("spark")) == want
    assert {one.reason for one in want.values()} == {
        "FETCH", "NOTHING_DUE", "CLOSED", "REQUEST_IN_FLIGHT", "BACKING_OFF",
    }  # fmt: skip


def test_what_is_applied_is_that_of_the_reference(told: dict[str, Told], session: Session) -> None:
    want = {}
    for name, (one, rules) in RULED.items():
        if one.closed_at is None:
            left = applied(one, decide_round(one, NOW_MS, rules), NOW_MS)
            want[name] = {topic: as_row(row) for topic, row in left.topics.items()}
    found = topics_of(session, charged("spark"))
    assert found == {name: rows for name, rows in want.items() if rows}
