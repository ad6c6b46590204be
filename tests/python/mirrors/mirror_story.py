"""What happens to mirrors of every kind at once, in two steps: told to one engine or the other.

A translation ends each of them.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa
import test_commits_with_ids as ids
import test_offers as offers
import test_unreadable_checkpoints as unreadable
from mirror_maker import Sync, kafka_store
from mirror_safety import WORLDS
from mirror_support import (
    CheckpointRecord,
    CommitRecord,
    Mirror,
    SyncRecord,
    TaskStart,
    checkpoint_table,
    commit_records,
    flow_settings,
    kept_snapshot,
    start_table,
    sync_table,
)
from random_mirrors import (
    ALL_RULES,
    Sample,
    in_one_topic,
    random_partition,
    with_checkpoints,
)
from spark_support import Record, decoded_table, parquet_of
from test_sparse_store import LARGEST, histories
from test_topic_ids import snapshot

from moldau.records import families
from moldau.sessions.session import Session

SNAPSHOT, STARTS = "partition_states", "mirror_task_starts"
STEPS = range(2)
Brought = tuple[list[str], str]  # clusters, query of what is brought of them
# the steps of the commits with ids, and the snapshots of them that the engine itself folds
STEPS_OF_IDS, SIGHTED_MS = ((0,), (1, 2)), (900, 1_500)
# a replay from 150 that waits, until it has come as far behind 200 as was written unseen
BIG = [
    Sync(0, 0, 0, 1),
    Sync(100, 100, 1, 2),
    Sync(200, 200, 3, 4),
    Sync(150, 300, 4, 5),
    Sync(260, 410, 5, 6),
    Sync(400, 550, 6, 7),
]
BIG_KNOWN = (5, 6)  # after each step
OTHER = SyncRecord("other", Sync(7, 7, 2, 3))  # the record before the third, loaded at last
HISTORIES, PROBES = 30, 12


@dataclass(frozen=True)
class Slots:
    """Histories up to the largest offset, whose syncs come in turn, and what groups commit."""

    syncs: list[tuple[int, Sync]]  # number of the history
    commits: list[tuple[int, str, int]]  # number of the history, group, offset

    @classmethod
    def some(cls) -> Slots:
        chance = random.Random(15905)
        told = [upstream for upstream, _ in itertools.islice(histories(), HISTORIES)]
        places = sorted((p, n) for n, upstream in enumerate(told) for p in range(len(upstream)))
        syncs = [
            (n, Sync(min(told[n][p], LARGEST - 1), p, at, at)) for at, (p, n) in enumerate(places)
        ]
        commits = [
            (n, f"probe {probe}", max(chance.choice(upstream) + chance.choice((-1, 0, 0, 1)), 0))
            for n, upstream in enumerate(told)
            for probe in range(PROBES)
        ]
        return cls(syncs, [(n, group, min(g, LARGEST)) for n, group, g in commits])

    @property
    def started_at(self) -> int:
        """Where a task found the end of the syncs topic."""
        return len(self.syncs) // 2

    def known(self, step: int) -> int:
        return (len(self.syncs) * 2 // 3, len(self.syncs))[step]

    def translated(self, ruleset: str, is_readable: bool, step: int) -> dict[tuple[str, str], int]:
        """By group and topic."""
        stores = [
            kafka_store(
                ruleset,
                [sync for m, sync in self.syncs[: self.known(step)] if m == n],
                self.started_at,
                checkpoints_readable=is_readable,
            )
            for n in range(HISTORIES)
        ]
        found = {(group, topic(n)): stores[n].translate(g) for n, group, g in self.commits}
        return {key: offset for key, offset in found.items() if offset is not None}


def topic(number: int) -> str:
    return f"history-{number}"


def sample(prefix: str, world: str) -> Sample:
    partitions = [
        with_checkpoints(random_partition(WORLDS[world], seed, 6, len(STEPS)))
        for seed in range(2_000, 2_006)
    ]
    return Sample(f"{prefix}{world.replace(' ', '-')}", ALL_RULES, in_one_topic(partitions))


@dataclass
class Story:
    """`prefix`: of the names of all clusters and flows, but for a source that all stories have."""

    prefix: str

    def mirror(self, name: str) -> Mirror:
        return f"{self.prefix}{name}", f"{self.prefix}{name}-to"

    @property
    def ids(self) -> Mirror:
        return f"{self.prefix}ids", "to"

    @property
    def unread(self) -> Mirror:
        return unreadable.SOURCE, f"{self.prefix}unread"

    @cached_property
    def samples(self) -> list[Sample]:
        return [sample(self.prefix, world) for world in WORLDS]

    @cached_property
    def slots(self) -> Slots:
        return Slots.some()

    def slot_flows(self) -> dict[str, tuple[str, bool]]:
        """Flow -> rule set, and whether the task that started can read checkpoints."""
        source, _ = self.mirror("slots")
        kinds = [
            ("sparse_reads_checkpoints", True),
            ("sparse_reads_checkpoints", False),
            ("sparse_restart_forgets", True),
        ]
        return {f"{source}-{number}": kind for number, kind in enumerate(kinds)}

    def flows(self) -> dict[str, str]:
        found = offers.flows(self.mirror("offers")[0]) | ids.flows(self.ids[0])
        found |= unreadable.flows(self.unread[1])
        found |= {name: told for one in self.samples for name, told in one.flows().items()}
        for flow, (ruleset, _) in self.slot_flows().items():
            found[flow] = flow_settings(*self.mirror("slots"), ruleset)
        found[self.mirror("big")[0]] = flow_settings(*self.mirror("big"), "full_history")
        return found

    def sources(self) -> list[str]:
        """But that one."""
        sources = [self.mirror(name)[0] for name in ("offers", "slots", "big")]
        return [*sources, self.ids[0], *(one.source for one in self.samples)]

    def scope(self) -> list[str]:
        return [*self.sources(), self.unread[1]]

    def syncs(self, step: int) -> dict[Mirror, list[SyncRecord]]:
        slots, last = self.slots, BIG_KNOWN[step - 1] if step else 0
        known = slots.known(step - 1) if step else 0
        told = {
            self.mirror("offers"): offers.brought(is_later=step > 0)[0],
            self.ids: ids.syncs(*STEPS_OF_IDS[step]),
            self.mirror("slots"): [
                SyncRecord(topic(n), sync) for n, sync in slots.syncs[known : slots.known(step)]
            ],
            self.mirror("big"): [SyncRecord("t", one) for one in BIG[last : BIG_KNOWN[step]]],
        }
        told |= {one.mirror: one.syncs(step) for one in self.samples}
        if step:
            told[self.mirror("big")].append(OTHER)
        else:
            told[self.unread] = unreadable.SYNCS
        return told

    def checkpoints(self, step: int) -> pa.Table:
        first, *others = unreadable.loads()
        tables = [
            unreadable.forms_table(self.unread[1], forms, 1_000 * load)
            for load, forms in (enumerate(others, 1) if step else [(0, first)])
        ]
        if not step:
            told: dict[Mirror, Sequence[CheckpointRecord]] = {
                one.mirror: found for one in self.samples if (found := one.checkpoints())
            }
            told[self.mirror("offers")] = offers.checkpoints(self.mirror("offers")[0])
            tables.append(checkpoint_table(told))
        return pa.concat_tables(tables)

    def commits(self, step: int) -> dict[str, list[Record]]:
        told = {
            self.mirror("offers")[0]: offers.brought(is_later=step > 0)[1],
            self.ids[0]: ids.commits(*STEPS_OF_IDS[step]),
        }
        told |= {one.source: one.new_commits(step) for one in self.samples}
        if not step:
            told[self.unread[0]] = unreadable.commits()
            told[self.mirror("slots")[0]] = commit_records(
                [CommitRecord(group, topic(n), g, 1_000) for n, group, g in self.slots.commits]
            )
        return told

    def starts(self) -> list[TaskStart]:
        source, _ = self.mirror("slots")
        return [start for one in self.samples for start in one.starts()] + [
            TaskStart(source, flow, 0, self.slots.started_at, is_readable)
            for flow, (_, is_readable) in self.slot_flows().items()
        ]

    def sightings(self, step: int) -> Iterator[tuple[bool, list[ids.Sighting]]]:
        """Of an instant each, and whether the engine itself folds it."""
        for one in STEPS_OF_IDS[step]:
            for taken in ids.snapshots(self.ids[0], one):
                yield taken[0][-1] == SIGHTED_MS[step], taken

    def brought(self, session: Session, step: int) -> dict[str, Brought]:
        """Kind -> what is brought of it at this step, the snapshot first."""
        ends = offers.snapshot(self.mirror("offers")[0], offers.SNAPSHOTS_MS[step])
        [seen] = [snapshot(taken) for is_its_own, taken in self.sightings(step) if is_its_own]
        taken = pa.concat_tables([ends, seen.select(ends.column_names)])
        syncs, commits = self.syncs(step), self.commits(step)
        checkpoints = self.checkpoints(step)

        def of(table: pa.Table) -> Brought:
            clusters = sorted(set(table["cluster_id"].to_pylist()))
            return clusters, f"select * from {parquet_of(session, table)}"

        found: dict[str, Brought] = {
            SNAPSHOT: (
                sorted(set(taken["cluster_id"].to_pylist())),
                kept_snapshot(session, taken),
            )
        }
        if not step:
            found[STARTS] = of(start_table(self.starts()))
        found[families.OFFSET_SYNCS] = of(sync_table(syncs))
        found[families.CHECKPOINTS] = of(checkpoints)
        found[families.CONSUMER_OFFSETS] = of(decoded_table(commits))
        return found
