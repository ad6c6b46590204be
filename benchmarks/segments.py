"""Megabytes a second and core, from segments of a log to Arrow, by codec.

    python benchmarks/segments.py [--records N] [--runs N]

A broker of its own writes offset commits (value version 4) with each codec. Time is that of this
process's CPU, over the bytes of the batches when they are unpacked. Beside it, of the same
partition: what `moldau dump` takes to bring the records, and what reading that file takes.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "tests" / "python"))
sys.path.append(str(Path(__file__).parents[1] / "tests" / "python" / "records"))

from broker_support import running_broker
from certificate_support import make_certificate
from confluent_kafka import Producer
from decode import offset_commits
from groups_support import Groups
from measure import scratch

from moldau.dumping.client_settings import client_settings
from moldau.dumping.dump import dump
from moldau.loading.inputs import inputs
from moldau.loading.shapes import RECORDS
from moldau.loading.sources import sources
from moldau.settings.limits import Limits

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
MB = 1_000_000


def produce(address: str, topic: str, codec: str, records: int) -> None:
    """In batches of a hundred records and more, as a busy coordinator writes them."""
    producer = Producer(
        {
            "bootstrap.servers": address, "compression.type": codec, "linger.ms": 50,
            "batch.num.messages": 200, "queue.buffering.max.messages": 2_000_000,
        }
    )  # fmt: skip
    keys, values = offset_commits()
    for number in range(records):
        at = number % len(keys)
        while True:
            try:
                producer.produce(topic, key=keys[at], value=values[at])
                break
            except BufferError:
                producer.poll(0.1)
    assert producer.flush(120) == 0


def read(*words: Path) -> int:
    rows = 0
    for _, chunks in sources(inputs(words, print), RECORDS, Limits(), print):
        for table, refused in chunks:
            assert not refused
            rows += table.num_rows
    return rows


def seconds(runs: int, work: Callable[[], object], clock: Callable[[], float]) -> float:
    found = []
    for _ in range(runs):
        begin = clock()
        work()
        found.append(clock() - begin)
    return statistics.median(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, add_help=True)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=5)
    asked = parser.parse_args()
    with scratch() as folder:
        for name in ("certificate", "broker", "copies"):
            (folder / name).mkdir()
        certificate = make_certificate(folder / "certificate")
        with running_broker(folder / "broker", certificate) as broker:
            Groups(broker.plaintext).create("orders")
            Groups(broker.plaintext).commit("somebody", p0=1)  # `dump` makes no topic of groups
            plain_bytes = 0
            for codec in CODECS:
                topic = f"commits-{codec}"
                Groups(broker.plaintext).create(topic)
                produce(broker.plaintext, topic, codec, asked.records)
                copy = folder / "copies" / f"{topic}-0"
                shutil.copytree(broker.folder / "data" / f"{topic}-0", copy)
                stored = sum(file.stat().st_size for file in copy.glob("*.log"))
                plain_bytes = plain_bytes or stored
                assert read(copy) == asked.records
                spent = seconds(asked.runs, partial(read, copy), time.process_time)
                speed, rate = plain_bytes / spent / MB, asked.records / spent / 1_000
                print(
                    f"{codec:7} {stored / MB:7.1f} MB stored: {speed:6.0f} MB/s, "
                    f"{rate:6.0f} thousand records/s"
                )
            target = folder / "dumped.jsonl.gz"
            reached = client_settings(broker.plaintext, None)

            def bring() -> None:
                target.unlink(missing_ok=True)
                dump(reached, "commits-none", target, 60, print, lambda *_: None)

            dumped = seconds(1, bring, time.perf_counter)
            loaded = seconds(1, lambda: read(target), time.process_time)
            taking, reading, both = (
                plain_bytes / spent / MB for spent in (dumped, loaded, dumped + loaded)
            )
            print(
                f"dump    {taking:6.1f} MB/s (elapsed), reading its file {reading:6.1f} MB/s; "
                f"both {both:6.1f} MB/s"
            )


if __name__ == "__main__":
    main()
