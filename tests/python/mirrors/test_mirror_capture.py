"""What moldau says of a real MirrorMaker 2 that ran, was stopped and was started again."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from mirror_support import TaskStart, decoded_records, flow_settings, fold_starts, with_flows
from spark_support import Record, dicts, fold, fold_records, mart, parquet_of, rows

from moldau.errors import MoldauError
from moldau.reading.explain.reset_plan import reset_plan
from moldau.records import families
from moldau.runs.decide import decide
from moldau.sessions.session import Session

CAPTURE = Path(__file__).parents[2] / "fixtures" / "captures" / "mirror-lag0"
EXPECTED = json.loads((CAPTURE / "expected.json").read_text())
FLOW = "as MirrorMaker"
MM2_DOWN, RESTARTED = "2-mm2-down", "3-restarted"
SYNCS_AT_RESTART = 158


@dataclass(frozen=True)
class Stage:
    expected: dict[str, Any]
    translations: dict[str, dict[str, Any]]  # by group and target partition
    writes: dict[str, dict[str, Any]]
    checkpoints: list[dict[str, Any]]
    readiness: dict[str, dict[str, Any]]
    failback: dict[str, dict[str, Any]]


def captured(stage: str, name: str) -> list[Record]:
    lines = (CAPTURE / stage / f"{name}.jsonl").read_text().splitlines()
    found = map(json.loads, lines)
    return [
        Record(row["partition"], row["offset"], row["timestamp_ms"], *_bytes(row)) for row in found
    ]


def _bytes(row: dict[str, Any]) -> list[bytes | None]:
    texts = (row["key_base64"], row["value_base64"])
    return [None if text is None else base64.b64decode(text) for text in texts]


def fold_stage(session: Session, stage: str) -> None:
    fold_records(session, {name: captured(stage, f"{name}.__consumer_offsets") for name in "AB"})
    internal = (
        (families.OFFSET_SYNCS, "A", "mm2-offset-syncs.B.internal"),
        (families.CHECKPOINTS, "B", "A.checkpoints.internal"),
    )
    for family, cluster, topic in internal:
        records = [
            (one.offset, one.timestamp_ms, one.key or b"", one.value or b"")
            for one in captured(stage, f"{cluster}.{topic}")
        ]
        table: pa.Table = decoded_records(family, cluster, topic, records)
        fold(session, [cluster], f"select * from {parquet_of(session, table)}", family)


def decided(session: Session, stage: str) -> Stage:
    expected = next(one for one in EXPECTED["stages"] if one["stage"] == stage)
    decide(session, "translate", ["A"], expected["at_ms"], is_dry_run=True)

    def by_place(found: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
        of_flow = [row for row in found if row["flow"] == FLOW]
        places = [
            f"{row['group_id']}|{row['target_topic_name']}-{row['partition_index']}"
            for row in of_flow
        ]
        assert len(set(places)) == len(places)
        return dict(zip(places, of_flow, strict=True))

    def table(name: str) -> list[dict[str, Any]]:
        return dicts(session, f"select * from decisions.{name}")

    def of_flow(name: str) -> list[dict[str, Any]]:
        return [row for row in mart(session, name) if row["flow"] == FLOW]

    return Stage(
        expected=expected,
        translations=by_place(table("offset_translations")),
        writes=by_place(table("target_offset_writes")),
        checkpoints=of_flow("mirror_maker_checkpoints"),
        readiness={row["group_id"]: row for row in of_flow("failover_readiness")},
        failback=by_place(mart(session, "failback_offsets")),
    )


@pytest.fixture(scope="module")
def stages(session: Session) -> Iterator[dict[str, Stage]]:
    settings = flow_settings("A", "B", "sparse_reads_checkpoints", topics="orders.*")
    session = with_flows(session, {FLOW: settings})
    fold_stage(session, MM2_DOWN)
    found = {MM2_DOWN: decided(session, MM2_DOWN)}
    fold_stage(session, RESTARTED)
    restarted_ms = found[MM2_DOWN].expected["at_ms"] + 1
    fold_starts(session, [TaskStart("A", FLOW, restarted_ms, SYNCS_AT_RESTART, True)])
    found[RESTARTED] = decided(session, RESTARTED)
    yield found


@pytest.mark.parametrize("stage", [MM2_DOWN, RESTARTED])
def test_the_64_slots_translate_as_mirror_maker_did(stages: dict[str, Stage], stage: str) -> None:
    """Where it has seen the commit. After its restart it has seen all, and emits no more."""
    translations = dict(stages[stage].translations)
    while_down = {place for place in translations if place.startswith("g-while-down|")}
    for place, checkpoint in stages[stage].expected["checkpoint_current"].items():
        translation = translations.pop(place)
        if translation["upstream_offset"] == checkpoint["upstream"]:
            assert translation["translated_offset"] == checkpoint["downstream"], place
            assert translation["reason_code"] == "SKIP_REPEATED", place
        elif stage == RESTARTED:
            assert translation["decision"] == "skip", place
    left = {place: row["reason_code"] for place, row in translations.items()}
    of_groups = {"g-before|A.orders-1", "g-trimmed|A.orders-1"}
    before_first = {place for place, reason in left.items() if reason == "BEFORE_FIRST_SYNC"}
    assert before_first == of_groups
    emitted = {place for place, reason in left.items() if reason == "EMIT_FIRST"}
    assert emitted == (while_down if stage == MM2_DOWN else set())
    assert set(left) == before_first | emitted


@pytest.mark.parametrize("stage", [MM2_DOWN, RESTARTED])
def test_a_sync_explains_each_of_its_checkpoints(stages: dict[str, Stage], stage: str) -> None:
    emitted = stages[stage].expected["checkpoints_emitted"]
    found = stages[stage].checkpoints
    told = {(row["log_offset"], row["upstream_offset"], row["downstream_offset"]) for row in found}
    assert told == {(row["offset"], row["upstream"], row["downstream"]) for row in emitted}
    for row in found:
        step = row["downstream_offset"] - row["sync_downstream_offset"]
        explanation = {0: "ON_SYNC", 1: "BEHIND_SYNC"}[step]
        assert row["explanation"] == explanation
        assert (row["sync_upstream_offset"] == row["upstream_offset"]) == (step == 0)
        assert row["loss"] >= 0 and row["best_offset"] == row["downstream_offset"] + row["loss"]
    lost = {(row["group_id"], row["upstream_offset"]): row["loss"] for row in found}
    assert lost["g-mid", 700] == 699  # there was a sync at 700: the 64 slots had dropped it


def test_mirror_maker_has_written_what_would_be_written(stages: dict[str, Stage]) -> None:
    """After the restart all is there; the group that went back is not set back."""
    writes = stages[RESTARTED].writes
    reasons = {place: row["reason_code"] for place, row in writes.items()}
    assert reasons.pop("g-rewind|A.orders-plain-0") == "TARGET_AHEAD"
    assert set(reasons.values()) == {"TARGET_EQUAL"}
    assert {*reasons, "g-rewind|A.orders-plain-0"} == set(
        stages[RESTARTED].expected["checkpoint_current"]
    )
    down = stages[MM2_DOWN].writes
    to_write = {p: row["reason_code"] for p, row in down.items() if row["decision"] == "write"}
    assert to_write == {  # of commits that MirrorMaker has not seen yet
        "g-while-down|A.orders-0": "TARGET_ABSENT",
        "g-while-down|A.orders-plain-0": "TARGET_ABSENT",
        "g-moving|A.orders-0": "TARGET_BEHIND",
    }


def test_groups_are_ready_but_those_before_the_first_sync(stages: dict[str, Stage]) -> None:
    readiness = stages[RESTARTED].readiness
    blocked = {group for group, row in readiness.items() if not row["is_ready"]}
    assert blocked == {"g-before", "g-trimmed"}
    assert readiness["g-before"]["blocked_by_reason"] == {"BEFORE_FIRST_SYNC": 1}
    for row in readiness.values():
        assert row["partitions"] == row["translated"] + sum(row["blocked_by_reason"].values())


def test_groups_come_home_to_where_they_have_read(stages: dict[str, Stage]) -> None:
    """Nobody has read on in the target, so no group comes home to beyond its own offset."""
    for place, row in stages[RESTARTED].failback.items():
        if place.startswith("g-rewind|"):  # it went back in the source, and is not set back there
            assert row["reason_code"] == "TARGET_BEHIND", place
            continue
        assert row["source_offset"] >= row["translated_offset"] >= 0, place
        assert row["decision"] == "skip", place


def test_nothing_was_emitted(session: Session, stages: dict[str, Stage]) -> None:
    assert rows(session, f"select * from history.checkpoints where flow = '{FLOW}'") == []


def test_what_is_decided_again_is_the_same(session: Session, stages: dict[str, Stage]) -> None:
    """I7, of the same tables; the flow is a new one, so that all is decided."""
    settings = flow_settings("A", "B", "sparse_reads_checkpoints", topics="orders.*")
    again = with_flows(session, {FLOW: settings, "again": settings})
    decide(again, "translate", ["A"], stages[RESTARTED].expected["at_ms"], is_dry_run=True)
    first, second = (
        rows(
            session,
            "select * except (flow, run_id, changed_in_run_id, decided_at_ms, previous_decision, "
            "previous_reason_code) from decisions.offset_translations "
            f"where flow = '{flow}' order by group_id, topic_name, partition_index",
        )
        for flow in (FLOW, "again")
    )
    assert first == second and len(first) > 10


def test_offsets_are_written_as_kafkas_tool_reads_them(
    session: Session, stages: dict[str, Stage]
) -> None:
    """Of groups that come home: `g-rewind` has read further in the target."""
    back = reset_plan(session.warehouse, FLOW, None, is_back=True)
    assert (back.text, back.groups) == ("g-rewind,orders-plain,0,501\n", ("g-rewind",))
    alone = reset_plan(session.warehouse, FLOW, "g-rewind", is_back=True)
    assert alone.text == "orders-plain,0,501\n"
    there = reset_plan(session.warehouse, FLOW, None, is_back=False)
    assert (there.text, there.offsets) == ("", 0)  # MirrorMaker has written them all
    with pytest.raises(MoldauError, match="nothing is known of the flow 'it'"):
        reset_plan(session.warehouse, "it", None, is_back=False)
