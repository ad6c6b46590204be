"""A source topic that is created anew, told by the ids that snapshots show (4.2.3, 90 and 91)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
import pytest
from full_history_reference import Recreation, fold
from mirror_maker import Sync
from mirror_support import (
    CommitRecord,
    SyncRecord,
    commit_records,
    flow_settings,
    fold_syncs,
    kept_snapshot,
    translations,
    with_flows,
)
from spark_support import contents, fold_records, fresh, rows
from spark_support import fold as fold_kind

from moldau.runs.decide import decide
from moldau.sessions.session import Session

TARGET, TOPIC = "ids-target", "t"
RULESETS = ("full_history", "parity", "sparse_reads_checkpoints")
# (upstream, downstream, recorded at): the fifth is of the new topic, which is mirrored from 251 on
PAIRS = (
    (0, 0, 100), (101, 101, 200), (202, 202, 300), (303, 303, 400), (251, 310, 610), (352, 411, 700)
)  # fmt: skip
OLD, NEW = "b2xkb2xkb2xkb2xkb2xkbw", "bmV3bmV3bmV3bmV3bmV3bg"
SNAPSHOTS = {"old": (OLD, 500), "new": (NEW, 600)}
RECREATION = Recreation(last_seen_before_at_ms=500, recreated_at_ms=600)
ORDERS = ("as-it-happens", "before-its-flow", "syncs-first")
STEPS = (
    ("old", ORDERS[:2]),
    ("first syncs", ORDERS),
    ("new", ORDERS[:2]),
    ("last syncs", ORDERS),
    ("old", ORDERS[2:]),
    ("new", ORDERS[2:]),
)
Row = tuple[Any, ...]


def cluster(order: str) -> str:
    return f"ids-{order}"


def flow(order: str, ruleset: str) -> str:
    return f"{order}-{ruleset}"


def snapshot(topics: Sequence[tuple[str, str, str | None, int]]) -> pa.Table:
    """(cluster, topic, id, taken at), one partition each."""
    ends = (
        "log_start_offset", "local_log_start_offset", "last_stable_offset", "high_watermark",
        "log_end_offset", "latest_tiered_offset",
    )  # fmt: skip
    count = len(topics)
    columns: dict[str, pa.Array] = {
        "cluster_id": pa.array([one for one, *_ in topics], pa.string()),
        "topic_name": pa.array([one for _, one, *_ in topics], pa.string()),
        "partition_index": pa.array([0] * count, pa.int32()),
        "broker_id": pa.array([1] * count, pa.int32()),
        "topic_id": pa.array([one for _, _, one, _ in topics], pa.string()),
        "leader_epoch": pa.array([0] * count, pa.int32()),
        "is_leader": pa.array([True] * count),
        "taken_at_ms": pa.array([one for *_, one in topics], pa.int64()),
    }
    columns |= {name: pa.array([0] * count, pa.int64()) for name in ends}
    return pa.table(columns)


def fold_snapshot(session: Session, topics: Sequence[tuple[str, str, str | None, int]]) -> None:
    clusters = sorted({name for name, *_ in topics})
    fold_kind(session, clusters, kept_snapshot(session, snapshot(topics)), "partition_states")


def syncs(first: int, last: int) -> list[SyncRecord]:
    return [
        SyncRecord(TOPIC, Sync(u, d, log_offset, at_ms))
        for log_offset, (u, d, at_ms) in enumerate(PAIRS)
        if first <= log_offset < last
    ]


def bring(session: Session, step: str, orders: Sequence[str]) -> None:
    if step.endswith("syncs"):
        several = syncs(0, 4) if step == "first syncs" else syncs(4, len(PAIRS))
        fold_syncs(session, {(cluster(order), TARGET): several for order in orders})
    else:
        topic_id, at_ms = SNAPSHOTS[step]
        topics = [(cluster(order), TOPIC, topic_id, at_ms) for order in orders]
        fold_snapshot(session, [*topics, (cluster(orders[0]), "another", OLD, at_ms)])


def flows(orders: Sequence[str]) -> dict[str, str]:
    return {
        flow(order, ruleset): flow_settings(cluster(order), TARGET, ruleset)
        for order in orders
        for ruleset in RULESETS
    }


@pytest.fixture(scope="module")
def told(session: Session) -> Iterator[Session]:
    """After all is loaded in each order, and translated."""
    late = ["before-its-flow"]
    early = [order for order in ORDERS if order not in late]
    session = with_flows(session, flows(early), map(cluster, late))
    for step, orders in STEPS:
        bring(session, step, orders)
        session = fresh(session)
    commits = [CommitRecord("old commit", TOPIC, 300, at_ms=450)]
    commits += [
        CommitRecord(f"at {g}", TOPIC, g, at_ms=900) for g in (202, 250, 251, 260, 351, 352)
    ]
    fold_records(session, {cluster(order): commit_records(commits) for order in ORDERS})
    session = with_flows(session, flows(list(ORDERS)))
    decide(session, "translate", [cluster(order) for order in ORDERS], 1_000, is_dry_run=False)
    yield session


@pytest.mark.parametrize("order", ORDERS)
def test_the_history_begins_anew(told: Session, order: str) -> None:
    expected = fold([one.sync for one in syncs(0, len(PAIRS))], recreations=[RECREATION])
    assert [one.incarnation for one in expected] == [0, 0, 0, 0, 1, 1]
    assert all(one.is_admitted for one in expected)
    found = rows(
        told,
        "select sync_log_offset, incarnation, parity_incarnation, is_admitted from "
        f"state.offset_syncs where flow = '{flow(order, 'full_history')}' order by 1",
    )
    assert found == [(one.log_offset, one.incarnation, one.incarnation, True) for one in expected]


@pytest.mark.parametrize("order", ORDERS)
def test_groups_are_translated_by_the_new_topic_alone(told: Session, order: str) -> None:
    """90 and 91: what was committed before it was there means nothing in it."""
    found = translations(told, cluster(order))
    expected = fold([one.sync for one in syncs(0, len(PAIRS))], recreations=[RECREATION])
    assert [one.u for one in expected.live] == [251, 352]
    for ruleset in ("full_history", "parity"):
        answers = {
            group: (one.translated_offset, one.reason_code)
            for (name, group, _), one in found.items()
            if name == flow(order, ruleset)
        }
        assert answers == {
            "old commit": (None, "COMMIT_FROM_OLD_INCARNATION"),
            "at 202": (-1, "BEFORE_FIRST_SYNC"),
            "at 250": (-1, "BEFORE_FIRST_SYNC"),
            "at 251": (310, "EMIT_FIRST"),
            "at 260": (311, "EMIT_FIRST"),
            "at 351": (311, "EMIT_FIRST"),
            "at 352": (411, "EMIT_FIRST"),
        }
    kafka = {
        group: one.translated_offset
        for (name, group, _), one in found.items()
        if name == flow(order, "sparse_reads_checkpoints")
    }
    assert kafka["old commit"] == 311  # MirrorMaker knows no topic ids


def test_the_orders_end_the_same(told: Session) -> None:
    of_all = contents(told, "state.mirrored_partitions", ["changed_in_run_id"], by="flow")
    ends = [of_all[flow(order, "full_history")] for order in ORDERS]
    assert len(ends[0]) == 1 and all(end == ends[0] for end in ends)


def test_what_is_known_of_ids(told: Session) -> None:
    """Another sight of the same id is no other topic, and refolds nothing."""
    found = rows(
        told,
        "select cluster_id, topic_name, topic_id, first_seen_at_ms, last_seen_at_ms "
        f"from state.source_topics where topic_name = '{TOPIC}' order by all",
    )
    assert found == sorted(
        (cluster(order), TOPIC, topic_id, at_ms, at_ms)
        for order in ORDERS
        for topic_id, at_ms in SNAPSHOTS.values()
    )
    name = cluster("as-it-happens")
    before = rows(told, "select max(changed_in_run_id) from state.offset_syncs")
    again = fresh(told)
    fold_snapshot(again, [(name, TOPIC, NEW, 800), (name, "without id", None, 800)])
    assert rows(again, "select max(changed_in_run_id) from state.offset_syncs") == before
    last = f"select max(last_seen_at_ms) from state.source_topics where cluster_id = '{name}'"
    assert rows(again, last) == [(800,)]
