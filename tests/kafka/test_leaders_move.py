"""Two brokers of one cluster, of which one is killed while moldau reads from it and asks it."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from broker_support import COORDINATES, java_of, make_broker, server
from certificate_support import make_certificate
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import NewTopic
from groups_support import TOPIC, Groups
from spark_support import fresh, rows

from moldau.collecting.collect import Collected, collect
from moldau.collecting.known import Known
from moldau.dumping.client_settings import client_settings
from moldau.dumping.source import connected
from moldau.runs.ingest import ingest, topics_of
from moldau.runs.load import load_rows
from moldau.runs.opening import open_session
from moldau.sessions.session import Session
from moldau.settings import load_settings

OFFSETS, SYNCS, CLUSTER = "__consumer_offsets", "mm2-offset-syncs.B.internal", "watched"
STAYS, GOES = 1, 2  # node ids
RECORDS, OF_A_LOAD = 60_000, 5_000
GROUPS = [f"g-{number}" for number in range(20)]
SILENT_S = 10
ENOUGH_S = 60
SETTINGS = {
    "offsets.topic.replication.factor": "2",
    "broker.session.timeout.ms": "4000",
    "broker.heartbeat.interval.ms": "500",
    "min.insync.replicas": "1",
}


@dataclass
class Cluster:
    servers: str
    goes: int  # pid of the broker that is killed

    def kill(self) -> None:
        os.kill(self.goes, signal.SIGKILL)

    def collected(self) -> Collected:
        return collect(client_settings(self.servers, None), SILENT_S, Known())


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    stores = make_certificate(tmp_path_factory.mktemp("certificate"))
    folders = [tmp_path_factory.mktemp(name) for name in ("stays", "goes")]
    first = make_broker(folders[0], stores, SETTINGS)
    second = make_broker(folders[1], stores, SETTINGS | {"node.id": str(GOES)}, beside=first)
    java = java_of(COORDINATES)
    with (
        server([*java, "kafka.Kafka", str(first.settings)], first.ports, folders[0]),
        server([*java, "kafka.Kafka", str(second.settings)], second.ports, folders[1]) as goes,
    ):
        yield Cluster(f"{first.addresses[0]},{second.addresses[0]}", goes.pid)


@pytest.fixture(scope="module")
def groups(cluster: Cluster) -> Groups:
    made = Groups(cluster.servers)
    end = time.monotonic() + ENOUGH_S
    while len(made.admin.list_topics(timeout=SILENT_S).brokers) < 2:
        assert time.monotonic() < end
        time.sleep(0.2)
    topics = [
        NewTopic(TOPIC, 2, replica_assignment=[[GOES, STAYS], [STAYS, GOES]]),
        NewTopic(SYNCS, 1, replica_assignment=[[GOES, STAYS]]),
    ]
    for future in made.admin.create_topics(topics).values():
        future.result()
    time.sleep(1)
    made.produce(SYNCS, *({"key": b"%d" % n, "value": b""} for n in range(RECORDS)))
    for group in GROUPS:
        made.commit(group, p0=1, p1=2)
    return made


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    folder = tmp_path_factory.mktemp("watched")
    (folder / "moldau.yml").write_text(f"engine: duckdb\nclusters: {{{CLUSTER}: {{}}}}\n")
    settings = load_settings(folder / "moldau.yml", folder / "warehouse")
    with open_session(settings, "pytest") as opened:
        yield opened


def test_each_record_is_read_once_whoever_leads(
    cluster: Cluster, groups: Groups, session: Session
) -> None:
    taken_in(session, cluster.collected())
    assert GOES in led(session).values()
    source = connected(client_settings(cluster.servers, None), ENOUGH_S, pytest.fail)
    loads = 0
    for _ in read(session, source):
        loads += 1
        if loads == 2:
            cluster.kill()
    assert loads > 4, "it was killed in the middle"
    for group in GROUPS:
        groups.commit(group, p0=10, p1=20)
    for _ in read(session, source):
        pass
    sql = "select topic_name, partition_index, log_offset from raw.records"
    found = rows(session, sql)
    assert len(found) == len(set(found))
    assert set(found) == in_kafka(cluster.servers)
    committed = "select committed_offset, count(*) from state.group_offsets group by 1"
    assert dict(rows(session, committed)) == {10: len(GROUPS), 20: len(GROUPS)}


def test_who_leads_now_is_collected(cluster: Cluster, groups: Groups, session: Session) -> None:
    end = time.monotonic() + ENOUGH_S
    while (found := cluster.collected()).findings:
        assert time.monotonic() < end, found.findings
    taken_in(session, found)
    assert set(led(session).values()) == {STAYS}
    listed = {row["group_id"]: row["coordinator_id"] for row in found.rows["group_listings"]}
    assert {group: listed[group] for group in GROUPS} == dict.fromkeys(GROUPS, STAYS)


def read(session: Session, source: Any) -> Iterator[None]:
    for loaded in ingest(
        fresh(session), CLUSTER, source, topics_of(source, []), pytest.fail, rows=OF_A_LOAD
    ):
        assert not loaded.rows_refused
        yield


def taken_in(session: Session, found: Collected) -> None:
    for kind in ("partition_states", "group_listings"):
        assert load_rows(fresh(session), found.rows[kind], "test", CLUSTER, kind).refused == []


def led(session: Session) -> dict[tuple[str, int], int]:
    sql = (
        "select topic_name, partition_index, broker_id from state.partition_states where is_leader"
    )
    return {(topic, index): broker for topic, index, broker in rows(session, sql)}


def in_kafka(servers: str) -> set[tuple[str, int, int]]:
    own = {"group.id": "of-no-group", "enable.auto.commit": False, "log_level": 0}
    consumer = Consumer({"bootstrap.servers": servers, **own})
    found = set()
    for topic in (OFFSETS, SYNCS):
        for index in consumer.list_topics(topic, SILENT_S).topics[topic].partitions:
            where = TopicPartition(topic, index, 0)
            _, end = consumer.get_watermark_offsets(where, SILENT_S)
            consumer.assign([where])
            while end and consumer.position([where])[0].offset < end:
                found |= {(topic, index, each.offset()) for each in consumer.consume(10_000, 1)}
    consumer.close()
    return found
