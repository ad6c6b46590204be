"""moldau translates thousands of random partitions as the reference does, and is never ahead.

Three runs for all, each after a load of what has happened since. Every world has flows of all rule
sets on a hundred partitions; the worlds without lost syncs have `full_history` alone on many more,
which the second of the runs decides for the last time.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from full_history_reference import fold
from mirror_logs import World
from mirror_safety import DROPPED, EXACTLY_ONCE, FOREIGN, RECREATED, REPLAYS
from mirror_support import (
    Key,
    Translated,
    fold_checkpoints,
    fold_starts,
    fold_syncs,
    translations,
    with_flows,
)
from random_mirrors import (
    ALL_RULES,
    GATED_ONLY,
    Expected,
    Rules,
    Sample,
    expectations,
    in_one_topic,
    random_partition,
    with_checkpoints,
)
from spark_support import fold_records, fresh, rows

from moldau.runs.decide import decide
from moldau.sessions.session import Session

MOMENTS = 3
COMMITTED_BEFORE_MS = 1_000_000


def compared(name: str, world: World, seeds: range) -> Sample:
    several = [with_checkpoints(random_partition(world, seed, 6, MOMENTS)) for seed in seeds]
    return Sample(f"random-{name}", ALL_RULES, in_one_topic(several))


def only_gated(name: str, world: World, seeds: range) -> Sample:
    several = [random_partition(world, seed, 22, MOMENTS - 1) for seed in seeds]
    return Sample(f"random-{name}-gated", GATED_ONLY, in_one_topic(several))


WORLDS = {
    "replays": REPLAYS,
    "foreign": FOREIGN,
    "recreated": RECREATED,
    "exactly-once": EXACTLY_ONCE,
}
# reasons of a decision that moves nothing
NO_NEWS = {"SKIP_REPEATED", "SKIP_DOWNSTREAM_REWIND", "REPLAY_CATCHING_UP", "NO_SYNC"}
STEPS = pytest.mark.parametrize("step", range(MOMENTS))


@functools.cache
def all_compared() -> list[Sample]:
    worlds = {**WORLDS, "dropped": DROPPED}
    return [compared(name, world, range(60)) for name, world in worlds.items()]


@functools.cache
def all_safe() -> list[Sample]:
    return [only_gated(name, world, range(1_000, 1_150)) for name, world in WORLDS.items()]


def all_samples() -> list[Sample]:
    return [*all_compared(), *all_safe()]


@functools.cache
def all_expected() -> list[dict[Key, Expected]]:
    found: list[dict[Key, Expected]] = [{} for _ in range(MOMENTS)]
    for sample in all_samples():
        for one in sample.partitions:
            for rules in sample.rules:
                told = expectations(one, rules, sample.synced_at_start)
                for at, groups in enumerate(told):
                    for group, expected in groups.items():
                        found[at][sample.flow(rules), group, one.topic] = expected
    return found


@pytest.fixture(scope="module")
def decided(session: Session) -> list[dict[Key, Translated]]:
    """What stands in decisions.offset_translations after each of the runs."""
    flows = {name: flow for sample in all_samples() for name, flow in sample.flows().items()}
    configured = with_flows(session, flows)
    sources = [sample.source for sample in all_samples()]
    fold_starts(configured, [start for sample in all_compared() for start in sample.starts()])
    found = []
    for at in range(MOMENTS):
        fold_syncs(
            configured, {one.mirror: syncs for one in all_samples() if (syncs := one.syncs(at))}
        )
        if at == 0:
            told = {one.mirror: several for one in all_compared() if (several := one.checkpoints())}
            fold_checkpoints(configured, told)
        fold_records(
            configured, {one.source: new for one in all_samples() if (new := one.new_commits(at))}
        )
        decide(configured, "translate", sources, COMMITTED_BEFORE_MS + at, is_dry_run=False)
        found.append(translations(session, *sources))
        configured = fresh(configured)  # as if moldau were started again
    return found


def differences(found: dict[Key, Any], expected: dict[Key, Any]) -> list[str]:
    """How many differ, flow by flow, and the first few."""
    wrong = [key for key in expected if found.get(key) != expected[key]]
    shown = [f"{key}: {found.get(key)}\n  not {expected[key]}" for key in wrong[:5]]
    flows = Counter(flow for flow, *_ in wrong)
    return [f"{len(wrong)} of {len(expected)} differ: {dict(flows)}", *shown] if wrong else []


def of_rules(names: set[str], step: int) -> Iterator[tuple[Key, Expected]]:
    """Expectations of the flows of some rules."""
    flows = {
        sample.flow(rules)
        for sample in all_samples()
        for rules in sample.rules
        if rules.name in names
    }
    for key, expected in all_expected()[step].items():
        if key[0] in flows:
            yield key, expected


def is_decided_before(decided: list[dict[Key, Translated]], step: int, key: Key) -> bool:
    """The row stands from the run before."""
    return step > 0 and decided[step][key] == decided[step - 1].get(key)


@STEPS
@pytest.mark.parametrize("rules", ALL_RULES, ids=[rules.name for rules in ALL_RULES])
def test_translation_and_reason(
    decided: list[dict[Key, Translated]], step: int, rules: Rules
) -> None:
    expected, found = {}, {}
    for key, one in of_rules({rules.name}, step):
        row = decided[step][key]
        is_kept = is_decided_before(decided, step, key)
        # what is kept was found right before, and what would be decided anew is no news
        is_news = not is_kept or (one.reason not in NO_NEWS and not one.is_kept)
        expected[key] = (one.translated, one.reason if is_news else row.reason_code)
        found[key] = (row.translated_offset, row.reason_code)
    assert not differences(found, expected)


@STEPS
@pytest.mark.parametrize("name", ["gated", "anchored", "clamped", "max", "parity"])
def test_bounds(decided: list[dict[Key, Translated]], step: int, name: str) -> None:
    """4.4."""
    told = {key: one for key, one in of_rules({name}, step) if (one.translated or 0) >= 0}
    expected = {key: (one.lower, one.upper) for key, one in told.items()}
    found = {key: (one.lower_bound, one.upper_bound) for key, one in decided[step].items()}
    assert not differences(found, expected)
    for one in decided[step].values():
        if one.lower_bound is None or one.upper_bound is None:
            assert one.reread_max is None
        else:
            assert one.reread_max == one.upper_bound - one.lower_bound


@STEPS
def test_the_named_sync_proves_the_translation(
    decided: list[dict[Key, Translated]], step: int
) -> None:
    """I1, 4.6: a sync at or before the commit, of the current incarnation and admitted."""
    syncs = {
        (sample.source, one.topic): {
            folded.log_offset: folded
            for folded in one.folds[min(step, len(one.moments) - 1), "full_history"]
        }
        for sample in all_samples()
        for one in sample.partitions
    }
    for sample in all_samples():
        for key, expected in of_rules({"gated"}, step):
            flow, _, topic = key
            if flow != sample.flow(ALL_RULES[0]) or expected.is_kept:
                continue
            found = decided[step][key]
            if expected.translation is None or (found.translated_offset or -1) < 0:
                continue
            assert found.sync_log_offset is not None and found.upstream_offset is not None
            proof = syncs[sample.source, topic][found.sync_log_offset]
            assert proof.is_admitted and proof.u <= found.upstream_offset
            assert proof.translates(found.upstream_offset) == found.translated_offset
            assert proof.incarnation == expected.translation.incarnation


def test_full_history_is_never_ahead(decided: list[dict[Key, Translated]]) -> None:
    """4.2.2: of commits that are of the source as it is.

    Where syncs were lost it is ahead as seldom as the reference, which `test_mirror_safety` counts.
    """
    counted: Counter[str] = Counter()
    for sample in all_samples():
        for one in sample.partitions:
            for at, moment in enumerate(one.moments):
                # an older commit is not of a source that was made again since
                asked = moment.fresh if one.world.recreated_sources else moment.commits
                for group in asked:
                    key = sample.flow(ALL_RULES[0]), group, one.topic
                    found = decided[at][key]
                    if found.upstream_offset is None:
                        continue
                    is_safe = moment.truth.is_safe(found.upstream_offset, found.translated_offset)
                    told = all_expected()[at][key].translated
                    is_told = not moment.truth.is_safe(found.upstream_offset, told)
                    counted["all"] += 1
                    counted["ahead"] += not (is_safe or (one.world.dropped_syncs and is_told))
    assert counted["all"] > 25_000
    assert counted["ahead"] == 0


def test_nothing_new_keeps_each_row(decided: list[dict[Key, Translated]]) -> None:
    for sample in all_safe():
        (flow,) = sample.flows()
        before, after = (
            {key: one for key, one in decided[step].items() if key[0] == flow} for step in (1, 2)
        )
        assert before == after


def test_the_folded_syncs(decided: list[dict[Key, Translated]], session: Session) -> None:
    """4.1b, 4.2.3: incarnations and gates of all rule sets, whatever rule set the flow has."""
    for sample in all_samples():
        flow = sample.flow(sample.rules[0])
        found = {
            (topic, log_offset): tuple(rest)
            for topic, log_offset, *rest in rows(
                session,
                "select topic_name, sync_log_offset, upstream_offset, downstream_offset, "
                "incarnation, parity_incarnation, is_admitted, gap_before "
                f"from state.offset_syncs where flow = '{flow}'",
            )
        }
        expected = {}
        for one in sample.partitions:
            known = one.known(-1)
            parity = fold(known, "parity")
            gated = one.folds[len(one.moments) - 1, "full_history"]
            for sync, by_parity in zip(gated, parity, strict=True):
                expected[one.topic, sync.log_offset] = (
                    *(sync.u, sync.d, sync.incarnation, by_parity.incarnation),
                    *(sync.is_admitted, sync.gap_before),
                )
        assert not differences(found, expected)  # type: ignore[arg-type]


def test_emission_is_monotone(decided: list[dict[Key, Translated]], session: Session) -> None:
    """I2, I3: over the three runs, after each of which moldau is started again."""
    sources = ", ".join(f"'{flow}'" for sample in all_samples() for flow in sample.flows())
    last: dict[tuple[str, ...], tuple[int, int]] = {}
    emitted: Counter[str] = Counter()
    for flow, group, topic, g, d, reason in rows(
        session,
        "select flow, group_id, target_topic_name, upstream_offset, downstream_offset, "
        f"reason_code from history.checkpoints where flow in ({sources}) order by run_id",
    ):
        before = last.get((flow, group, topic))
        emitted[reason] += 1
        if before is not None and d <= before[1]:
            is_clamped = reason == "BEFORE_FIRST_SYNC_CLAMPED"
            is_told = reason in ("EMIT_GROUP_REWIND", "EMIT_NEW_INCARNATION") or is_clamped
            assert is_told, (flow, group, topic)
        last[flow, group, topic] = (g, d)
    assert {"EMIT_FIRST", "EMIT_ADVANCED", "EMIT_GROUP_REWIND"} <= set(emitted)
    assert emitted["EMIT_NEW_INCARNATION"] > 50
