"""The safety argument of section 4, on more than 100,000 random translations of the reference."""

from __future__ import annotations

from collections import Counter

import full_history_reference as full
import mirror_maker as maker
import pytest
from mirror_logs import World, instants
from mirror_maker import Checkpoint
from mirror_safety import DROPPED, EXACTLY_ONCE, FOREIGN, RECREATED, REPLAYS, count_unsafe

SAFE_WORLDS = {
    "replays": (REPLAYS, 200),
    "foreign records": (FOREIGN, 50),
    "topics made again": (RECREATED, 200),
    "exactly once": (EXACTLY_ONCE, 25),
}


@pytest.fixture(scope="module")
def counts() -> dict[str, Counter[str]]:
    """Without dropped syncs."""
    return {
        name: count_unsafe(world, range(seeds), commits=25)
        for name, (world, seeds) in SAFE_WORLDS.items()
    }


def test_full_history_is_never_ahead(counts: dict[str, Counter[str]]) -> None:
    """4.1b: at random instants, most of them while something is being replayed."""
    assert sum(one["all"] for one in counts.values()) > 100_000
    assert {name: one["full_history"] for name, one in counts.items()} == dict.fromkeys(counts, 0)
    assert sum(one["held back"] for one in counts.values()) > 5_000


def test_without_the_gate_a_replay_leads_ahead(counts: dict[str, Counter[str]]) -> None:
    """4.1b: the plain maximum is about as often unsafe as Kafka; at rest it never is (4.1)."""
    replays = counts["replays"]
    assert replays["full_history_max"] >= replays["kafka"] > replays["all"] / 100
    assert {name: one["max at rest"] for name, one in counts.items()} == dict.fromkeys(counts, 0)
    # a target that was made again leads Kafka behind the log's end (2.6)
    recreated = counts["topics made again"]
    assert recreated["kafka"] > 2 * recreated["full_history_max"]


def test_lost_syncs_can_hide_a_replay() -> None:
    """4.1b: 30 % dropped; a few are ahead then, of the plain maximum and of Kafka many."""
    counted = count_unsafe(DROPPED, range(150), commits=25)
    assert counted["full_history"] < counted["all"] / 1_000
    assert counted["full_history_max"] >= counted["kafka"] > 50 * counted["full_history"]


@pytest.mark.parametrize("name", ["replays", "topics made again"])
def test_translations_grow_with_commits_and_time(name: str) -> None:
    """4.1, I6: in one incarnation; and no less than Kafka's where no replay is waited for (I5)."""
    world, _ = SAFE_WORLDS[name]
    for seed in range(30):
        before: dict[int, full.Translation] = {}
        for instant in instants(world, seed, commits=0):
            every = range(0, instant.truth.source_end, 3)
            folds = {ruleset: full.fold(instant.syncs, ruleset) for ruleset in full.RULE_SETS}
            answers = {
                ruleset: {g: full.translate(folded, g) for g in every}
                for ruleset, folded in folds.items()
            }
            for told in answers.values():
                offsets = [one.offset for one in told.values() if one.offset is not None]
                assert offsets == sorted(offsets)
            told, highest = answers["full_history"], answers["full_history_max"]
            for g, one in told.items():
                assert (one.at_rest or -1) == (highest[g].offset or -1)
            for g in told.keys() & before.keys():
                if told[g].incarnation == before[g].incarnation:
                    assert (told[g].offset or 0) >= (before[g].offset or 0)
            before = told
            if len({one.incarnation for one in folds["full_history_max"]}) == 1:
                store = maker.kafka_store("sparse_reads_checkpoints", instant.syncs)
                for g in every:
                    kafka, answer = store.translate(g), highest[g].offset
                    assert kafka is None or (answer is not None and answer >= kafka)


def test_bounds_hold_where_nothing_is_replayed() -> None:
    """4.4: the true position is between them, also by the right anchor."""
    exact = 0
    for seed in range(60):
        for instant in instants(World(replays=0), seed, commits=20):
            folded = full.fold(instant.syncs)
            for g in instant.commits:
                for is_anchored in (False, True):
                    told = full.translate(folded, g, anchored=is_anchored)
                    if told.upper is not None and told.lower is not None:
                        assert told.lower <= instant.truth.position(g) <= told.upper
                        exact += is_anchored and told.reread_max == 0
    assert exact > 1_000


@pytest.mark.parametrize("world", [REPLAYS, DROPPED], ids=["replays", "dropped"])
def test_anchoring_skips_nothing_where_mm2_writes_alone(world: World) -> None:
    """4.4: what the gate lets through, the anchor does not lead ahead either."""
    counted = ahead = 0
    for seed in range(60):
        for instant in instants(world, seed, commits=20):
            folded = full.fold(instant.syncs)
            for g in instant.commits:
                told = full.translate(folded, g, anchored=True)
                counted += 1
                ahead += instant.truth.is_safe(g, told.floor) and not instant.truth.is_safe(
                    g, told.offset
                )
    assert ahead <= (counted / 1_000 if world.dropped_syncs else 0)


def test_reverse_translation_skips_nothing() -> None:
    """4.5: with replays and foreign records, without and with dropped syncs."""
    for world in (REPLAYS, FOREIGN, DROPPED):
        for seed in range(60):
            for instant in instants(world, seed, commits=0):
                folded = full.fold(instant.syncs)
                for x in range(0, instant.truth.target_end, 5):
                    resumed = full.upstream_of(folded, x)
                    assert resumed is None or resumed <= instant.truth.consumed_upstream(x)


def test_clamping_skips_nothing_where_no_sync_was_lost() -> None:
    """4.3."""
    clamped = 0
    for seed in range(100):
        for instant in instants(World(gaps=40), seed, commits=20):
            folded = full.fold(instant.syncs)
            for g in instant.commits:
                told = full.translate(folded, g, clamp_first=True)
                clamped += told.is_clamped
                assert instant.truth.is_safe(g, told.offset)
    assert clamped > 50


def test_emission_is_monotone_in_an_incarnation() -> None:
    """I2, I3: over runs at random instants; D falls for a group's rewind or an incarnation only."""
    reasons: Counter[str] = Counter()
    for seed in range(150):
        last: Checkpoint | None = None
        for instant in instants(RECREATED, seed, commits=1, share=60):
            folded = full.fold(instant.syncs)
            (g,) = instant.commits
            translation, reason = full.decide(folded, full.Commit(g, instant.truth.at_ms), last)
            reasons[reason] += 1
            now = full.emitted(last, g, translation, reason)
            if last is not None and now is not last and now is not None:
                has_fallen = now.downstream <= last.downstream
                assert not has_fallen or reason in ("EMIT_GROUP_REWIND", "EMIT_NEW_INCARNATION")
            last = now
    assert set(reasons) >= {
        "EMIT_FIRST",
        "EMIT_ADVANCED",
        "EMIT_GROUP_REWIND",
        "EMIT_NEW_INCARNATION",
        "SKIP_REPEATED",
        "REPLAY_CATCHING_UP",
    }
