"""Spark's Kafka source and librdkafka bring the same, and go on where the other stopped."""

from __future__ import annotations

import pytest
from broker_support import Broker
from groups_support import Groups
from spark_support import fresh, in_spark, rows

from moldau.dumping.client_settings import client_settings
from moldau.dumping.source import LibrdkafkaSource, connected
from moldau.runs.ingest import ingest, topics_of
from moldau.sessions.session import Session

pytestmark = pytest.mark.spark

SYNCS = "mm2-offset-syncs.B.internal"
EMBEDDED, SPARK, SWITCHED = "embedded-reads", "spark-reads", "both-read"
TABLES = {
    "raw.records": "cluster_id, run_id",
    "decoded.group_records": "cluster_id, run_id",
    "decoded.offset_syncs": "cluster_id, run_id",
    "state.groups": "cluster_id, changed_in_run_id",
    "state.group_offsets": "cluster_id, changed_in_run_id",
    "state.log_positions": "cluster_id, run_id, polled_at_ms",
}


def poll(session: Session, source: LibrdkafkaSource, cluster: str) -> int:
    """New records."""
    named = topics_of(source, [])
    loads = ingest(fresh(session), cluster, source, named, pytest.fail)
    return sum(loaded.rows_new for loaded in loads)


@pytest.fixture(scope="module")
def source(broker: Broker, groups: Groups) -> LibrdkafkaSource:
    return connected(client_settings(broker.plaintext, None), 20, pytest.fail)


@pytest.fixture(scope="module")
def made(session: Session, source: LibrdkafkaSource, groups: Groups) -> Session:
    headers = [("h", b"\x00\xff"), ("h", None), ("é", b"")]
    groups.create(SYNCS, 2)
    groups.produce(
        SYNCS,
        {"key": b"\x00k", "value": b"\xffv", "timestamp": 1_234, "headers": headers},
        {"key": b"tombstone", "value": None, "partition": 1},
        {"key": None, "value": b"", "partition": 1},
    )
    by_spark = in_spark(session)
    assert poll(by_spark, source, SPARK) > 10
    assert poll(session, source, SWITCHED) > 10
    groups.begin("g-between", p0=1).commit_transaction(30)
    groups.begin("g-between", p0=7).abort_transaction(30)
    assert poll(by_spark, source, SWITCHED) == 1
    assert poll(by_spark, source, SWITCHED) == 0
    groups.commit("g-after", p0=1)
    assert poll(session, source, SWITCHED) == 1
    assert poll(by_spark, source, SPARK) == 2
    assert poll(session, source, EMBEDDED) > 12
    return session


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("cluster", [SPARK, SWITCHED])
def test_both_readers_leave_the_same(made: Session, cluster: str, table: str) -> None:
    found, expected = (
        sorted(
            repr(row)
            for row in rows(
                made, f"select * exclude ({TABLES[table]}) from {table} where cluster_id = '{name}'"
            )
        )
        for name in (cluster, EMBEDDED)
    )
    assert found == expected
    assert expected
