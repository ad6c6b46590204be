"""A real broker read into folded state: records a second, beside `dump` and `load` of the same.

    python benchmarks/ingest.py [--records 1000000] [--groups 10000]

One Kafka of the tests' own, whose `__consumer_offsets` has commits of this many groups. Then a poll
that brings nothing, and how long a commit takes to be a visible row where polls follow each other.
"""

from __future__ import annotations

import argparse
import contextlib
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

from confluent_kafka import KafkaException, Producer
from measure import scratch

sys.path.append(str(Path(__file__).parents[1] / "tests" / "python"))
from broker_support import Broker, running_broker
from certificate_support import make_certificate
from encode import encode_key, encode_value
from groups_support import TOPIC, Groups

from moldau.dumping.client_settings import client_settings
from moldau.dumping.dump import dump
from moldau.dumping.source import LibrdkafkaSource, connected
from moldau.reading.tables.query import query
from moldau.runs.ingest import ingest, topics_of
from moldau.runs.load import load
from moldau.runs.opening import open_session
from moldau.sessions.session import Session
from moldau.settings import load_settings

FAMILY, OFFSETS = "consumer_offsets", "__consumer_offsets"
PARTITIONS = 5  # of __consumer_offsets on that broker
AT_MS = 1_800_000_000_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--groups", type=int, default=10_000)
    asked = parser.parse_args()
    with (
        scratch() as folder,
        running_broker(folder, make_certificate(folder)) as broker,
        open_session(load_settings(None, folder / "w"), "benchmark") as session,
    ):
        groups = Groups(broker.plaintext)
        groups.create(TOPIC)
        groups.commit("the-first", p0=1)  # makes the topic of the groups
        source = connected(client_settings(broker.plaintext, None), 20, print)
        poll(session, source, "before")  # what a first run imports and translates is no part of it
        fill(broker, asked.records, asked.groups)
        print("| | seconds | records a second |\n|---|---|---|")
        _tell("ingest", asked.records, lambda: poll(session, source))
        _tell("dump + load", asked.records, lambda: by_file(session, broker, folder))
        idle = [_seconds(lambda: poll(session, source)) for _ in range(5)]
        print(f"| a poll that brings nothing | {statistics.median(idle):.2f} | |")
        fresh = [freshness(session, source, broker, number) for number in range(20)]
        print(f"| commit to visible row, median of 20 | {statistics.median(fresh):.2f} | |")


def fill(broker: Broker, records: int, groups: int) -> None:
    """Commits as a coordinator writes them; clients of this name may write internal topics."""
    config = {"bootstrap.servers": broker.plaintext, "client.id": "__admin_client"}
    producer = Producer({**config, "queue.buffering.max.messages": 2_000_000, "linger.ms": 50})
    keys = [
        encode_key(FAMILY, 1, {"group": f"group-{number}", "topic": TOPIC, "partition": 0})
        for number in range(groups)
    ]
    for number in range(records):
        group = number % groups
        value = encode_value(FAMILY, 1, 3, {"offset": number, "commitTimestamp": AT_MS})
        producer.produce(OFFSETS, key=keys[group], value=value, partition=group % PARTITIONS)
        if number % 10_000 == 0:
            producer.poll(0)
    assert producer.flush(120) == 0


def poll(session: Session, source: LibrdkafkaSource, cluster: str = "live") -> None:
    list(ingest(session, cluster, source, topics_of(source, [OFFSETS]), print))


def by_file(session: Session, broker: Broker, folder: Path) -> None:
    file = folder / "offsets.parquet"
    dump(client_settings(broker.plaintext, None), OFFSETS, file, 20, print, lambda *_: None)
    load(session, [file], "dumped", "records")


def freshness(session: Session, source: LibrdkafkaSource, broker: Broker, number: int) -> float:
    group = f"fresh-{number}"
    while True:  # the coordinator may still take in what was written behind its back
        began = time.perf_counter()
        with contextlib.suppress(KafkaException):
            Groups(broker.plaintext).commit(group, p0=1)
            break
    sql = f"select 1 from state.groups where cluster_id = 'live' and group_id = '{group}'"
    while not list(query(session.warehouse, sql).rows):
        poll(session, source)
    return time.perf_counter() - began


def _tell(what: str, records: int, work: Callable[[], None]) -> None:
    seconds = _seconds(work)
    print(f"| {what} | {seconds:.1f} | {records / seconds:,.0f} |", flush=True)


def _seconds(work: Callable[[], None]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
