"""Segments of a real broker's disk hold what a consumer of the same broker reads, and no more."""

from __future__ import annotations

import contextlib
import json
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from broker_support import Broker
from confluent_kafka import Producer
from groups_support import ENOUGH_S, Groups
from test_dump import dumped_by, lines_of

from moldau.cli import run
from moldau.loading.inputs import inputs
from moldau.loading.shapes import RECORDS
from moldau.loading.sources import sources
from moldau.settings.limits import Limits

OFFSETS = "__consumer_offsets"
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
COMPACTED = "mm2-offset-syncs.compacted.internal"


def read(*words: Path) -> tuple[list[dict[str, Any]], list[str], list[str]]:
    """Rows as `dump` writes them, what was refused, and what is said."""
    rows: list[dict[str, Any]] = []
    refused: list[str] = []
    notes: list[str] = []
    for _, chunks in sources(inputs(words, notes.append), RECORDS, Limits(), notes.append):
        for table, refusals in chunks:
            refused += map(str, refusals)
            rows += table.drop_columns(["line"]).to_pylist()
    return rows, refused, notes


def dumped(broker: Broker, topic: str, folder: Path) -> list[dict[str, Any]]:
    """What a consumer is given, as rows."""
    target = folder / f"{topic}.jsonl.gz"
    assert dumped_by(broker.plaintext, target, topic) == 0
    return [RECORDS.check(line) for line in lines_of(target)]


