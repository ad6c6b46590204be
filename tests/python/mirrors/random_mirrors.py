"""Random partitions at a few moments of their lives, and what the reference says at each."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import full_history_reference as full
import mirror_maker as maker
from full_history_reference import FoldedSync
from mirror_logs import MirrorLogs, Truth, World
from mirror_maker import Checkpoint, Sync
from mirror_support import (
    CheckpointRecord,
    CommitRecord,
    Mirror,
    SyncRecord,
    TaskStart,
    commit_records,
    flow_settings,
)
from spark_support import Record


@dataclass(frozen=True)
class Rules:
    """A flow of the comparison; `start`: the checkpoint task read what was there at first."""

    name: str
    ruleset: str
    is_anchored: bool = False
    clamps_first: bool = False
    is_started: bool = False
    could_read: bool = True


ALL_RULES = (
    Rules("gated", "full_history"),
    Rules("anchored", "full_history", is_anchored=True),
    Rules("clamped", "full_history", clamps_first=True),
    Rules("max", "full_history_max"),
    Rules("parity", "parity"),
    Rules("sparse", "sparse_reads_checkpoints"),
    Rules("readable", "sparse_reads_checkpoints", is_started=True),
    Rules("denied", "sparse_reads_checkpoints", is_started=True, could_read=False),
    Rules("latest", "latest_sync"),
)
GATED_ONLY = ALL_RULES[:1]


@dataclass(frozen=True)
class Moment:
    """`commits`: of groups by name, what they last committed and when; None: removed.

    `fresh`: groups that committed now, and so in the source as it is now.
    """

    sync_count: int
    truth: Truth
    commits: Mapping[str, full.Commit]
    fresh: frozenset[str]


@dataclass
class RandomPartition:
    """One topic partition. `syncs` have the offsets of a syncs topic that it shares."""

    world: World
    seed: int
    syncs: list[Sync]
    moments: list[Moment]
    # of MM2, before the first moment: group -> checkpoint
    checkpoints: Mapping[str, Checkpoint] = field(default_factory=dict)
    missing_before: list[int] = field(default_factory=list)

    @property
    def topic(self) -> str:
        return f"topic-{self.seed}"

    @property
    def index(self) -> int:
        return self.seed % 3

    def known(self, at: int) -> list[Sync]:
        return self.syncs[: self.moments[at].sync_count]

    @cached_property
    def folds(self) -> dict[tuple[int, str], list[FoldedSync]]:
        return {
            (at, ruleset): full.fold(
                self.known(at),
                ruleset,
                is_exactly_once=self.world.is_exactly_once,
                missing_before=self.missing_before,
            )
            for at in range(len(self.moments))
            for ruleset in full.RULE_SETS
        }


def random_partition(world: World, seed: int, groups: int, moments: int) -> RandomPartition:
    logs, chance = MirrorLogs(world, seed), random.Random(f"moments {seed}")
    wanted = sorted(chance.sample(range(3, world.steps), moments))
    found: list[Moment] = []
    for number, _ in enumerate(logs.live()):
        if number in wanted:
            found.append(_moment(logs, chance, groups, found))
    while len(found) < moments:
        found.append(_moment(logs, chance, groups, found))
    return RandomPartition(world, seed, logs.syncs, found)


def _moment(
    logs: MirrorLogs, chance: random.Random, groups: int, before: Sequence[Moment]
) -> Moment:
    commits = dict(before[-1].commits) if before else {}
    names = [f"g{number}" for number in range(groups)]
    fresh = {name for name in names if not before or chance.randrange(100) < 70}
    for name in sorted(fresh):
        is_removed = bool(before) and chance.randrange(100) < 2
        offset = None if is_removed else chance.randint(0, logs.source_end)
        commits[name] = full.Commit(offset, logs.at_ms)
    return Moment(len(logs.syncs), logs.truth(), commits, frozenset(fresh))


def with_checkpoints(one: RandomPartition) -> RandomPartition:
    """MM2 emitted some before: as its store had it then, or as nothing explains."""
    chance = random.Random(f"checkpoints {one.seed}")
    syncs = one.known(0)
    if not syncs or one.world.recreated_targets or one.world.recreated_sources:
        return one
    known = syncs[: chance.randint(1, len(syncs))]
    store = maker.kafka_store("sparse_reads_checkpoints", known)
    found = {}
    for group, commit in one.moments[0].commits.items():
        g = chance.randint(0, commit.offset or 0)
        translated = store.translate(g)
        if chance.randrange(100) < 40 and translated is not None and translated >= 0:
            strange = chance.randrange(100) < 10
            found[group] = Checkpoint(g, translated + chance.randint(1, 9) * strange)
    return replace(one, checkpoints=found)


def in_one_topic(partitions: Sequence[RandomPartition]) -> list[RandomPartition]:
    """Their syncs one behind the other as they came in, moment by moment, in one syncs topic."""
    places: list[tuple[int, int, int, int]] = []  # moment, time, partition, number of the sync
    for position, one in enumerate(partitions):
        ends = [moment.sync_count for moment in one.moments]
        for number, sync in enumerate(one.syncs[: ends[-1]]):
            moment = next(at for at, end in enumerate(ends) if number < end)
            places.append((moment, sync.at_ms, position, number))
    offsets = {
        (position, number): offset for offset, (_, _, position, number) in enumerate(sorted(places))
    }
    return [
        replace(
            one,
            syncs=[
                replace(sync, log_offset=offsets[position, number])
                for number, sync in enumerate(one.syncs[: one.moments[-1].sync_count])
            ],
        )
        for position, one in enumerate(partitions)
    ]


@dataclass
class Sample:
    """One source and its target; the syncs of its partitions share a topic."""

    source: str
    rules: tuple[Rules, ...]
    partitions: list[RandomPartition]
    commits: list[CommitRecord] = field(default_factory=list)  # folded so far

    @property
    def mirror(self) -> Mirror:
        return self.source, f"{self.source}-target"

    @property
    def synced_at_start(self) -> int:
        return sum(one.moments[0].sync_count for one in self.partitions)

    def flow(self, rules: Rules) -> str:
        return f"{self.source}-{rules.name}"

    def flows(self) -> dict[str, str]:
        is_exactly_once = self.partitions[0].world.is_exactly_once
        support = {"exactly.once.source.support": "enabled"} if is_exactly_once else {}
        return {
            self.flow(one): flow_settings(
                *self.mirror,
                one.ruleset,
                anchored=one.is_anchored,
                clamp_first=one.clamps_first,
                **support,
            )
            for one in self.rules
        }

    def starts(self) -> list[TaskStart]:
        return [
            TaskStart(self.source, self.flow(one), 0, self.synced_at_start, one.could_read)
            for one in self.rules
            if one.is_started
        ]

    def checkpoints(self) -> list[CheckpointRecord]:
        return [
            CheckpointRecord(
                group, f"{self.source}.{one.topic}", last.upstream, last.downstream, 0, one.index
            )
            for one in self.partitions
            for group, last in one.checkpoints.items()
        ]

    def syncs(self, at: int) -> list[SyncRecord]:
        """New at this moment."""
        found = []
        for one in self.partitions:
            if at < len(one.moments):
                known = one.moments[at - 1].sync_count if at else 0
                several = one.syncs[known : one.moments[at].sync_count]
                found += [SyncRecord(one.topic, sync, one.index) for sync in several]
        return found

    def new_commits(self, at: int) -> list[Record]:
        found = []
        for one in self.partitions:
            if at >= len(one.moments):
                continue
            moment = one.moments[at]
            for group in sorted(moment.fresh):
                commit = moment.commits[group]
                found.append(CommitRecord(group, one.topic, commit.offset, commit.at_ms, one.index))
        first = len(self.commits)
        self.commits += found
        return commit_records(found, first)


@dataclass(frozen=True)
class Expected:
    """`is_kept`: nothing is new, so the row of the run before stands.

    Where all that is new are syncs that do not change the answer, it may stand, too.
    """

    translated: int | None
    reason: str
    lower: int | None
    upper: int | None
    translation: full.Translation | None  # None: by Kafka's own rules
    is_kept: bool = False


def expectations(
    one: RandomPartition, rules: Rules, synced_at_start: int
) -> Iterator[dict[str, Expected]]:
    """Of each group, moment by moment, with what was emitted at the moments before."""
    last: dict[str, Checkpoint] = dict(one.checkpoints)
    before: dict[str, Expected] = {}
    for at, moment in enumerate(one.moments):
        previous = one.moments[at - 1] if at else None
        store = _store(one, rules, at, synced_at_start)
        now = {}
        for group, commit in moment.commits.items():
            is_new = (
                previous is None
                or previous.sync_count != moment.sync_count
                or previous.commits[group] != commit
            )
            if not is_new:
                now[group] = replace(before[group], is_kept=True)
            elif store is None:
                now[group] = _by_full_history(one, rules, at, group, commit, last)
            else:
                now[group] = _by_kafka(store, group, commit, last)
        before = now
        yield now


def _store(
    one: RandomPartition, rules: Rules, at: int, synced_at_start: int
) -> maker.OffsetSyncStore | None:
    if rules.ruleset in full.RULE_SETS:
        return None
    return maker.kafka_store(
        rules.ruleset,
        one.known(at),
        synced_at_start if rules.is_started else 0,
        checkpoints_readable=rules.could_read,
    )


def _by_full_history(
    one: RandomPartition,
    rules: Rules,
    at: int,
    group: str,
    commit: full.Commit,
    last: dict[str, Checkpoint],
) -> Expected:
    translation, reason = full.decide(
        one.folds[at, rules.ruleset],
        commit,
        last.get(group),
        anchored=rules.is_anchored,
        clamp_first=rules.clamps_first,
        is_exactly_once=one.world.is_exactly_once,
    )
    if commit.offset is not None:
        kept = full.emitted(last.get(group), commit.offset, translation, reason)
        if kept is not None:
            last[group] = kept
    bounds = (translation.lower, translation.upper)
    return Expected(translation.offset, reason, *bounds, translation)


def _by_kafka(
    store: maker.OffsetSyncStore, group: str, commit: full.Commit, last: dict[str, Checkpoint]
) -> Expected:
    if commit.offset is None:
        return Expected(None, "NO_COMMIT", None, None, None)
    offset = store.translate(commit.offset)
    if offset is None or offset < 0:
        reason = "NO_SYNC" if offset is None else "BEFORE_FIRST_SYNC"
        return Expected(offset, reason, None, None, None)
    reason = maker.guard(last.get(group), commit.offset, offset)
    if reason.startswith("EMIT"):
        last[group] = Checkpoint(commit.offset, offset)
    return Expected(offset, reason, None, None, None)
