"""moldau decides about thousands of random partitions as the reference does.

Two runs for all, on clusters with a rule set each and a topic for each seed: the first on what was
known a little earlier, the second on everything, so that it decides anew only what it has to.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from decided_tiers import Decided, Key, read_decided, settings_of
from kafka_deletes import Deletes, deletes
from kafka_metadata import Metadata
from kafka_reference import RULE_SETS, Decision, Partition, RuleSet, copied_offset
from kafka_uploads import Uploads, uploads
from random_partitions import NOW_MS, random_config, random_followers, random_partition
from spark_support import with_clusters
from tier_support import Record, Tiered, fold_log, fold_snapshots, log_of, tiered

from moldau.runs.decide import decide
from moldau.sessions.session import Session

pytestmark = pytest.mark.spark  # its marts are compared

SEEDS = range(1_000)
EARLIER_MS = NOW_MS - 3_000
STEPS = pytest.mark.parametrize("step", [0, 1], ids=["at first", "again"])


def random_topic(seed: int) -> Tiered:
    partition, events = random_partition(seed)
    followers = random_followers(seed, partition)
    return tiered(f"seed {seed}", partition, events, followers=followers, index=seed % 3)


def earlier(seed: int, one: Tiered) -> Tiered | None:
    """What was known before: the same, or fewer events and another snapshot, or nothing."""
    chance = random.Random(f"earlier {seed}")
    what = chance.choice(["same", "same", "events", "snapshot", "config", "nothing"])
    if what == "nothing":
        return None
    if what == "events":
        events = one.events[: chance.randint(0, len(one.events))]
        partition = replace(one.partition, metadata=Metadata(events))
        return replace(one, partition=partition, events=events)
    changes: dict[str, Mapping[str, Any]] = {
        "same": {},
        "config": {"config": random_config(seed + 1)},
        "snapshot": another_snapshot(chance, one.partition),
    }
    return replace(one, partition=replace(one.partition, **changes[what]))


def another_snapshot(chance: random.Random, partition: Partition) -> dict[str, Any]:
    """One thing of it is other than it is later."""
    end = partition.log_end
    return chance.choice(
        [
            {"last_stable": chance.randint(0, end)},
            {"log_start": chance.randint(0, end)},
            {"log_end": end + chance.randint(1, 9)},
            {"lineage": {0: 0}},
            {"broker_id": 4},
            {"local": partition.local[: chance.randint(1, len(partition.local))]},
        ]
    )


TOPICS = [random_topic(seed) for seed in SEEDS]
EARLIER = [earlier(seed, one) for seed, one in zip(SEEDS, TOPICS, strict=True)]
KNOWN = [[one for one in EARLIER if one], TOPICS]
EVERY_REASON = {
    *("ELIGIBLE", "ACTIVE", "ABOVE_LAST_STABLE_OFFSET", "ALREADY_COPIED", "BELOW_LOG_START"),
    *("COPY_DISABLED", "DELAYED"),
    *("RETENTION_TIME", "RETENTION_SIZE", "LOG_START", "DELETE_STARTED", "UNREFERENCED"),
    *("NOT_BREACHED", "WALK_STOPPED", "OUTSIDE_LINEAGE", "COPY_IN_FLIGHT"),
}
Expected = dict[Key, tuple[Uploads, Deletes]]


def cluster_of(rules: RuleSet) -> str:
    return f"random-{rules.name}"


def expected_of(topics: Sequence[Tiered], at_ms: int) -> Expected:
    return {
        (cluster_of(rules), one.topic): (
            uploads(one.partition, at_ms, rules),
            deletes(one.partition, at_ms, rules),
        )
        for rules in RULE_SETS
        for one in topics
    }


EXPECTED = [expected_of(KNOWN[0], EARLIER_MS), expected_of(KNOWN[1], NOW_MS)]
SUMS = {name for both in EXPECTED[1].values() for side in both for name in side.columns()}


def records_known() -> list[list[Record]]:
    """Those of the first step, and the others."""
    log = log_of(TOPICS)
    parts: list[list[Record]] = [[], []]
    for now, before in zip(TOPICS, EARLIER, strict=True):
        known = len(before.events) if before else 0
        parts[0] += log[:known]
        parts[1] += log[known : len(now.events)]
        log = log[len(now.events) :]
    return parts


@pytest.fixture(scope="module")
def decided(session: Session) -> list[Decided]:
    """What each of the two runs decided."""
    clusters = {cluster_of(rules): settings_of(rules) for rules in RULE_SETS}
    configured = with_clusters(session, clusters)
    found = []
    for topics, records, at_ms in zip(KNOWN, records_known(), (EARLIER_MS, NOW_MS), strict=True):
        fold_log(configured, dict.fromkeys(clusters, records))
        fold_snapshots(configured, dict.fromkeys(clusters, topics))
        decide(configured, "tiers", list(clusters), at_ms, is_dry_run=False)
        found.append(read_decided(configured, list(clusters), at_ms))
    return found


def differences(found: Mapping[Key, Any], expected: Mapping[Key, Any]) -> list[str]:
    """The first few topics about which the two do not say the same."""
    wrong = [key for key in expected if found.get(key) != expected[key]]
    shown = [f"{key}: {found.get(key)}\n  not {expected[key]}" for key in wrong[:5]]
    return [f"{len(wrong)} of {len(expected)} differ", *shown] if wrong else []


@STEPS
def test_the_random_partitions_reach_every_rule(step: int) -> None:
    reasons = Counter(
        one.reason
        for up, down in EXPECTED[step].values()
        for one in [*up.decisions.values(), *down.decisions.values()]
    )
    assert set(reasons) == EVERY_REASON
    assert min(reasons.values()) > 25
    assert sum(bool(one.partition.metadata.orphans()) for one in KNOWN[step]) > 50
    assert sum(down.lag != down.lag_sum for _, down in EXPECTED[step].values()) > 50
    assert sum(bool(down.over_deleted) for _, down in EXPECTED[step].values()) > 5


@STEPS
def test_what_is_uploaded(decided: list[Decided], step: int) -> None:
    found = {key: dict(decided[step].uploads.get(key, {})) for key in EXPECTED[step]}
    expected = {key: up.decisions for key, (up, _) in EXPECTED[step].items()}
    assert not differences(found, expected)


@STEPS
def test_what_is_deleted(decided: list[Decided], step: int) -> None:
    """Beside the walk a deletion takes nothing from the lag; it may be without one."""
    found: dict[Key, dict[str, Decision]] = {}
    for key, (_, down) in EXPECTED[step].items():
        found[key] = {}
        for name, one in decided[step].deletes.get(key, {}).items():
            if name not in down.walked:
                assert (one.before, one.after) in ((None, None), (0, 0)), (key, name)
                one = Decision(one.decision, one.reason)
            found[key][name] = one
    expected = {key: down.decisions for key, (_, down) in EXPECTED[step].items()}
    assert not differences(found, expected)


@STEPS
def test_followers_upload_nothing(decided: list[Decided], step: int) -> None:
    assert decided[step].on_followers == {("keep", "NOT_LEADER")}


@STEPS
@pytest.mark.parametrize("side", [0, 1], ids=["uploads", "deletes"])
def test_the_sums(decided: list[Decided], side: int, step: int) -> None:
    expected = {key: both[side].columns() for key, both in EXPECTED[step].items()}
    found = {
        key: {name: decided[step].lags.get(key, {}).get(name) for name in columns}
        for key, columns in expected.items()
    }
    assert not differences(found, expected)


@STEPS
def test_how_far_a_log_is_copied_and_where_it_will_begin(decided: list[Decided], step: int) -> None:
    expected = {
        (cluster_of(rules), one.topic): (
            copied_offset(one.partition)[0],
            EXPECTED[step][cluster_of(rules), one.topic][1].log_start,
        )
        for rules in RULE_SETS
        for one in KNOWN[step]
    }
    found = {
        key: (row["copied_offset"], row["log_start_after"])
        for key, row in decided[step].partitions.items()
    }
    assert not differences(found, expected)


@STEPS
def test_no_lag_is_negative_and_that_of_uploads_is_its_sum(
    decided: list[Decided], step: int
) -> None:
    for key, lags in decided[step].lags.items():
        assert lags["upload_tier_lag"] == lags["upload_tier_lag_sum"], key
        assert not {name for name in SUMS if (lags[name] or 0) < 0}, key
    assert set(decided[step].lags) == set(EXPECTED[step])


@STEPS
def test_the_lag_falls_from_step_to_step(decided: list[Decided], step: int) -> None:
    """A segment to upload takes the lag from where the one before it left it, to 0 at last."""
    for key, several in decided[step].uploads.items():
        steps = [several[base] for base in sorted(several) if several[base].decision == "upload"]
        assert [one.before for one in steps[1:]] == [one.after for one in steps[:-1]], key
        lag = decided[step].lags[key]["upload_tier_lag"]
        assert not steps or (steps[0].before, steps[-1].after) == (lag, 0), key
