"""The 64 slots in SQL against Kafka's walk through them, slot by slot, on random histories.

The walk follows the specification of KAFKA-15905, section 2.2, with the moving index that Kafka
has; the SQL has none.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
from spark_support import dicts, parquet_of

from moldau.compiled.graph import models
from moldau.sessions.session import Session

SLOTS = 64
LARGEST = 2**63 - 1
HISTORIES = 2_000


@dataclass(frozen=True, eq=False)  # like Kafka's: no two are the same
class Sync:
    position: int
    upstream: int


def is_recent(newer: Sync, older: Sync, slot: int, slot_of_older: int) -> bool:
    bound = older.upstream + (1 << slot_of_older) - (1 << slot)
    return newer is older or bound > LARGEST or newer.upstream <= bound


def is_separate(newer: Sync, older: Sync, slot: int) -> bool:
    bound = older.upstream + (1 << max(slot - 2, 0))
    return newer is older or (bound <= LARGEST and newer.upstream >= bound)


def updated(before: list[Sync], new: Sync) -> list[Sync]:
    slots = list(before)
    slots[0] = replacement = new
    index = 0
    for slot in range(1, SLOTS):
        previous = slots[slot - 1]
        while True:
            candidate = before[index]
            is_far_enough = is_separate(previous, candidate, slot - 1)
            is_promoted = (
                is_far_enough
                and is_recent(previous, candidate, slot - 1, slot)
                and (slot + 1 == SLOTS or is_separate(candidate, slots[slot + 1], slot))
            )
            if is_promoted:
                replacement = candidate
            is_repeated = index + 1 < SLOTS and candidate is before[index + 1]
            is_skipped = is_repeated or not is_far_enough
            index += is_promoted or is_skipped
            if not is_skipped or index >= slot:
                break
        if is_recent(previous, slots[slot], slot - 1, slot):
            break
        slots[slot] = replacement
    return slots


def kept(upstream: list[int], forgotten_to: int) -> list[int]:
    """Positions of the syncs in the slots, each once; `forgotten_to`: by the last start."""
    slots: list[Sync] = []
    for position, offset in enumerate(upstream):
        new = Sync(position, offset)
        if not slots or position < forgotten_to or offset < slots[0].upstream:
            slots = [new] * SLOTS
        else:
            slots = updated(slots, new)
    return list(dict.fromkeys(sync.position for sync in slots))


def histories() -> Iterator[tuple[list[int], int]]:
    """Even and uneven steps, repeats, replays, offsets up to the largest bigint; some restarts."""
    chance = random.Random(15905)
    for _ in range(HISTORIES):
        kind = chance.choice(["each", "even", "uneven", "far", "replayed"])
        offset = chance.choice(
            [0, chance.randrange(1000), chance.randrange(2**40), LARGEST - chance.randrange(2**20)]
        )
        upstream = []
        for _ in range(chance.randrange(1, 120)):
            upstream.append(offset)
            step = {
                "each": 1,
                "even": chance.choice([100, 200]),
                "uneven": chance.choice([0, 1, 1, 2, 3, 10, 101, chance.randrange(5000)]),
                "far": 1 << chance.randrange(58),
                "replayed": chance.choice([1, 10, 101, 101, -chance.randrange(1, 300)]),
            }[kind]
            offset = min(max(offset + step, 0), LARGEST)
        yield upstream, chance.choice([0, 0, chance.randrange(len(upstream) + 1)])


def told() -> tuple[pa.Table, pa.Table, dict[str, list[int]]]:
    """Syncs and task starts of each history, and the positions that Kafka keeps of it."""
    known = list(histories())
    flat = [(n, p, u) for n, (upstream, _) in enumerate(known) for p, u in enumerate(upstream)]
    names, positions, offsets = (list(column) for column in zip(*flat, strict=True))
    syncs = {"flow": pa.array(map(str, names)), "position": positions, "u": offsets}
    flows = [str(number) for number in range(len(known))]
    starts = {"flow": flows, "syncs_end_offset": [forgotten_to for _, forgotten_to in known]}
    expected = {name: kept(*history) for name, history in zip(flows, known, strict=True)}
    return pa.table(syncs), pa.table(starts), expected


def compiled(syncs: str, starts: str) -> str:
    """The model on these relations: the positions that each flow keeps."""
    flow = "'t' as topic_name, 0 as partition_index"
    relations = {
        "int_mirrors__flows_configured": "select flow, 'sparse' as syncs_used, "
        f"false as reads_checkpoints from {starts}",
        "stg_state__mirror_task_starts": "select *, 1L as started_at_ms, "
        f"true as checkpoints_readable from {starts}",
        "int_mirrors__commits_due": f"select flow, {flow}, 1L as committed_offset, "
        f"false as is_group_filtered, false as is_topic_filtered from {starts}",
        "stg_state__offset_syncs": f"select flow, {flow}, 0 as syncs_incarnation, "
        "position as sync_log_offset, u as upstream_offset, u as downstream_offset, "
        f"0 as incarnation, 0 as parity_incarnation, 0L as recorded_at_ms from {syncs}",
    }
    model = "int_mirrors__sparse_stores_filled"
    sql = models()[model].sql
    for name, relation in relations.items():
        for schema in ("staging", "intermediate"):
            sql = sql.replace(f"{schema}.{name}", f"({relation})")
    return f"select flow, transform(syncs_kept, s -> s.sync_log_offset) as positions from ({sql})"


def test_the_sql_keeps_what_kafkas_walk_keeps(session: Session) -> None:
    syncs, starts, expected = told()
    sql = compiled(parquet_of(session, syncs), parquet_of(session, starts))
    assert {row["flow"]: row["positions"] for row in dicts(session, sql)} == expected
