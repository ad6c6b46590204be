"""What Kafka's own tools print of real records, loaded again: the same records.

The tools are those of the broker's release; the records are those of the captures, in topics of
their own, and groups with transactions in `__consumer_offsets`.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from broker_support import HEAP, TOOLS, Broker
from groups_support import Groups
from test_segments import by_place, folders, read

from moldau.declared import topics
from moldau.engines.spark.jars import resolve
from moldau.engines.spark.java import find_java
from moldau.errors import MoldauError
from moldau.loading.inputs import Place
from moldau.loading.shapes import RECORDS
from moldau.loading.sources import sources
from moldau.records.families import family_of
from moldau.records.flat import flat
from moldau.settings.limits import Limits
from moldau.warehouse.contracts import tables
from moldau.warehouse.metadata import arrow_schema

CAPTURES = Path(__file__).resolve().parents[2] / "fixtures" / "captures"
DECODERS = {
    "__consumer_offsets": "--offsets-decoder",
    "__remote_log_metadata": "--remote-log-metadata-decoder",
    "__transaction_state": "--transaction-log-decoder",
    "__share_group_state": "--share-group-state-decoder",
}


def tool(name: str, *words: str) -> str:
    """What a class of the tools prints; the consumer ends when nothing comes any more."""
    jars = ":".join(str(jar) for jar in resolve(TOOLS, transitive=True))
    java = [str(find_java().path), *HEAP, "-cp", jars, f"org.apache.kafka.tools.{name}"]
    return subprocess.run([*java, *words], capture_output=True, text=True, timeout=120).stdout


def dump_log(decoder: str, file: Path) -> str:
    return tool("DumpLogSegments", decoder, "--files", str(file))


def captured(topic: str) -> list[dict[str, Any]]:
    files = sorted(CAPTURES.rglob(f"{topic}.jsonl"))
    return [RECORDS.check(json.loads(line)) for file in files for line in file.open()]


def produced(groups: Groups, topic: str, records: list[dict[str, Any]]) -> None:
    groups.create(topic)
    wanted = {"key": "record_key", "value": "record_value", "timestamp": "recorded_at_ms"}
    groups.produce(topic, *({to: row[of] for to, of in wanted.items()} for row in records))


def read_text(
    text: str, folder: Path, place: Place | None = None
) -> tuple[list[dict[str, Any]], list[str], list[str]]:
    file = folder / "printed.txt"
    file.write_text(text)
    rows: list[dict[str, Any]] = []
    refused: list[str] = []
    notes: list[str] = []
    for _, chunks in sources([file], RECORDS, Limits(), notes.append, place):
        for table, refusals in chunks:
            refused += map(str, refusals)
            rows += table.drop_columns(["line"]).to_pylist()
    return rows, refused, notes


def decoded(topic: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    family = family_of(topic)
    assert family
    keys = pa.array([row["record_key"] for row in rows], pa.binary())
    values = pa.array([row["record_value"] for row in rows], pa.binary())
    table = topics()[family].table if family in topics() else None
    columns = arrow_schema(tables()[table]) if table else []
    return flat(family, keys, values, list(columns)).to_pylist()


@pytest.mark.parametrize("topic", DECODERS)
def test_kafka_dump_log(topic: str, groups: Groups, broker: Broker, tmp_path: Path) -> None:
    """Each record byte by byte; what members of a classic group said has lost its version."""
    records = captured(topic)
    name = f"of-{topic.strip('_')}"
    produced(groups, name, records)
    segment = broker.folder / "data" / f"{name}-0" / f"{0:020}.log"
    rows, refused, notes = read_text(dump_log(DECODERS[topic], segment), tmp_path)
    assert (refused, notes) == ([], [])
    assert {row["topic_name"] for row in rows} == {topic}
    assert [row["log_offset"] for row in rows] == list(range(len(records)))
    for row, record in zip(rows, records, strict=True):
        assert row["record_key"] == record["record_key"]
        assert row["recorded_at_ms"] == record["recorded_at_ms"]
        if row["record_value"] != record["record_value"]:
            assert topic == "__consumer_offsets"
            assert record["record_key"][:2] == b"\0\2", "a classic group"
            assert len(row["record_value"]) == len(record["record_value"])
    assert decoded(topic, rows) == decoded(topic, records)


def test_kafka_dump_log_of_transactions(groups: Groups, broker: Broker, tmp_path: Path) -> None:
    """The same as the segments themselves, open and aborted transactions among them."""
    producer = groups.begin("g-open-in-text", p0=8)
    try:
        for folder in folders(broker, "__consumer_offsets", tmp_path):
            text = dump_log("--offsets-decoder", folder / f"{0:020}.log")
            rows, refused, notes = read_text(text, tmp_path)
            right, _, same = read(folder)
            assert (refused, notes) == ([], same)
            of_classic = {row["log_offset"] for row in right if row["record_key"][:2] == b"\0\2"}
            for row in rows + right:
                if row["log_offset"] in of_classic:
                    row["record_value"] = len(row["record_value"] or b"")
            assert by_place(rows) == by_place(right)
    finally:
        producer.abort_transaction(30)


def test_what_was_printed_without_a_decoder_is_not_taken(
    groups: Groups, broker: Broker, tmp_path: Path
) -> None:
    produced(groups, "undecoded", captured("__share_group_state"))
    segment = broker.folder / "data" / "undecoded-0" / f"{0:020}.log"
    for option in ("--print-data-log", "--deep-iteration", "--verify-index-only"):
        text = dump_log(option, segment)
        with pytest.raises(MoldauError, match="printed without a decoder: run kafka-dump-log"):
            read_text(text, tmp_path)


@pytest.mark.parametrize(
    ("formatter", "topic", "types"),
    [
        ("OffsetsMessageFormatter", "__consumer_offsets", (b"\0\0", b"\0\1")),
        ("GroupMetadataMessageFormatter", "__consumer_offsets", (b"\0\2",)),
        (
            "group.share.ShareGroupStateMessageFormatter",
            "__share_group_state",
            (b"\0\0", b"\0\1"),
        ),
        ("TransactionLogMessageFormatter", "__transaction_state", (b"\0\0",)),
    ],
)
def test_formatters_of_the_console_consumer(
    formatter: str, topic: str, types: tuple[bytes, ...], groups: Groups, broker: Broker,
    tmp_path: Path,
) -> None:  # fmt: skip
    """Objects one behind the other, whose order stands for the offsets."""
    name = f"for-{formatter.lower()}"
    records = [row for row in captured(topic) if row["record_key"][:2] in types]
    produced(groups, name, records)
    text = tool(
        "consumer.ConsoleConsumer", "--bootstrap-server", broker.plaintext, "--topic", name,
        "--from-beginning", "--formatter", f"org.apache.kafka.tools.consumer.{formatter}",
        "--max-messages", str(len(records)), "--timeout-ms", "40000",
    )  # fmt: skip
    rows, refused, [note] = read_text(text, tmp_path)
    assert refused == []
    assert "the order of its records stands for their offsets" in note
    assert [row["log_offset"] for row in rows] == list(range(len(records)))
    assert {row["topic_name"] for row in rows} == {topic}
    told = [(row["record_key"], row["record_value"]) for row in rows]
    assert told == [(row["record_key"], row["record_value"]) for row in records]
    [row, *_], _, _ = read_text(text, tmp_path, Place(partition=7))
    assert row["partition_index"] == 7