def by_place(rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return sorted(tuple(row.items()) for row in map(_parsed, rows))


def _parsed(row: dict[str, Any]) -> dict[str, Any]:
    """Headers as a text have their members in any order."""
    return row | {"headers": json.dumps(json.loads(row["headers"] or "[]"), sort_keys=True)}


def folders(broker: Broker, topic: str, to: Path) -> list[Path]:
    """Copies of the partitions' folders, as a backup has them."""
    found = []
    for folder in sorted((broker.folder / "data").glob(f"{topic}-*")):
        if folder.name.removeprefix(f"{topic}-").isdigit():
            found.append(Path(shutil.copytree(folder, to / folder.name)))
    return found


def transactional(broker: Broker, name: str) -> Producer:
    producer = Producer(
        {"bootstrap.servers": broker.plaintext, "transactional.id": name, "log_level": 0}
    )
    producer.init_transactions(ENOUGH_S)
    return producer


@pytest.fixture
def open_transaction(groups: Groups) -> Iterator[Producer]:
    producer = groups.begin("g-left-open", p0=8)
    yield producer
    producer.abort_transaction(ENOUGH_S)


@pytest.mark.parametrize("codec", CODECS)
def test_every_codec_reads_as_a_consumer_does(
    codec: str, groups: Groups, broker: Broker, tmp_path: Path
) -> None:
    topic = f"coded-{codec}"
    groups.create(topic)
    producer = Producer(
        {"bootstrap.servers": broker.plaintext, "compression.type": codec, "linger.ms": 50}
    )
    for number in range(1_000):
        producer.produce(
            topic,
            key=None if number % 7 == 0 else f"key {number % 50}".encode(),
            value=None if number % 11 == 0 else f"value {number} ".encode() * (number % 40),
            timestamp=1_795_000_000_000 - 3_000 * number,
            headers=[("a", b"\xff"), ("b", None), ("é", b"")] if number % 13 == 0 else None,
        )
    assert producer.flush(ENOUGH_S) == 0
    rows, refused, notes = read(*folders(broker, topic, tmp_path))
    assert (refused, notes) == ([], [])
    assert len(rows) == 1_000
    assert by_place(rows) == by_place(dumped(broker, topic, tmp_path))


def test_a_time_that_the_broker_gave_is_one(groups: Groups, broker: Broker, tmp_path: Path) -> None:
    topic = "append-time"
    groups.create(topic, 1, **{"message.timestamp.type": "LogAppendTime"})
    groups.produce(topic, *({"value": b"v", "timestamp": 5} for _ in range(3)))
    rows, _, _ = read(*folders(broker, topic, tmp_path))
    assert {row["timestamp_type"] for row in rows} == {"LogAppendTime"}
    assert by_place(rows) == by_place(dumped(broker, topic, tmp_path))


def test_what_is_open_or_aborted_is_not_read(
    groups: Groups, broker: Broker, tmp_path: Path, open_transaction: Producer
) -> None:
    """Commits of groups: the fixtures made some in transactions, of which one was aborted."""
    groups.commit("g-left-open", p1=1)  # behind what is open, where its group is
    rows, refused, notes = read(*folders(broker, OFFSETS, tmp_path))
    assert refused == []
    assert by_place(rows) == by_place(dumped(broker, OFFSETS, tmp_path))
    [note] = notes
    assert note.startswith(f"{OFFSETS}-")
    assert " ends with an open transaction (producer " in note


def test_a_transaction_may_end_in_a_later_segment(
    groups: Groups, broker: Broker, tmp_path: Path
) -> None:
    topic = "over-segments"
    groups.create(topic, 1, **{"segment.bytes": "1048576"})
    big = bytes(400_000)
    for name, is_kept in (("kept", True), ("given-up", False)):
        producer = transactional(broker, name)
        producer.begin_transaction()
        for number in range(4):
            producer.produce(topic, key=f"{name} {number}", value=big)
            producer.flush(ENOUGH_S)
            groups.produce(topic, {"value": b"of nobody"})
        (producer.commit_transaction if is_kept else producer.abort_transaction)(ENOUGH_S)
    groups.produce(topic, {"value": b"last"})
    [folder] = folders(broker, topic, tmp_path)
    segments = sorted(folder.glob("*.log"))
    assert len(segments) > 2
    rows, refused, notes = read(folder)
    assert (refused, notes) == ([], [])
    assert by_place(rows) == by_place(dumped(broker, topic, tmp_path))
    assert {row["record_key"] for row in rows} == {
        None, b"kept 0", b"kept 1", b"kept 2", b"kept 3",
    }  # fmt: skip
    # whatever order they are named in
    assert read(*reversed(segments))[0] == rows


def test_a_compacted_log_is_read_as_a_consumer_does(
    groups: Groups, broker: Broker, tmp_path: Path
) -> None:
    """The cleaner keeps empty batches of producers, and markers of transactions for a while."""
    policy = {"cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0.01"}
    groups.create(COMPACTED, 1, **policy, **{"segment.ms": "500", "delete.retention.ms": "0"})
    for round_number in range(3):
        groups.produce(COMPACTED, *({"key": f"k{n}", "value": b"v"} for n in range(50)))
        for name in ("commits", "aborts"):
            producer = transactional(broker, name)
            producer.begin_transaction()
            for number in range(10):
                producer.produce(COMPACTED, key=f"{name} {number}", value=f"{round_number}")
            producer.flush(ENOUGH_S)
            is_kept = name == "commits"
            (producer.commit_transaction if is_kept else producer.abort_transaction)(ENOUGH_S)
        time.sleep(0.6)
    groups.produce(COMPACTED, {"key": "last", "value": b"v"})
    folder = broker.folder / "data" / f"{COMPACTED}-0"
    end = time.monotonic() + 4 * ENOUGH_S
    while not list(folder.glob("*.deleted")) and time.monotonic() < end:
        time.sleep(0.2)
    while True:  # the cleaner may come again meanwhile
        before = by_place(dumped(broker, COMPACTED, tmp_path))
        with contextlib.suppress(shutil.Error):
            rows, refused, notes = read(*folders(broker, COMPACTED, tmp_path))
            if before == by_place(dumped(broker, COMPACTED, tmp_path)):
                break
        assert time.monotonic() < end
        shutil.rmtree(tmp_path / folder.name)
    assert (refused, notes) == ([], [])
    assert len(rows) < 3 * 60, "it was compacted"
    assert by_place(rows) == before


def test_the_whole_disk_is_kafkas_own_topics(
    groups: Groups, broker: Broker, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows, _, notes = read(broker.folder / "data")
    topics = {row["topic_name"] for row in rows}
    assert OFFSETS in topics
    assert topics <= {OFFSETS, "__transaction_state", "__share_group_state", COMPACTED}
    assert any("are left out: moldau reads nothing of such topics" in it for it in notes)
    # on the command line no kind is needed
    warehouse = ["--warehouse", str(tmp_path / "warehouse")]
    config = tmp_path / "moldau.yml"
    config.write_text("clusters: {east: {}}\n")
    words = ["--cluster", "east", "--config", str(config), *warehouse]
    pattern = str(broker.folder / "data" / f"{OFFSETS}-*")
    assert run(["load", pattern, *words, "--format", "json"]) == 0
    [told] = json.loads(capsys.readouterr().out)
    assert told["rows_new"] == len([row for row in rows if row["topic_name"] == OFFSETS])
    assert run(["load", pattern, *words, "--kind", "heartbeats"]) == 1
    assert "it holds records, not heartbeats" in capsys.readouterr().err
    assert run(["decode", str(next((broker.folder / "data").glob(f"{OFFSETS}-*")))]) == 0
