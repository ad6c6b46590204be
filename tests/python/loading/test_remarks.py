"""What a load says of records that it took in and did not understand; it is no error."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import pytest
from log_support import PARTS, Log, middle_log, part_of_group
from spark_support import Killed, Record, fresh, rows, with_clusters

from moldau.cli.decode import decode
from moldau.cli.load import _tell
from moldau.loading.bring import Loaded
from moldau.runs.load import load
from moldau.runs.resume import finish_interrupted
from moldau.sessions.session import Session

COUNTED = {
    "unknown_type": 2, "unknown_version": 1, "bad_value": 3, "bad_key": 1, "ok_trailing": 1,
}  # fmt: skip


def odd_log() -> Log:
    """Records of every outcome: COUNTED, and three that are understood."""
    log = Log()
    log.classic("a")
    log.commit("a")
    log.remove_commit("a")
    log.add(b"\x00\x63zz", b"\0\0")
    log.add(b"\x03\xe7" + b"future", b"")
    log.add(log.commit_key("a"), b"\x00\x63")
    log.add(log.group_key("b", 2), b"\x00\x03\x00")
    log.add(log.commit_key("b"), b"")
    log.add(log.commit_key("c"), b"")
    log.add(b"\x00\x02\x00\x09", b"\0\0")
    log.commit("b")
    log.records[-1] = Record(0, 10, 5, log.records[-1].key, (log.records[-1].value or b"") + b"?")
    return log


def write(folder: Path, records: list[Record], *more: dict[str, Any]) -> Path:
    file = folder / "records.jsonl"
    lines = [*(record.as_line() for record in records), *more]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


def of_topic(topic: str, offset: int = 0) -> dict[str, Any]:
    return Record(0, offset, 5, b"k", b"v").as_line() | {"topic": topic}


def told(loaded: Loaded, capsys: pytest.CaptureFixture[str], output_format: str) -> tuple[Any, str]:
    capsys.readouterr()
    with click.Context(click.Command("load")):
        _tell(loaded, output_format)
    said = capsys.readouterr()
    return (json.loads(said.out) if output_format == "json" else said.out), said.err


def test_what_is_not_understood_is_counted_by_topic_and_status(
    session: Session, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session = with_clusters(session, {"remarks": "{}"})
    syncs = "mm2-offset-syncs.remarks.internal"
    file = write(
        tmp_path,
        odd_log().records,
        *map(of_topic, (syncs, "__transaction_state", "orders", "\x1b[31mred")),
    )
    loaded = load(session, [file], "remarks", "records")
    assert loaded.decode_statuses == {
        "__consumer_offsets": COUNTED,
        "__transaction_state": {"bad_key": 1},  # of which no table is made
        syncs: {"bad_key": 1},
    }
    assert loaded.unknown_topics == ["\x1b[31mred", "orders"]
    assert loaded.records == {
        "\x1b[31mred": {"unknown_type": 1},
        "__consumer_offsets": {"ok": 2, "tombstone": 1, **COUNTED},
        "__transaction_state": {"bad_key": 1},
        syncs: {"bad_key": 1},
        "orders": {"unknown_type": 1},
    }

    [row], errors = told(loaded, capsys, "json")
    assert row["decode_statuses"] == loaded.decode_statuses
    assert row["records"] == loaded.records
    assert row["unknown_topics"] == loaded.unknown_topics
    assert row["notes"] == loaded.notes
    for output_format in ("table", "csv"):
        out, same = told(loaded, capsys, output_format)
        assert same == errors
        assert "notes" not in out
    assert "3 records of __consumer_offsets bad_value" in errors
    assert "3 of these records of __consumer_offsets have an empty value" in errors
    assert "null means a tombstone" in errors
    assert "2 records of __consumer_offsets unknown_type: of a type that Kafka" in errors
    assert "1 record of mm2-offset-syncs.remarks.internal bad_key" in errors
    assert "\\x1b[31mred, orders are none of Kafka's internal topics" in errors
    assert "\x1b" not in errors
    [(counts,)] = rows(session, f"select counts from state.runs where run_id = '{loaded.run_id}'")
    counted = {"records_bad_key": 3, "records_bad_value": 3, "records_unknown_type": 2}
    assert counted.items() <= dict(counts).items()


def test_nothing_is_said_where_all_is_understood(session: Session, tmp_path: Path) -> None:
    session = with_clusters(session, {"remarks-good": "{}"})
    records = odd_log().records[:3]
    loaded = load(session, [write(tmp_path, records)], "remarks-good", "records")
    assert (loaded.decode_statuses, loaded.unknown_topics, loaded.notes) == ({}, [], [])


def test_a_load_that_the_next_command_finishes_says_it_too(
    session: Session, tmp_path: Path
) -> None:
    """Whether its records were decoded before it was killed or not."""
    session = with_clusters(session, {"remarks-killed-0": "{}", "remarks-killed-1": "{}"})
    file = write(tmp_path, odd_log().records, of_topic("orders"))

    def die(*_: object, **__: object) -> Any:
        raise Killed

    found = []
    for number, moment in enumerate(("loading.bring.append_decoded", "runs.stages.folds_of")):
        with pytest.MonkeyPatch.context() as patch, pytest.raises(Killed):
            patch.setattr(f"moldau.{moment}", die)
            load(fresh(session), [file], f"remarks-killed-{number}", "records")
        later = fresh(session)
        finish_interrupted(later)
        found.append([note.split(": ", 1)[1] for note in later.notes])
    assert found[0] == found[1]
    assert any("bad_value" in note for note in found[0])
    assert any("3 of these records" in note for note in found[0])
    assert any("orders" in note for note in found[0])


def test_decode_says_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path, odd_log().records, of_topic("orders"))
    with click.Context(decode):
        decode.callback(file)  # type: ignore[misc]
    said = capsys.readouterr()
    assert len([json.loads(line) for line in said.out.splitlines()]) == 12
    assert "2 records of __consumer_offsets unknown_type" in said.err
    assert "3 records of __consumer_offsets bad_value" in said.err
    assert "3 of these records of __consumer_offsets have an empty value" in said.err
    assert "1 record of __consumer_offsets ok_trailing" in said.err
    assert "orders is none of Kafka's internal topics" in said.err


def commits(count: int, offset: int) -> list[Record]:
    log = Log()
    for number in range(count):
        log.commit(f"g{number}", offset=offset)
    return log.records


@pytest.mark.parametrize(
    ("alike", "differ", "is_other"),
    [(0, 120, True), (500, 120, True), (0, 12, True), (30, 12, False), (0, 3, False)],
)
def test_offsets_with_other_bytes_by_the_hundred_look_like_another_cluster(
    alike: int, differ: int, is_other: bool, session: Session, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    name = f"remarks-{alike}-{differ}"
    session = with_clusters(session, {name: "{}"})
    first = commits(alike + differ, offset=1)
    load(session, [write(tmp_path, first)], name, "records")
    second = first[:alike] + commits(alike + differ, offset=2)[alike:]
    loaded = load(session, [write(tmp_path, second)], name, "records")
    assert (loaded.rows_already_there, len(loaded.refused)) == (alike, differ)
    looks = f"{differ} offsets came again with other bytes, {alike} with the same: this looks like"
    assert any(note.startswith(looks) for note in loaded.notes) == is_other
    with pytest.raises(click.exceptions.Exit):
        told(loaded, capsys, "table")
    said = capsys.readouterr().err
    assert said.count("refused ") == min(differ, 20)
    assert ("a cluster (or topic) that was rebuilt" in said) == is_other


def test_parts_without_their_group_tell_that_the_export_begins_in_the_middle(
    session: Session, tmp_path: Path
) -> None:
    name = "remarks-middle"
    session = with_clusters(session, {name: "{}"})
    log = middle_log()
    loaded = load(session, [write(tmp_path, log.records)], name, "records")
    [note] = [note for note in loaded.notes if "does not begin at the start" in note]
    assert f"of {len(PARTS)} groups of {name} there are" in note
    assert "(part 05, part 06, part 07, part 08, part 10 and 10 more)" in note
    assert "Read the topic from its start" in note
    # a record of the group that comes later tells what was missing
    begun = len(log.records)
    log.add(log.group_key("part 05", 3), None)
    log.add(part_of_group(8, "part 05"), b"\0\x63")
    log.add(part_of_group(8, "part 06"), b"\0\x63")
    loaded = load(session, [write(tmp_path, log.records[begun:])], name, "records")
    [note] = [note for note in loaded.notes if "does not begin at the start" in note]
    assert f"of 1 group of {name} there are" in note
    assert "(part 06)" in note
