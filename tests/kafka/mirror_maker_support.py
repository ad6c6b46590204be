"""Two real clusters, A and B, and a real MirrorMaker 2 from A to B that is started and stopped."""

from __future__ import annotations

import contextlib
import struct
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from broker_support import COORDINATES, java_of, make_broker, properties_text, server
from certificate_support import make_certificate
from confluent_kafka import Consumer, TopicPartition
from java_support import compiled

# of 4.4.0 not all jars are in the registry
MIRROR_MAKER = ["org.apache.kafka:connect-mirror:4.3.1", "org.apache.kafka:connect-runtime:4.3.1"]
CHECKPOINTS, SYNCS = "A.checkpoints.internal", "mm2-offset-syncs.B.internal"
EMITS_EACH_S = 2
SETTLED_S = 3 * EMITS_EACH_S
_ENOUGH_S = 120
_SETTINGS = {
    "clusters": "A,B",
    "A->B.enabled": "true",
    "B->A.enabled": "false",
    "A->B.topics": "orders.*",
    "A->B.groups": ".*",
    "tasks.max": "1",
    "emit.heartbeats.enabled": "false",  # they, too, have syncs, for ever
    "offset.lag.max": "0",
    "replication.factor": "1",
    "refresh.topics.interval.seconds": "5",
    "refresh.groups.interval.seconds": "2",
    "emit.checkpoints.interval.seconds": str(EMITS_EACH_S),
    "sync.group.offsets.enabled": "true",
    "sync.group.offsets.interval.seconds": str(EMITS_EACH_S),
    "offset.storage.partitions": "1",
    "status.storage.partitions": "1",
    **{
        f"{topic}.replication.factor": "1"
        for topic in ("checkpoints.topic", "heartbeats.topic", "offset-syncs.topic",
                      "offset.storage", "status.storage", "config.storage")
    },
}  # fmt: skip

Place = tuple[str, str, int]  # group, topic of the target, partition


@dataclass(frozen=True)
class Pair:
    """Addresses of the two clusters, and where files of MirrorMaker go."""

    a: str
    b: str
    folder: Path


@contextlib.contextmanager
def running_pair(folder: Path) -> Iterator[Pair]:
    stores = make_certificate(_new(folder, "certificate"))
    source = make_broker(_new(folder, "A"), stores, {"node.id": "1"})
    target = make_broker(_new(folder, "B"), stores, {"node.id": "2"})
    classes = compiled(Path(__file__).with_name("TwoBrokers.java"), _new(folder, "classes"))
    files = [str(source.settings), str(target.settings)]
    words = [*java_of(COORDINATES, classes), "TwoBrokers", *files]
    with server(words, source.ports + target.ports, folder):
        yield Pair(source.addresses[0], target.addresses[0], _new(folder, "mirror-maker"))


def _new(folder: Path, name: str) -> Path:
    (folder / name).mkdir()
    return folder / name


@contextlib.contextmanager
def mirror_maker(pair: Pair) -> Iterator[subprocess.Popen[bytes]]:
    """Runs as long as the block goes on."""
    file = pair.folder / "mm2.properties"
    where = {"A.bootstrap.servers": pair.a, "B.bootstrap.servers": pair.b}
    file.write_text(properties_text(_SETTINGS | where))
    main = "org.apache.kafka.connect.mirror.MirrorMaker"
    with server([*java_of(MIRROR_MAKER), main, str(file)], [], pair.folder) as process:
        yield process


def checkpoints(pair: Pair) -> dict[Place, tuple[int, int]]:
    """The latest one of each: upstream and downstream offset."""
    found = {}
    for key, value in _records(pair.b, CHECKPOINTS):
        group, rest = _text(key)
        topic, rest = _text(rest)
        found[group, topic, struct.unpack(">i", rest)[0]] = struct.unpack(">hqq", value[:18])[1:]
    return found


def _text(data: bytes) -> tuple[str, bytes]:
    (size,) = struct.unpack(">h", data[:2])
    return data[2 : 2 + size].decode(), data[2 + size :]


def _records(address: str, topic: str) -> list[tuple[bytes, bytes]]:
    own = {"group.id": "reads-on-its-own", "enable.auto.commit": False, "log_level": 0}
    consumer = Consumer({"bootstrap.servers": address, **own})
    try:
        if topic not in consumer.list_topics(timeout=20).topics:
            return []
        where = TopicPartition(topic, 0, 0)
        _, end = consumer.get_watermark_offsets(where, timeout=20)
        consumer.assign([where])
        found: list[tuple[bytes, bytes]] = []
        while end and consumer.position([where])[0].offset < end:
            found += [(record.key(), record.value()) for record in consumer.consume(500, 1.0)]
        return found
    finally:
        consumer.close()


def end_of(address: str, topic: str, partition: int = 0) -> int:
    """0 where there is no such topic yet."""
    consumer = Consumer({"bootstrap.servers": address, "group.id": "asks", "log_level": 0})
    try:
        if topic not in consumer.list_topics(timeout=20).topics:
            return 0
        return int(consumer.get_watermark_offsets(TopicPartition(topic, partition), timeout=20)[1])
    finally:
        consumer.close()


def wait_until(holds: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + _ENOUGH_S
    while not holds():
        assert time.monotonic() < end, f"after {_ENOUGH_S} s: not yet {what}"
        time.sleep(0.5)


def settle(pair: Pair) -> None:
    """Until MirrorMaker has emitted no checkpoint and no sync for several of its rounds."""

    def ends() -> tuple[int, int]:
        return end_of(pair.b, CHECKPOINTS), end_of(pair.a, SYNCS)

    before = (-1, -1)
    while (now := ends()) != before:
        before = now
        time.sleep(SETTLED_S)
