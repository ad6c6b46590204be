"""Runs of tiers one after the other: what is decided anew, what is recorded, what is not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from small_partitions import NOW_MS, OPEN, RETENTION_MS, copied, partition
from spark_support import contents, rows, with_clusters, writes
from tier_support import Tiered, fold_log, fold_tiers, log_of, tiered

from moldau.errors import MoldauError
from moldau.runs.compare import compare
from moldau.runs.decide import decide
from moldau.runs.idle import idle_run
from moldau.runs.resume import finish_interrupted
from moldau.runs.what_if import what_if
from moldau.sessions.session import Session
from moldau.warehouse.contracts import tables


def lag(session: Session, cluster: str, topic: str) -> tuple[Any, ...] | None:
    found = rows(
        session,
        "select upload_tier_lag, delete_tier_lag, delete_tier_lag_sum from marts.tier_lag "
        f"where cluster_id = '{cluster}' and topic_name = '{topic}'",
    )
    return found[0] if found else None


def run_ids(session: Session, table: str, cluster: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for topic, run_id in rows(
        session, f"select topic_name, run_id from {table} where cluster_id = '{cluster}'"
    ):
        found.setdefault(topic, set()).add(run_id)
    return found


def topics(*several: Tiered) -> dict[str, Sequence[Tiered]]:
    return {"tier runs": several}


@pytest.fixture(scope="module")
def runs(session: Session) -> Session:
    """Two topics: of one nothing is copied, of the other the first segment, which is too old."""
    session = with_clusters(session, {"tier runs": "{}"})
    fold_tiers(session, topics(OPEN, OLD))
    decide(session, "tiers", ["tier runs"], NOW_MS, is_dry_run=False)
    return session


OLD = tiered("old", partition(), copied("s0", 0, at_ms=NOW_MS - RETENTION_MS))
AGAIN = tiered("old", partition(), [*copied("s0", 0, NOW_MS - RETENTION_MS), *copied("s1", 100)])


def test_a_run_a_row_for_each_partition_and_a_gauge(runs: Session) -> None:
    assert lag(runs, "tier runs", "open") == (300, 0, 0)
    assert lag(runs, "tier runs", "old") == (200, 100, 100)
    gauges = "select value from marts.metrics where metric_name = 'UploadTierLag'"
    where = "tags['topic'] = 'open' and tags['partition'] = '0' and cluster_id = 'tier runs'"
    assert rows(runs, f"{gauges} and {where}") == [(300.0,)]
    [(total, partitions)] = rows(
        runs,
        "select upload_tier_lag, partitions from marts.tier_lag_by_cluster "
        "where cluster_id = 'tier runs'",
    )
    assert (total, partitions) == (500, 2)


def test_when_nothing_changed_spark_is_not_asked(runs: Session) -> None:
    first = idle_run(runs.settings, "tiers", ["tier runs"], NOW_MS, is_dry_run=False)
    assert first is not None
    assert (first.counts["local_segments_upload"], first.counts["decided"]) == (5, 0)


def test_what_if_shows_the_difference_and_changes_nothing(runs: Session) -> None:
    before = rows(runs, "select * from decisions.delete_candidates where cluster_id = 'tier runs'")
    settings = rows(runs, "select count(*) from state.settings")

    def asked(by_segment: bool, **configs: str) -> list[tuple[Any, ...]]:
        wanted = {name.replace("_", "."): value for name, value in configs.items()}
        return what_if(runs, "old", wanted, ["tier runs"], NOW_MS, by_segment)

    [row] = asked(False, retention_ms="-1")
    assert row[:5] == ("tier runs", "old", 0, 200, 200)
    assert row[9:11] == (100, 0), "delete_tier_lag, and what it would be"
    decided = "select distinct topic_name from intermediate.int_tiers__tier_lag_summed"
    assert rows(runs, decided) == [("old",)], "the other topic was not decided about"
    [segment] = asked(True, retention_ms="-1")
    assert segment[2:] == ("delete", "keep", "RETENTION_TIME", "NOT_BREACHED")
    assert asked(True, retention_ms=str(RETENTION_MS)) == []
    with pytest.raises(MoldauError, match=r"retention\.ms: 'soon' is not allowed"):
        asked(False, retention_ms="soon")
    with pytest.raises(MoldauError, match=r"topic .olde. is in no snapshot.*did you mean old"):
        what_if(runs, "olde", {"retention.ms": "1"}, ["tier runs"], NOW_MS, False)
    too_long = {"local.retention.ms": str(RETENTION_MS + 1)}
    with pytest.raises(MoldauError, match="does not fit what is loaded of the topic: local"):
        what_if(runs, "old", too_long, ["tier runs"], NOW_MS, False)
    after = rows(runs, "select * from decisions.delete_candidates where cluster_id = 'tier runs'")
    assert (after, rows(runs, "select count(*) from state.settings")) == (before, settings)


def test_two_rule_sets_differ_at_the_boundary(runs: Session) -> None:
    compare(runs, "tiers", ("kip_963_draft", "kafka_4_4"), ["tier runs"], NOW_MS)
    assert rows(
        runs, "select decision_a, reason_code_a, decision_b from marts.ruleset_differences"
    ) == [("delete", "RETENTION_TIME", "keep")]


def test_only_what_changed_is_decided_again(runs: Session) -> None:
    before = run_ids(runs, "decisions.upload_candidates", "tier runs")
    fold_log(runs, {"tier runs": log_of([AGAIN])})
    run = decide(runs, "tiers", ["tier runs"], NOW_MS, is_dry_run=False)
    after = run_ids(runs, "decisions.upload_candidates", "tier runs")
    assert after["open"] == before["open"]
    assert after["old"] == {*before["old"], run.run_id}, "the segments that stay as they were, too"
    assert lag(runs, "tier runs", "old") == (100, 100, 100)
    history = "select count(*) from history.tier_lag where cluster_id = 'tier runs' and topic_name"
    assert rows(runs, f"{history} = 'open'") == [(1,)]
    assert rows(runs, f"{history} = 'old'") == [(2,)]


def test_time_alone_makes_a_decision_due(runs: Session) -> None:
    """The second segment is of NOW_MS, so it is too old when retention.ms has passed."""
    at_ms = NOW_MS + RETENTION_MS
    assert idle_run(runs.settings, "tiers", ["tier runs"], at_ms, is_dry_run=False) is None
    decide(runs, "tiers", ["tier runs"], at_ms, is_dry_run=False)
    assert lag(runs, "tier runs", "old") == (100, 200, 200)


class Killed(Exception):
    pass


KILLED_BEFORE = ("record_tier_lag", "record_tier_decision_changes")


@pytest.fixture(scope="module")
def twins(runs: Session) -> dict[str, Any]:
    """Two clusters of one topic: the run of one is killed before it records and then finished."""
    told: dict[str, Any] = {}

    run_models = Session.run_models

    def die_half_way(session: Session, *names: str) -> None:
        run_models(session, *(name for name in names if name not in KILLED_BEFORE))
        raise Killed

    topics = {name: [tiered("t", partition(), copied("s0", 0, 0))] for name in ("killed", "whole")}
    session = with_clusters(runs, {name: "{}" for name in topics})
    fold_tiers(session, topics)
    told["writes"] = writes(session, "tiers", "whole", NOW_MS)
    with pytest.MonkeyPatch.context() as patch, pytest.raises(Killed):
        patch.setattr(Session, "run_models", die_half_way)
        decide(session, "tiers", ["killed"], NOW_MS, is_dry_run=False)
    finish_interrupted(session)
    return told


def test_a_run_that_was_killed_before_it_recorded_ends_as_an_undisturbed_one(
    runs: Session, twins: dict[str, Any]
) -> None:
    hidden = ["run_id", "changed_in_run_id", "measured_at"]
    for table in ("decisions.upload_candidates", "decisions.delete_candidates", "history.tier_lag"):
        without = [name for name in hidden if name in {c.name for c in tables()[table].columns}]
        found = contents(runs, table, without, "cluster_id in ('killed', 'whole')")
        assert found["killed"] == found["whole"] != [], table
    changes = "select count(*) from history.decision_changes where cluster_id ="
    assert rows(runs, f"{changes} 'killed'") == rows(runs, f"{changes} 'whole'") != [(0,)]


def test_what_a_run_of_tiers_writes(twins: dict[str, Any]) -> None:
    assert twins["writes"] == {
        "decisions.upload_candidates": 1,
        "decisions.delete_candidates": 1,
        "state.tier_lag": 1,
        "history.tier_lag": 1,
        "history.decision_changes": 1,
        "state.runs": 1,
    }
