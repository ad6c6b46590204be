"""Whatever order syncs are loaded in, the same history stands in the end (4.2.6, case 139)."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest
from full_history_reference import fold
from mirror_logs import World
from mirror_support import SyncRecord, flow_settings, fold_syncs, with_flows
from random_mirrors import RandomPartition, in_one_topic, random_partition
from spark_support import contents, fresh, rows

from moldau.runs.decide import decide
from moldau.sessions.session import Session

WORLD = World(dropped_syncs=10, recreated_targets=5, recreated_sources=3, foreign_records=5)
LOADS = 3
# whose flow is known from the start, and one that is configured when all is loaded
ORDERS = ("in-order", "backwards", "shuffled", "overlapping", "before-its-flow")


def cluster(order: str) -> str:
    return f"loaded-{order}"


def partitions() -> list[RandomPartition]:
    return in_one_topic([random_partition(WORLD, seed, 0, 2) for seed in range(60)])


def loads(order: str, syncs: Sequence[SyncRecord]) -> list[list[SyncRecord]]:
    """What each load brings; a load itself is never in any order."""
    chance = random.Random(order)
    size = -(-len(syncs) // LOADS)
    parts = [list(syncs[first : first + size]) for first in range(0, len(syncs), size)]
    if order == "backwards":
        parts.reverse()
    elif order == "shuffled":
        mixed = chance.sample(syncs, len(syncs))
        parts = [mixed[number::LOADS] for number in range(LOADS)]
    elif order == "overlapping":
        parts = [part + chance.sample(syncs, 200) for part in parts]
        parts = [list({one.sync.log_offset: one for one in part}.values()) for part in parts]
    for part in parts:
        chance.shuffle(part)
    return parts


Row = tuple[Any, ...]


def folded_rows(session: Session, order: str) -> dict[int, Row]:
    return {
        log_offset: tuple(rest)
        for log_offset, *rest in rows(
            session,
            "select sync_log_offset, topic_name, upstream_offset, downstream_offset, incarnation, "
            f"is_admitted, gap_before from state.offset_syncs where flow = '{cluster(order)}'",
        )
    }


def expected_rows(several: Sequence[RandomPartition], known: set[int]) -> dict[int, Row]:
    """By the reference, of what is loaded; a gap is where the record right before is not."""
    gaps = {log_offset for log_offset in known if log_offset and log_offset - 1 not in known}
    return {
        sync.log_offset: (
            *(one.topic, sync.u, sync.d, sync.incarnation),
            *(sync.is_admitted, sync.gap_before),
        )
        for one in several
        for sync in fold(
            [sync for sync in one.syncs if sync.log_offset in known], missing_before=gaps
        )
    }


@pytest.fixture(scope="module")
def several() -> list[RandomPartition]:
    return partitions()


Folded = list[dict[str, tuple[dict[int, Row], dict[int, Row]]]]  # by load and order


@pytest.fixture(scope="module")
def folded(session: Session, several: list[RandomPartition]) -> Folded:
    """After each load: what stands there, and what should."""
    syncs = [SyncRecord(one.topic, sync, one.index) for one in several for sync in one.syncs]
    syncs.sort(key=lambda one: one.sync.log_offset)
    by_order = {order: loads(order, syncs) for order in ORDERS}
    flows = {cluster(one): flow_settings(cluster(one), "west", "full_history") for one in ORDERS}
    at_first = {name: flow for name, flow in flows.items() if name != cluster(ORDERS[-1])}
    known: dict[str, set[int]] = {order: set() for order in ORDERS}
    configured = with_flows(session, at_first, [cluster(ORDERS[-1])])
    found: Folded = []
    for number in range(LOADS):
        new = {order: [one for one in by_order[order][number]] for order in ORDERS}
        fold_syncs(configured, {(cluster(order), "west"): new[order] for order in ORDERS})
        for order in ORDERS:
            known[order] |= {one.sync.log_offset for one in new[order]}
        found.append(
            {
                order: (folded_rows(session, order), expected_rows(several, known[order]))
                for order in ORDERS[:-1]
            }
        )
        configured = fresh(configured)
    configured = with_flows(session, flows)
    decide(configured, "translate", [cluster(ORDERS[-1])], 0, is_dry_run=False)
    last = folded_rows(session, ORDERS[-1])
    found[-1][ORDERS[-1]] = (last, expected_rows(several, known[ORDERS[-1]]))
    return found


@pytest.mark.parametrize("order", ORDERS)
def test_the_history_is_that_of_what_is_loaded(folded: Folded, order: str) -> None:
    for told in folded:
        if order in told:
            found, expected = told[order]
            wrong = {key for key in expected if found.get(key) != expected[key]}
            shown = [(key, found.get(key), expected[key]) for key in sorted(wrong)[:3]]
            assert not wrong, (len(wrong), len(expected), shown)
            assert found.keys() == expected.keys()


def test_all_end_the_same(folded: Folded) -> None:
    ends = [found for found, _ in folded[-1].values()]
    assert len(ends) == len(ORDERS) and all(end == ends[0] for end in ends)
    assert {row[3] for row in ends[0].values()} > {0, 1}
    assert {row[4] for row in ends[0].values()} == {True, False}
    assert not any(row[5] for row in ends[0].values())


def test_the_partitions_end_the_same(folded: Folded, session: Session) -> None:
    """What a load goes on from, segments and all."""
    told = contents(session, "state.mirrored_partitions", ["changed_in_run_id"], by="flow")
    ends = {name: told[name] for name in map(cluster, ORDERS)}
    first, *others = ends.values()
    assert len(first) > 50
    assert all(other == first for other in others)
