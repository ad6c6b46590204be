"""Spark folds and decides by the same SQL: what tests of DuckDB find, it finds."""

from __future__ import annotations

import pytest
import test_unreadable_checkpoints as unreadable
from mirror_support import with_flows
from spark_support import fresh, in_spark
from test_commits_with_ids import (
    CASES,
    LAKE,
    RUNS,
    answers,
    bring_commits,
    bring_snapshots,
    bring_syncs,
    flows,
    key,
    wanted,
)

from moldau.runs.decide import decide
from moldau.sessions.session import Session

pytestmark = pytest.mark.spark


def test_commits_bring_ids_when_all_else_is_there(session: Session) -> None:
    """Every sync is folded anew, and the answers are those of the order in which it happened."""
    source = "ids-by-sparks"
    session = with_flows(session, flows(source))
    for step in range(RUNS):
        bring_snapshots(session, source, step)
        bring_syncs(session, source, step)
    spark = in_spark(session)
    bring_commits(spark, source, *range(RUNS))
    decide(fresh(spark), "translate", [source], 5_000, is_dry_run=False)
    found = answers(session, source)
    for name, case in CASES.items():
        for ruleset in LAKE:
            for place, commit in enumerate(case.commits):
                answer = found[key(source, ruleset, name, place)]
                assert answer == wanted(case, ruleset, place, RUNS - 1), (ruleset, commit)


def test_unreadable_checkpoints_are_passed_by(session: Session) -> None:
    told = unreadable.told_of(session, "unread-by-sparks", in_spark)
    unreadable.test_the_checkpoint_before_an_unreadable_one_stays(told)
    unreadable.test_an_unreadable_one_alone_is_none(told)
    unreadable.test_a_good_one_behind_unreadable_ones_is_the_last(told)
    unreadable.test_what_kafka_reads_is_read_as_kafka_reads_it(told)
