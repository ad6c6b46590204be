"""A broker with tiered storage whose copies are held, fail, and are let through.

After each of these moldau's gauges are those that JMX shows, and so is what really waits.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from broker_support import Broker, running_broker
from certificate_support import make_certificate
from groups_support import Groups
from java_support import compiled
from server_support import free_ports
from spark_support import fresh, rows

from moldau.collecting.collect import collect
from moldau.collecting.known import Known
from moldau.collecting.log_dirs import read_log_dirs
from moldau.dumping.client_settings import client_settings
from moldau.dumping.source import LibrdkafkaSource, connected
from moldau.engines.spark.java import find_java
from moldau.instants import now_ms
from moldau.runs.decide import decide
from moldau.runs.ingest import ingest
from moldau.runs.load import load_rows
from moldau.runs.opening import open_session
from moldau.sessions.session import Session
from moldau.settings import load_settings

HERE = Path(__file__).parent
TOPIC, CLUSTER, METADATA = "tiered", "watched", "__remote_log_metadata"
SEGMENTS = 6  # that are closed; one is active
RECORD, SEGMENT = b"v" * 5_000, 1_048_576
RECORDS = SEGMENTS * 209 + 100
COPY_LAG = ("RemoteCopyLagBytes", "RemoteCopyLagSegments")
GAUGES = (*COPY_LAG, "RemoteDeleteLagBytes", "RemoteDeleteLagSegments")
ENOUGH_S = 60
SETTINGS = {
    "remote.log.storage.system.enable": "true",
    "remote.log.storage.manager.class.name": "StorageOnDemand",
    "remote.log.metadata.manager.listener.name": "PLAINTEXT",
    "remote.log.manager.task.interval.ms": "1000",
    "rlmm.config.remote.log.metadata.topic.num.partitions": "1",
    "rlmm.config.remote.log.metadata.topic.replication.factor": "1",
    "rlmm.config.remote.log.metadata.topic.min.isr": "1",
}


@dataclass(frozen=True)
class Tiered:
    broker: Broker
    jmx_port: int
    gates: Path
    session: Session
    source: LibrdkafkaSource

    def shown_by_kafka(self) -> dict[str, int]:
        pattern = f"kafka.server:type=BrokerTopicMetrics,name=Remote*Lag*,topic={TOPIC}"
        java = [str(find_java().path), str(HERE / "Gauges.java"), str(self.jmx_port), pattern]
        told = subprocess.run(java, capture_output=True, text=True, check=True, timeout=60).stdout
        values = {line.split("\t")[0]: line.split("\t")[2] for line in told.splitlines()}
        return {name: int(values[name]) for name in GAUGES}

    def wait_for(self, segments: int) -> dict[str, int]:
        """The gauges, once so many segments wait for their copy."""
        end = time.monotonic() + ENOUGH_S
        while (shown := self.shown_by_kafka())["RemoteCopyLagSegments"] != segments:
            assert time.monotonic() < end, shown
        return shown

    def decide(self) -> None:
        """Read all that there is to know, and decide."""
        session = fresh(self.session)
        for loaded in ingest(session, CLUSTER, self.source, [METADATA], pytest.fail):
            assert not loaded.rows_refused
        settings = client_settings(self.broker.plaintext, None)
        found = (
            collect(settings, 20, Known()).rows | read_log_dirs([self.broker.folder / "data"]).rows
        )
        for kind in ("partition_states", "topic_configs", "local_segments", "leader_epochs"):
            assert load_rows(session, found[kind], "broker", CLUSTER, kind).refused == []
        decide(session, "tiers", [CLUSTER], now_ms(), is_dry_run=True)

    def shown_by_moldau(self) -> dict[str, int]:
        sql = (
            "select metric_name, kafka_value from marts.kafka_gauges_by_topic "
            f"where topic_name = '{TOPIC}'"
        )
        return {name: value for name, value in rows(self.session, sql) if name in GAUGES}

    def waiting(self) -> tuple[int, int, int]:
        sql = (
            "select upload_lag_segments, upload_lag_bytes, upload_in_flight from marts.tier_lag "
            f"where topic_name = '{TOPIC}'"
        )
        [found] = rows(self.session, sql)
        return found  # type: ignore[return-value]


@pytest.fixture(scope="module")
def tiered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tiered]:
    gates = tmp_path_factory.mktemp("storage")
    (gates / "hold").touch()
    classes = compiled(HERE / "StorageOnDemand.java", tmp_path_factory.mktemp("classes"))
    certificate = make_certificate(tmp_path_factory.mktemp("certificate"))
    [port] = free_ports(1)
    jmx = "com.sun.management.jmxremote"
    options = [
        f"-D{jmx}.port={port}", f"-D{jmx}.rmi.port={port}", f"-D{jmx}.host=127.0.0.1",
        "-Djava.rmi.server.hostname=127.0.0.1", f"-D{jmx}.authenticate=false", f"-D{jmx}.ssl=false",
    ]  # fmt: skip
    settings = SETTINGS | {"rsm.config.folder": str(gates)}
    folder = tmp_path_factory.mktemp("broker")
    config = folder / "moldau.yml"
    config.write_text(
        f"engine: duckdb\nclusters:\n  {CLUSTER}:\n    ruleset: {{tiers: kafka_4_4}}\n"
    )
    with (
        running_broker(folder, certificate, settings, classes, options) as broker,
        open_session(load_settings(config, folder / "warehouse"), "pytest") as session,
    ):
        groups = Groups(broker.plaintext)
        configs = {"remote.storage.enable": "true", "segment.bytes": str(SEGMENT)}
        groups.create(TOPIC, 1, **configs)
        groups.create("orders")
        groups.commit("first", p0=0)  # without __consumer_offsets moldau reads nothing
        for _ in range(RECORDS // 50):  # small batches, so that segments are alike
            groups.produce(TOPIC, *({"value": RECORD, "partition": 0} for _ in range(50)))
        source = connected(client_settings(broker.plaintext, None), 20, pytest.fail)
        yield Tiered(broker, port, gates, session, source)


def test_held_copies(tiered: Tiered) -> None:
    """Kafka's gauges are still those of the run before the copy that is under way."""
    end = time.monotonic() + ENOUGH_S
    while True:
        tiered.decide()
        segments, _, in_flight = tiered.waiting()
        if in_flight:
            break
        assert time.monotonic() < end, "no copy has begun"
    assert tiered.shown_by_moldau() == tiered.shown_by_kafka()
    assert segments >= SEGMENTS - 1


def test_failing_copies(tiered: Tiered) -> None:
    (tiered.gates / "fail").touch()
    (tiered.gates / "hold").unlink()
    tiered.wait_for(SEGMENTS)
    tiered.decide()
    assert tiered.shown_by_moldau() == tiered.shown_by_kafka()


def test_copies_that_are_let_through(tiered: Tiered) -> None:
    (tiered.gates / "fail").unlink()
    tiered.wait_for(0)
    tiered.decide()
    assert tiered.waiting() == (0, 0, 0)
    assert tiered.shown_by_moldau() == tiered.shown_by_kafka() == dict.fromkeys(GAUGES, 0)
    copied = (
        "select count(*) from state.remote_segments where segment_state = 'COPY_SEGMENT_FINISHED'"
    )
    assert rows(tiered.session, copied) == [(SEGMENTS,)]
    assert len(list(tiered.gates.glob("segment-*"))) == SEGMENTS
