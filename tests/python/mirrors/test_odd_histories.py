"""Histories in which an answer that looks near would skip records, or none would be right."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from mirror_maker import Sync
from mirror_support import (
    CommitRecord,
    SyncRecord,
    commit_records,
    decoded_records,
    flow_settings,
    fold_syncs,
    sync_bytes,
    translations,
    with_flows,
)
from spark_support import fold, fold_records, fresh, parquet_of, rows
from test_topic_ids import NEW, OLD, fold_snapshot

from moldau.records import families
from moldau.runs.decide import decide
from moldau.sessions.session import Session

SOURCE, TARGET, HIDDEN = "odd-source", "odd-target", "odd-hidden"
PAIRS = {
    "replayed": [(0, 0), (101, 101), (202, 202), (303, 303), (251, 310), (352, 411)],
    "cut": [(0, 0), (150, 251), (200, 210)],
    "made anew": [(0, 0), (150, 251), (200, 0)],
    f"{TARGET}.home": [(0, 0), (5, 5)],
    f"{TARGET}.far.home": [(0, 20), (5, 30)],
    "gone": [(0, 0), (100, 100)],
}
# the old topic is replayed after its id was last seen; the new one begins before its own is
RECREATED = [
    (0, 0, 100), (101, 101, 200), (202, 202, 300), (303, 303, 400), (251, 310, 550),
    (352, 411, 555), (0, 440, 580), (101, 541, 700), (202, 642, 710), (303, 743, 720),
    (404, 844, 730), (505, 945, 740),
]  # fmt: skip
COMMITS = [
    ("replayed", "replayed", 240), ("cut", "cut", 190), ("made anew", "made anew", 190),
    ("home", f"{TARGET}.home", 5),
    ("home", f"{TARGET}.far.home", 5), ("gone", "gone", 100),
]  # fmt: skip
RULES: dict[str, dict[str, Any]] = {
    "clamped": {"ruleset": "full_history", "clamp_first": True},
    "parity": {"ruleset": "parity", "clamp_first": True},
}
Answer = tuple[int | None, str]


def fold_after_a_tombstone(session: Session) -> None:
    """The sync's place in the topic is 6; of the six before it only the last is there."""
    key, value = sync_bytes("t", 0, 7, 0)
    records: list[Any] = [(5, 1, sync_bytes("u", 0, 0, 0)[0], None), (6, 2, key, value)]
    topic = f"mm2-offset-syncs.{TARGET}.internal"
    table = decoded_records(families.OFFSET_SYNCS, HIDDEN, topic, records)
    fold(session, [HIDDEN], f"select * from {parquet_of(session, table)}", families.OFFSET_SYNCS)


@pytest.fixture(scope="module")
def told(session: Session) -> Iterator[dict[str, Any]]:
    flows = {name: flow_settings(SOURCE, TARGET, **rules) for name, rules in RULES.items()}
    flows["hidden"] = flow_settings(HIDDEN, TARGET, "full_history", clamp_first=True)
    session = with_flows(session, flows)
    fold_snapshot(session, [(SOURCE, "recreated", OLD, 500)])
    pairs = [(topic, u, d, at) for topic, of in PAIRS.items() for at, (u, d) in enumerate(of)]
    pairs += [("recreated", *one) for one in RECREATED]
    syncs = [SyncRecord(t, Sync(u, d, place, at)) for place, (t, u, d, at) in enumerate(pairs)]
    fold_syncs(session, {(SOURCE, TARGET): syncs})
    fold_snapshot(fresh(session), [(SOURCE, "recreated", NEW, 600)])
    fold_after_a_tombstone(session)
    commits = [CommitRecord(*one, at_ms=900) for one in COMMITS]
    commits.append(CommitRecord("recreated", "recreated", 380, at_ms=590))
    loaded = {
        SOURCE: commit_records(commits),
        HIDDEN: commit_records([CommitRecord("hidden", "t", 3, at_ms=900)]),
    }
    fold_records(session, loaded)
    decide(fresh(session), "translate", [SOURCE, HIDDEN], 1_000, is_dry_run=False)
    first = translations(session, SOURCE, HIDDEN)
    later = [
        CommitRecord("home", f"{TARGET}.home", 7, at_ms=950),
        CommitRecord("home", f"{TARGET}.far.home", 8, at_ms=950),
        CommitRecord("gone", "gone", None, at_ms=950),
    ]
    fold_records(session, {SOURCE: commit_records(later, len(commits))})
    decide(fresh(session), "translate", [SOURCE, HIDDEN], 1_100, is_dry_run=False)
    columns = "flow, group_id, target_topic_name"
    yield {
        "first": first,
        "later": translations(session, SOURCE, HIDDEN),
        "kept": rows(
            session,
            f"select {columns}, upstream_offset, downstream_offset from state.checkpoints "
            f"where flow in {(*flows,)} order by all",
        ),
        "offered": rows(
            session,
            f"select {columns}, to_offset from decisions.target_offset_writes "
            f"where flow in {(*flows,)} order by all",
        ),
    }


def answer(told: dict[str, Any], flow: str, group: str, topic: str | None = None) -> Answer:
    one = told["first"][flow, group, topic or group]
    return one.translated_offset, one.reason_code


@pytest.mark.parametrize(
    ("flow", "group", "expected"),
    [
        ("parity", "replayed", (-1, "BEFORE_FIRST_SYNC")),  # its records lie before the replay
        ("clamped", "cut", (-1, "BEFORE_FIRST_SYNC")),  # what was not cut off may be its own
        ("clamped", "made anew", (0, "BEFORE_FIRST_SYNC_CLAMPED")),
        ("hidden", "hidden", (-1, "BEFORE_FIRST_SYNC")),
    ],
)
def test_a_group_begins_with_the_first_record_only_where_nothing_was_before(
    told: dict[str, Any], flow: str, group: str, expected: Answer
) -> None:
    """4.3: "only if `history_complete`"."""
    assert answer(told, flow, group, "t" if flow == "hidden" else None) == expected


def test_a_commit_from_before_the_new_topic_was_seen_may_be_of_the_old_one(
    told: dict[str, Any],
) -> None:
    """4.2.4: a replay of the old topic may look like the new one's first record."""
    for flow in RULES:
        assert answer(told, flow, "recreated") == (None, "COMMIT_FROM_OLD_INCARNATION")


def test_of_two_topics_that_come_home_under_one_name_the_nearer_is_translated(
    told: dict[str, Any],
) -> None:
    near, far = f"{TARGET}.home", f"{TARGET}.far.home"
    assert answer(told, "clamped", "home", near) == (5, "EMIT_FIRST")
    assert told["first"]["clamped", "home", far].reason_code == "TOPIC_FILTERED"
    assert told["later"]["clamped", "home", near].translated_offset == 6
    kept = [row for row in told["kept"] if row[:2] == ("clamped", "home")]
    assert kept == [("clamped", "home", "home", 7, 6)]


def test_a_group_without_an_offset_is_offered_nothing(told: dict[str, Any]) -> None:
    """2.6: a group is mirrored while it has an offset on an accepted topic."""
    assert ("clamped", "gone", f"{SOURCE}.gone", 100, 100) in told["kept"]
    assert "gone" not in {group for _, group, *_ in told["offered"]}
