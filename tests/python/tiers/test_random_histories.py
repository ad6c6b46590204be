"""moldau decides about thousands of random partitions as the reference does.

Two runs of Spark in all: one cluster for each rule set, a topic for each seed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest
from decided_tiers import Decided, Key, decide_tiers
from kafka_deletes import Deletes, deletes
from kafka_reference import RULE_SETS, Decision, RuleSet
from kafka_uploads import Uploads, uploads
from random_partitions import NOW_MS, random_followers, random_partition
from tier_support import Tiered, tiered

from moldau.runs.session import Session

SEEDS = range(2_000)


def random_topic(seed: int) -> Tiered:
    partition, events = random_partition(seed)
    followers = random_followers(seed, partition)
    return tiered(f"seed {seed}", partition, events, followers=followers, index=seed % 3)


TOPICS = [random_topic(seed) for seed in SEEDS]
EVERY_REASON = {
    *("ELIGIBLE", "ACTIVE", "ABOVE_LAST_STABLE_OFFSET", "ALREADY_COPIED", "BELOW_LOG_START"),
    *("COPY_DISABLED", "DELAYED"),
    *("RETENTION_TIME", "RETENTION_SIZE", "LOG_START", "DELETE_STARTED", "UNREFERENCED"),
    *("NOT_BREACHED", "WALK_STOPPED", "OUTSIDE_LINEAGE", "COPY_IN_FLIGHT"),
}


def cluster_of(rules: RuleSet) -> str:
    return f"random-{rules.name}"


def key_of(rules: RuleSet, one: Tiered) -> Key:
    return cluster_of(rules), one.topic


EXPECTED: dict[Key, tuple[Uploads, Deletes]] = {
    key_of(rules, one): (
        uploads(one.partition, NOW_MS, rules),
        deletes(one.partition, NOW_MS, rules),
    )
    for rules in RULE_SETS
    for one in TOPICS
}


@pytest.fixture(scope="module")
def decided(session: Session) -> Decided:
    clusters = {cluster_of(rules): (rules, TOPICS) for rules in RULE_SETS}
    return decide_tiers(session, clusters, NOW_MS)


SUMS = {name for both in EXPECTED.values() for side in both for name in side.columns()}


def differences(found: Mapping[Key, Any], expected: Mapping[Key, Any]) -> list[str]:
    """The first few topics about which the two do not say the same."""
    wrong = [key for key in expected if found.get(key) != expected[key]]
    shown = [f"{key}: {found.get(key)}\n  not {expected[key]}" for key in wrong[:5]]
    return [f"{len(wrong)} of {len(expected)} differ", *shown] if wrong else []


def test_the_random_partitions_reach_every_rule() -> None:
    reasons = Counter(
        one.reason
        for up, down in EXPECTED.values()
        for one in [*up.decisions.values(), *down.decisions.values()]
    )
    assert set(reasons) == EVERY_REASON
    assert min(reasons.values()) > 50
    assert sum(bool(one.partition.metadata.orphans()) for one in TOPICS) > 50
    assert sum(down.lag != down.lag_sum for _, down in EXPECTED.values()) > 50
    assert sum(bool(down.over_deleted) for _, down in EXPECTED.values()) > 10


def test_what_is_uploaded(decided: Decided) -> None:
    found = {key: dict(decided.uploads.get(key, {})) for key in EXPECTED}
    expected = {key: up.decisions for key, (up, _) in EXPECTED.items()}
    assert not differences(found, expected)


def test_what_is_deleted(decided: Decided) -> None:
    """Beside the walk a deletion takes nothing from the lag; it may be without one."""
    walked: dict[Key, dict[str, Decision]] = {}
    for key, (_, down) in EXPECTED.items():
        walked[key] = {}
        for name, one in decided.deletes.get(key, {}).items():
            if name not in down.walked:
                assert (one.before, one.after) in ((None, None), (0, 0)), (key, name)
                one = Decision(one.decision, one.reason)
            walked[key][name] = one
    expected = {key: down.decisions for key, (_, down) in EXPECTED.items()}
    assert not differences(walked, expected)


def test_followers_upload_nothing(decided: Decided) -> None:
    assert decided.on_followers == {("keep", "NOT_LEADER")}


@pytest.mark.parametrize("side", [0, 1], ids=["uploads", "deletes"])
def test_the_sums(decided: Decided, side: int) -> None:
    expected = {key: both[side].columns() for key, both in EXPECTED.items()}
    found = {
        key: {name: decided.lags.get(key, {}).get(name) for name in columns}
        for key, columns in expected.items()
    }
    assert not differences(found, expected)


def test_no_lag_is_negative_and_that_of_uploads_is_its_sum(decided: Decided) -> None:
    for key, lags in decided.lags.items():
        assert lags["upload_tier_lag"] == lags["upload_tier_lag_sum"], key
        negative = {name for name in SUMS if (lags[name] or 0) < 0}
        assert not negative, key
    assert len(decided.lags) == len(EXPECTED)


def test_the_lag_falls_from_step_to_step(decided: Decided) -> None:
    """A chosen segment takes the lag from what its predecessor left, to 0 at last."""
    for key, several in [*decided.uploads.items()]:
        steps = chosen(several, "upload")
        assert [one.before for one in steps[1:]] == [one.after for one in steps[:-1]], key
        assert not steps or (steps[0].before, steps[-1].after) == (
            decided.lags[key]["upload_tier_lag"],
            0,
        )


def chosen(several: Mapping[int, Decision], decision: str) -> list[Decision]:
    return [several[base] for base in sorted(several) if several[base].decision == decision]
