"""`moldau collect local-segments` says of a broker's disk what the broker itself says of it."""

from __future__ import annotations

import json
import shutil
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from broker_support import Broker, tool
from groups_support import ENOUGH_S, Groups

from moldau.cli import run
from moldau.collecting.log_dirs import read_log_dirs
from moldau.collecting.other_brokers import with_other_brokers
from moldau.errors import MoldauError
from moldau.runs.load import load_rows
from moldau.sessions.session import Session

TOPIC = "segmented"
RECORDS, ROUNDS = 50, 4
END = RECORDS * ROUNDS + 2  # a record in a transaction, and its end


@pytest.fixture(scope="module")
def data(groups: Groups, broker: Broker) -> Path:
    """Several segments: the records of a round are too young for the segment before it."""
    configs = {"segment.bytes": "1048576", "segment.ms": "1000", "retention.ms": "-1"}
    groups.create(TOPIC, 1, **configs)
    for number in range(ROUNDS):
        first_ms = 1_000 + 10_000 * number
        groups.produce(
            TOPIC, *({"value": bytes(100), "timestamp": first_ms + n} for n in range(RECORDS))
        )
    producer = groups.begin("g-of-segments")
    producer.produce(TOPIC, b"in a transaction", timestamp=100_000)
    producer.commit_transaction(30)
    folder = broker.folder / "data"
    end = time.monotonic() + ENOUGH_S
    while _end(folder) < END and time.monotonic() < end:  # the marker comes after the answer
        time.sleep(0.1)
    return folder


def _end(folder: Path) -> int:
    last = of_topic(read_log_dirs([folder]).rows["local_segments"])["segments"][-1]
    return int(last["base_offset"] + last["record_count"])


def of_topic(rows: list[dict[str, Any]], topic: str = TOPIC) -> dict[str, Any]:
    [found] = [row for row in rows if row["topic"] == topic]
    return found


def test_the_disk_of_another_cluster_is_refused(
    session: Session, data: Path, groups: Groups, capsys: pytest.CaptureFixture[str]
) -> None:
    groups.commit("g-on-disk", p0=1)
    other = {"topic_id": "2gLQd7cXQ6WQnWCvuV1hXw", "topic": "__consumer_offsets", "partition": 0}
    told = {"broker_id": 1, "is_leader": True, "taken_at_ms": 1}
    load_rows(session, [other | told], "another", "other-disk", "partition_states")
    words = ["collect", "local-segments", "--cluster", "other-disk", "--log-dir", str(data)]
    assert run([*words, "--warehouse", str(session.warehouse)]) == 1
    assert "or this is another cluster" in capsys.readouterr().err


def test_segments_are_those_of_the_broker(data: Path, groups: Groups, broker: Broker) -> None:
    found = read_log_dirs([data])
    assert (found.broker_id, found.findings) == (1, [])
    told = of_topic(found.rows["local_segments"])
    assert told["topic_id"] == groups.topic_id(TOPIC)
    segments = told["segments"]
    assert len(segments) > ROUNDS
    assert segments[0]["base_offset"] == 0
    assert [each["is_active"] for each in segments] == [False] * (len(segments) - 1) + [True]
    # every offset of this log is a record, the end of the transaction among them
    for before, after in pairwise(segments):
        assert before["record_count"] == after["base_offset"] - before["base_offset"]
    assert _end(data) == END
    assert segments[0]["max_timestamp_ms"] == 1_000 + RECORDS - 1

    text = tool("LogDirsCommand", "--bootstrap-server", broker.plaintext, "--describe")
    [answer] = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    sizes = {
        each["partition"]: each["size"]
        for at in answer["brokers"] for log in at["logDirs"] for each in log["partitions"]
    }  # fmt: skip
    ours = {
        f"{row['topic']}-{row['partition']}": sum(each["size_bytes"] for each in row["segments"])
        for row in found.rows["local_segments"]
    }
    quiet = {name for name in ours if not name.startswith("__")}
    assert {name: ours[name] for name in quiet} == {name: sizes[name] for name in quiet}
    assert ours.keys() == sizes.keys()


