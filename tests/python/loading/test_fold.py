"""State follows the log, whatever the order in which its records come.

Every variant is a cluster of its own; three folds serve all of them.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import pytest
from encode import encode_value
from log_support import FAMILY, Log
from spark_support import (
    Record,
    ask_models,
    contents,
    fold_records,
    read_capture,
    rows,
    with_clusters,
)

from moldau.sessions.session import Session

CAPTURES = ("groups", "cleanup-inmemory", "cleanup-failing", "cleanup-noplugin")
LARGEST = 2**63 - 1
DAY_MS = 86_400_000
NOW_MS = 30 * DAY_MS
ODD_NAMES = {
    "empty": "",
    "quotes": 'it\'s "quoted"',
    "backslash": "back\\slash \\' \\n",
    "nul": "a\0b",
    "emoji": "🦀 group",
    "percent": "%s {{ x }} ${y}",
    "long": "x" * 32_767,
}

Pieces = list[list[Record]]


def whole(records: list[Record]) -> Pieces:
    return [records]


def halves_reversed(records: list[Record]) -> Pieces:
    middle = len(records) // 2
    return [records[middle:], records[:middle]]


def replayed(records: list[Record]) -> Pieces:
    """Each piece brings what was there already once more."""
    return [records[: len(records) // 3], records[: len(records) // 2], records]


def shuffled(seed: int) -> Callable[[list[Record]], Pieces]:
    def pieces(records: list[Record]) -> Pieces:
        chosen: Pieces = [[], [], []]
        for record in records:
            random_of[seed].choice(chosen).append(record)
        return chosen

    return pieces


random_of = {seed: random.Random(seed) for seed in range(4)}
VARIANTS: dict[str, Callable[[list[Record]], Pieces]] = {
    "whole": whole,
    "halves": halves_reversed,
    "replayed": replayed,
    **{f"shuffled-{seed}": shuffled(seed) for seed in random_of},
}


def odd_log() -> list[Record]:
    log = Log()
    unknown_version = b"\x00\x09" + b"\x00" * 40
    truncated = encode_value(FAMILY, 17, 0, {"epoch": 2})[:5]
    log.add(log.group_key("unknown version"), unknown_version)
    log.add(log.group_key("truncated"), truncated)
    log.commit("truncated")
    log.add(log.group_key("healed"), truncated)
    log.streams("healed", stored=4)
    log.streams("spoilt", stored=4)
    log.add(log.group_key("spoilt"), unknown_version)
    log.streams("bad commit", stored=-1)
    log.commit("bad commit", "good topic")
    log.commit("bad commit", "bad topic")
    log.add(log.commit_key("bad commit", "bad topic"), b"\x00\x03\x00")
    log.streams("good neighbour", stored=3)

    log.commit("both kinds", kind=0, offset=1)
    log.commit("both kinds", kind=1, offset=2)
    log.commit("kinds removed", kind=1)
    log.remove_commit("kinds removed", kind=0)

    log.add(log.group_key("only a tombstone"), None)
    log.remove_commit("only an offset tombstone")
    log.member("only a member")
    log.add(None, b"value without key")
    log.add(b"\x00", b"key too short")
    log.add(b"\x03\xe7" + b"future", b"\x00\x00")

    log.streams("re-created", stored=6, epoch=9)
    log.commit("re-created", at_ms=DAY_MS)
    log.remove_commit("re-created")
    log.add(log.group_key("re-created"), None)
    log.streams("re-created", epoch=2)
    log.streams("converted", stored=1)
    log.commit("converted")
    log.add(log.group_key("converted"), None)
    log.classic("converted")
    log.classic("revived by a commit")
    log.add(log.group_key("revived by a commit", 2), None)
    log.commit("revived by a commit")

    for name in ODD_NAMES.values():
        log.commit(name, topic=name)
    log.commit("huge offset", offset=LARGEST)
    log.commit("huge time", at_ms=LARGEST)
    log.commit("time before all", at_ms=-LARGEST)
    log.add(log.group_key("huge position"), encode_value(FAMILY, 17, 0, {"epoch": 2**31 - 1}), 0,
            LARGEST)  # fmt: skip
    return log.records


@pytest.fixture(scope="module")
def folded(session: Session) -> Session:
    plugin = "group.streams.topology.description.plugin.class: X"
    ours = with_clusters(session, {"odd": f"{{ruleset: {{groups: kafka_4_4}}, {plugin}}}"})
    pieces = {
        f"{capture}.{variant}": split(read_capture(capture))
        for capture in CAPTURES
        for variant, split in VARIANTS.items()
    }
    pieces["odd"] = [odd_log()]
    for turn in range(3):
        several = {name: p[turn] for name, p in pieces.items() if len(p) > turn}
        fold_records(ours, several)
    return ours


@pytest.mark.parametrize("table", ["groups", "group_offsets", "group_records"])
def test_any_order_and_any_split_gives_the_same_state(folded: Session, table: str) -> None:
    without = [] if table == "group_records" else ["changed_in_run_id"]
    found = contents(folded, f"state.{table}", without, "cluster_id like '%.%'")
    for capture in CAPTURES:
        expected = found[f"{capture}.whole"]
        assert expected
        for variant in VARIANTS:
            others = set(found[f"{capture}.{variant}"]).symmetric_difference(expected)
            assert not others, f"{capture}, {variant}"


def group(session: Session, group_id: str, columns: Sequence[str]) -> tuple[object, ...] | None:
    escaped = group_id.replace("\\", "\\\\").replace("'", "\\'")
    found = rows(
        session,
        f"select {', '.join(columns)} from state.groups "
        f"where cluster_id = 'odd' and group_id = '{escaped}'",
    )
    return found[0] if found else None


@pytest.fixture(scope="module")
def reasons(folded: Session) -> dict[tuple[str, str], str]:
    """Why, by table and subject, 30 days after everything."""
    ask_models(folded, ["odd"], NOW_MS)
    subject = {"offset_expirations": "concat(group_id, ' ', topic_name)"}
    return {
        (model, name): reason
        for model in ("cleanup_eligibility", "offset_expirations", "group_sweeps")
        for name, reason in rows(
            folded,
            f"select {subject.get(model, 'group_id')}, reason_code "
            f"from intermediate.int_groups__{model}_reasoned where cluster_id = 'odd'",
        )
    }


@pytest.mark.parametrize("name", ["unknown version", "truncated", "spoilt"])
def test_nothing_is_decided_about_a_group_that_cannot_be_read(
    folded: Session, reasons: dict[tuple[str, str], str], name: str
) -> None:
    assert group(folded, name, ["is_readable", "group_state"]) == (False, "UNKNOWN")
    assert reasons["cleanup_eligibility", name] == "UNREADABLE"
    assert reasons["group_sweeps", name] == "UNREADABLE"


def test_an_unreadable_commit_stops_its_group_only(
    folded: Session, reasons: dict[tuple[str, str], str]
) -> None:
    assert group(folded, "bad commit", ["is_readable", "group_state"]) == (True, "EMPTY")
    assert reasons["offset_expirations", "bad commit bad topic"] == "UNREADABLE"
    assert reasons["offset_expirations", "bad commit good topic"] == "RETENTION_ELAPSED"
    assert reasons["group_sweeps", "bad commit"] == "UNREADABLE"
    assert reasons["cleanup_eligibility", "good neighbour"] == "ELIGIBLE"


def test_a_readable_record_heals_a_group(
    folded: Session, reasons: dict[tuple[str, str], str]
) -> None:
    columns = ["is_readable", "stored_description_topology_epoch"]
    assert group(folded, "healed", columns) == (True, 4)
    assert reasons["cleanup_eligibility", "healed"] == "ELIGIBLE"


def test_both_kinds_of_offset_keys_are_one_offset(folded: Session) -> None:
    found = rows(
        folded,
        "select group_id, committed_offset, is_deleted from state.group_offsets "
        "where cluster_id = 'odd' and group_id in ('both kinds', 'kinds removed') order by 1",
    )
    assert found == [("both kinds", 2, False), ("kinds removed", 5, True)]


def test_compaction_may_leave_tombstones_and_members_only(folded: Session) -> None:
    columns = ["group_type", "group_state", "is_deleted"]
    assert group(folded, "only a tombstone", columns) == ("streams", "DEAD", True)
    assert group(folded, "only an offset tombstone", columns) is None
    assert group(folded, "only a member", columns) == ("consumer", "RECONCILING", False)


def test_a_group_that_came_back_starts_anew(folded: Session) -> None:
    columns = ["group_type", "stored_description_topology_epoch", "group_epoch", "is_deleted"]
    assert group(folded, "re-created", columns) == ("streams", -1, 2, False)
    assert group(folded, "converted", columns) == ("classic", -1, 4, False)
    assert group(folded, "revived by a commit", columns) == ("classic", -1, 0, False)


@pytest.mark.parametrize("kind", ODD_NAMES)
def test_odd_names_stay_what_they_are(folded: Session, kind: str) -> None:
    name = ODD_NAMES[kind]
    found = [
        row
        for row in rows(
            folded,
            "select group_id, topic_name, committed_offset from state.group_offsets "
            "where cluster_id = 'odd'",
        )
        if row[0] == name
    ]
    assert found == [(name, name, 5)]
    assert (name, "EMPTY") in rows(
        folded, "select group_id, group_state from state.groups where cluster_id = 'odd'"
    )


def test_huge_numbers_do_not_wrap(folded: Session, reasons: dict[tuple[str, str], str]) -> None:
    assert rows(
        folded,
        "select group_id, committed_offset, commit_at_ms from state.group_offsets "
        "where cluster_id = 'odd' and group_id in ('huge offset', 'huge time') order by 1",
    ) == [("huge offset", LARGEST, 0), ("huge time", 5, LARGEST)]
    assert group(folded, "huge position", ["log_offset", "group_epoch"]) == (LARGEST, 2**31 - 1)
    assert reasons["offset_expirations", "huge time t"] == "RETENTION_NOT_ELAPSED"
    # in Kafka the time since then wraps, and is less than any retention
    assert reasons["offset_expirations", "time before all t"] == "RETENTION_NOT_ELAPSED"
    assert rows(
        folded,
        "select distinct expires_at_ms from intermediate.int_groups__offset_expirations_reasoned "
        "where cluster_id = 'odd' and group_id in ('huge time', 'time before all')",
    ) == [(LARGEST,)]
