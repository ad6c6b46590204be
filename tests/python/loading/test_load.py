"""Files through a load: formats, repeats, refused lines, snapshots."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest
from spark_support import CAPTURES, Record, contents, read_capture, rows

from moldau.loading.bring import Loaded
from moldau.runs.load import load
from moldau.sessions.session import Session

CAPTURE = "cleanup-noplugin"
SOURCE = CAPTURES / CAPTURE / "__consumer_offsets.jsonl"
STATE = ("groups", "group_offsets", "group_records")


def state(session: Session, cluster: str, is_with_runs: bool = False) -> dict[str, list[Any]]:
    hidden = {table: ["changed_in_run_id"] for table in STATE if table != "group_records"}
    return {
        table: contents(
            session,
            f"state.{table}",
            [] if is_with_runs else hidden.get(table, []),
            f"cluster_id = '{cluster}'",
        ).get(cluster, [])
        for table in STATE
    }


def lines(records: list[Record]) -> bytes:
    return b"".join(json.dumps(record.as_line()).encode() + b"\n" for record in records)


@pytest.fixture(scope="module")
def loaded(session: Session) -> Loaded:
    return load(session, [SOURCE], "load-whole", "records")


def test_every_record_is_loaded_once(session: Session, loaded: Loaded) -> None:
    assert (loaded.rows_new, loaded.rows_already_there, loaded.refused) == (62, 0, [])
    for table in ("raw.records", "decoded.group_records"):
        where = f"where cluster_id = 'load-whole' and run_id = '{loaded.run_id}'"
        assert rows(session, f"select count(*) from {table} {where}") == [(62,)]


def test_a_second_load_of_the_same_file_adds_nothing(session: Session) -> None:
    before = state(session, "load-whole", is_with_runs=True)
    again = load(session, [SOURCE], "load-whole", "records")
    assert (again.rows_new, again.rows_already_there, again.refused) == (0, 62, [])
    assert state(session, "load-whole", is_with_runs=True) == before
    counted = rows(session, "select count(*) from raw.records where cluster_id = 'load-whole'")
    assert counted == [(62,)]


def test_files_of_any_format_in_any_order_give_the_same_state(
    session: Session, tmp_path: Path
) -> None:
    records = read_capture(CAPTURE)
    plain, zipped, columns = (tmp_path / name for name in ("1.jsonl", "2.jsonl.gz", "3.parquet"))
    plain.write_bytes(lines(records[:25]))
    zipped.write_bytes(gzip.compress(lines(records[20:45])))
    rest = pa.Table.from_pylist([record.as_line() for record in records[40:]])
    pa.parquet.write_table(rest.drop_columns(["headers"]), columns)
    mixed = load(session, [columns, zipped, plain], "load-mixed", "records")
    assert (mixed.rows_new, mixed.rows_already_there, mixed.refused) == (62, 10, [])
    assert state(session, "load-mixed") == state(session, "load-whole")


BAD_LINES = {
    "{not json": "the line is not JSON",
    "[1, 2]": "the line is not a JSON object",
    '"text"': "the line is not a JSON object",
    "{}": "topic is missing",
}
BAD_FIELDS: list[tuple[dict[str, Any], str]] = [
    ({"offset": -1}, "offset is -1, less than 0"),
    ({"offset": "7"}, 'offset is "7", not a whole number'),
    ({"offset": 7.5}, "offset is 7.5, not a whole number"),
    ({"offset": 2**63}, f"offset is {2**63}, more than {2**63 - 1}"),
    ({"partition": 2**31}, f"partition is {2**31}, more than {2**31 - 1}"),
    ({"key_base64": "no base64!"}, 'key_base64 is "no base64!", not base64'),
    ({"value_base64": 5}, "value_base64 is 5, not a string"),
    ({"timestamp_ms": None}, "timestamp_ms is null"),
    ({"topic": ""}, "topic is empty"),
]


def test_bad_lines_are_refused_by_file_line_and_reason(session: Session, tmp_path: Path) -> None:
    """And so is a record that comes with other bytes; the rest is loaded."""
    records = read_capture(CAPTURE)
    sample = records[0].as_line()
    no_value = {key: value for key, value in sample.items() if key != "value_base64"}
    bad = [
        *BAD_LINES.items(),
        *((json.dumps(sample | change), reason) for change, reason in BAD_FIELDS),
        (json.dumps(no_value), "value_base64 is missing"),
    ]
    mixed, forged = tmp_path / "mixed.jsonl", tmp_path / "forged.jsonl"
    mixed.write_bytes(
        lines(records[:30])
        + b"\n   \n"  # blank lines are no records and no errors
        + "".join(f"{line}\n" for line, _ in bad).encode()
        + b'{"topic": "\xff"}\n'
        + lines(records[30:])
    )
    forged.write_text(json.dumps(sample | {"value_base64": "AAAA"}) + "\n")
    outcome = load(session, [mixed, forged], "load-refused", "records")
    told = [(Path(refusal.file).name, refusal.line) for refusal in outcome.refused]
    expected = [("mixed.jsonl", 33 + number) for number in range(len(bad) + 1)]
    assert told == [*expected, ("forged.jsonl", 1)]
    for refusal, (_, reason) in zip(outcome.refused, bad, strict=False):
        assert refusal.reason.startswith(reason)
    assert outcome.refused[-2].reason == "the line is not UTF-8"
    assert outcome.refused[-1].reason == (
        "offset 0 of __consumer_offsets-0 is there already with other bytes"
    )
    assert (outcome.rows_new, outcome.rows_already_there) == (62, 0)
    assert state(session, "load-refused") == state(session, "load-whole")


def test_a_loaded_record_is_not_replaced_by_other_bytes(session: Session, tmp_path: Path) -> None:
    sample = read_capture(CAPTURE)[0].as_line()
    forged = tmp_path / "forged.jsonl"
    forged.write_text(json.dumps(sample | {"value_base64": None}) + "\n" + json.dumps(sample))
    before = state(session, "load-whole", is_with_runs=True)
    outcome = load(session, [forged], "load-whole", "records")
    assert [(refusal.line, outcome.rows_new) for refusal in outcome.refused] == [(1, 0)]
    assert outcome.rows_already_there == 1
    assert state(session, "load-whole", is_with_runs=True) == before


def transactions(session: Session) -> list[tuple[Any, ...]]:
    return rows(
        session,
        "select group_id, topic_name, partition_index, producer_id from state.open_transactions "
        "where cluster_id = 'load-whole' order by 1, 2, 3, 4",
    )


def test_a_snapshot_of_transactions_replaces_the_one_before(
    session: Session, tmp_path: Path
) -> None:
    def bring(*rows_: dict[str, Any] | str) -> Loaded:
        file = tmp_path / "open.jsonl"
        text = [row if isinstance(row, str) else json.dumps(row) for row in rows_]
        file.write_text("".join(f"{line}\n" for line in text))
        return load(session, [file], "load-whole", "open_transactions")

    first = {"group_id": "n-off", "topic": "in", "partition": 0, "producer_id": 7}
    second = first | {"partition": 1}
    # the same key twice is one pending commit
    bring(first, second, first)
    assert transactions(session) == [("n-off", "in", 0, 7), ("n-off", "in", 1, 7)]

    refused = bring(second, "{")
    assert [refusal.line for refusal in refused.refused] == [2]
    assert transactions(session) == [("n-off", "in", 0, 7), ("n-off", "in", 1, 7)]

    bring(first | {"group_id": "n-nooff"})
    assert transactions(session) == [("n-nooff", "in", 0, 7)]
    bring()
    assert transactions(session) == []