def test_epochs_are_those_of_the_checkpoint(data: Path) -> None:
    told = of_topic(read_log_dirs([data]).rows["leader_epochs"])
    assert told["epochs"] == [{"epoch": 0, "start_offset": 0}]


def test_a_batch_that_is_being_written_is_not_counted(data: Path, tmp_path: Path) -> None:
    """A broker's folder as it may be seen: cut off, made larger beforehand, being deleted."""
    broker = tmp_path / "data"
    broker.mkdir()
    shutil.copy(data / "meta.properties", broker)
    shutil.copytree(data / f"{TOPIC}-0", broker / f"{TOPIC}-0")
    before = of_topic(read_log_dirs([broker]).rows["local_segments"])["segments"]
    first, last = (sorted((broker / f"{TOPIC}-0").glob("*.log"))[at] for at in (0, -1))
    whole = first.read_bytes()
    first.write_bytes(whole + whole[:90])
    with last.open("ab") as log:
        log.write(bytes(4096))
    after = of_topic(read_log_dirs([broker]).rows["local_segments"])["segments"]
    assert after == before
    first.write_bytes(whole[:30])
    cut_off = of_topic(read_log_dirs([broker]).rows["local_segments"])["segments"][0]
    assert (cut_off["size_bytes"], cut_off["record_count"], cut_off["max_timestamp_ms"]) == (
        0,
        0,
        -1,
    )

    shutil.copytree(broker / f"{TOPIC}-0", broker / f"{TOPIC}-0.{'a' * 32}-delete")
    (broker / "older-0").mkdir()
    found = read_log_dirs([broker])
    assert len(found.rows["local_segments"]) == 1
    assert found.findings == [f"{broker}/older-0: leader-epoch-checkpoint is not there"]
    with pytest.raises(MoldauError, match="is no log folder of a broker"):
        read_log_dirs([tmp_path])


def test_each_broker_tells_of_itself(session: Session, data: Path) -> None:
    """What another host told stays; the checkpoint of a partition is the leader's."""

    def load_of(broker_id: int, epoch: int) -> None:
        found = read_log_dirs([data])
        found.broker_id = broker_id
        for row in found.rows["local_segments"]:
            row["broker_id"] = broker_id
        for row in found.rows["leader_epochs"]:
            row["epochs"] = [{"epoch": epoch, "start_offset": 0}]
        with_other_brokers(session.warehouse, "brokers", found)
        for kind, rows in found.rows.items():
            assert load_rows(session, rows, "disk", "brokers", kind).refused == []

    def epoch() -> Any:
        [[epochs]] = session.sql(
            "select epochs from state.leader_epochs "
            f"where cluster_id = 'brokers' and topic_name = '{TOPIC}'"
        )
        return epochs[0]["leader_epoch"]

    load_of(1, epoch=5)
    load_of(2, epoch=6)
    assert epoch() == 6
    row = of_topic(read_log_dirs([data]).rows["leader_epochs"])
    state = {
        "topic_id": row["topic_id"], "topic": TOPIC, "partition": 0,
        "broker_id": 2, "is_leader": True, "taken_at_ms": 1,
    }  # fmt: skip
    load_rows(session, [state], "admin", "brokers", "partition_states")
    load_of(1, epoch=7)
    assert epoch() == 6
    brokers = session.sql(
        "select broker_id from state.local_segments "
        f"where cluster_id = 'brokers' and topic_name = '{TOPIC}' order by broker_id"
    )
    assert brokers == [(1,), (2,)]


def test_files_for_another_host(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["collect", "local-segments", "--cluster", "east", "--log-dir", str(data)]
    assert run([*words, "--to", str(tmp_path), "--warehouse", str(tmp_path / "none")]) == 0
    assert "local_segments" in capsys.readouterr().out
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "leader_epochs.jsonl", "local_segments.jsonl",
    ]  # fmt: skip
