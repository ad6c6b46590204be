"""A cycle, a sweep and a run of tiers that die again and again end like undisturbed ones.

Each dies at the next point of the same run; the command after it goes on from there. Here they die
in this process: what is in memory is lost, what is written stays. `test_killed_processes.py` does
the same with real processes at the two points at which a death is most unlike an exception.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from kill_support import (
    AT_MS,
    GROUPS,
    Told,
    calls_in,
    calm,
    expect_each_once,
    expect_same_end,
    fold_groups,
    settings_of,
    told_of,
    webhook,
)
from spark_support import dying_at, fresh, with_clusters

from moldau.runs.decide import decide
from moldau.runs.resume import finish_interrupted
from moldau.sessions.session import Session
from moldau.settings.rule_sets import rule_sets

sys.path.append(str(Path(__file__).parents[1] / "tiers"))
from kafka_metadata import COPY_FINISHED, COPY_STARTED, Event, Segment
from kafka_reference import Config, Partition, from_bases
from tier_support import fold_tiers, tiered

DEATHS = {
    "cycle": ("after_decide", "after_call", "before_clear", "before_run_row"),
    "sweep": ("after_decide", "before_clear", "after_clear", "before_run_row"),
    "tiers": ("after_decide", "before_run_row"),
}


def fold_a_tiered_topic(session: Session, names: list[str]) -> None:
    old = Segment("old", 0, 99, {0: 0}, max_timestamp_ms=0)
    copied = [Event("old", COPY_STARTED, copy=old), Event("old", COPY_FINISHED)]
    ends = {"last_stable": 310, "high_watermark": 310, "log_end": 310}
    config = Config(retention_ms=1000)
    partition = Partition(local=from_bases([0, 100, 200, 300]), config=config, **ends)
    topics = [tiered("t", partition, copied)]
    fold_tiers(session, dict.fromkeys([*names, *calm(names)], topics))


@pytest.fixture(scope="module")
def told(session: Session, tmp_path_factory: pytest.TempPathFactory) -> Told:
    folder = tmp_path_factory.mktemp("kills")
    with webhook() as url:
        settings = settings_of(folder, url)
        names = list(settings)
        twins = dict(zip(calm(names), settings.values(), strict=True))
        session = with_clusters(session, settings | twins)
        fold_groups(session, names)
        fold_a_tiered_topic(session, names)
        for kind, (first, *others) in DEATHS.items():
            with dying_at(first):
                decide(fresh(session), kind, names, AT_MS, is_dry_run=False)
            for point in others:
                with dying_at(point):
                    finish_interrupted(fresh(session))
            finish_interrupted(fresh(session))
        for kind in DEATHS:
            decide(session, kind, calm(names), AT_MS, is_dry_run=False)
    return told_of(session, names, *DEATHS) | {"called": calls_in(folder)}


def test_what_was_killed_ends_like_what_was_not(told: Told) -> None:
    expect_same_end(told)


def test_each_call_is_recorded_and_each_epoch_cleared_once(told: Told) -> None:
    expect_each_once(told)


def test_a_call_whose_outcome_was_recorded_is_not_repeated(told: Told) -> None:
    """A cluster of each rule set and its calm one use this plugin."""
    assert told["called"] == dict.fromkeys(GROUPS, 2 * len(rule_sets("groups")))


def test_a_killed_run_keeps_its_id_and_has_one_row(told: Told) -> None:
    assert [kind for kind, _ in told["runs"]] == [*DEATHS] * 2
    decided = [counts for _, counts in told["runs"]]
    assert decided[:3] == decided[3:]
