"""Records a second on one core: the column-wise decoder against one that reads row by row.

    python benchmarks/decode.py [--rows N] [--batch N] [--runs N]

Two mixes: offset commits as brokers from 4.1 on write them (value version 4 with a topic id), and
the captured records of streams groups (types 17 and 19 to 23), over and over. The column-wise
decoder makes the flat columns of ``moldau.records.flat``; its peer, the reference
decoder of the tests, only makes Python dicts.
"""

from __future__ import annotations

import argparse
import base64
import json
import platform
import random
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy
import pyarrow as pa

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests" / "python"), str(ROOT / "tests" / "python" / "records")]

from decoded_support import group_records  # noqa: E402
from encode import encode_key, encode_value  # noqa: E402
from row_decoder import decode_row  # noqa: E402

CAPTURES = ROOT / "tests" / "fixtures" / "captures"
STREAMS_TYPES = (17, 19, 20, 21, 22, 23)
FAMILY = "consumer_offsets"
DISTINCT = 20_000
Records = tuple[list[bytes], list[bytes]]


def offset_commits() -> Records:
    rng = random.Random(1)
    ids = [rng.randbytes(16) for _ in range(300)]
    keys, values = [], []
    for i in range(DISTINCT):
        topic = rng.randrange(300)
        key = {"group": f"group-{i % 5000:05d}", "topic": f"topic.{topic}", "partition": i % 50}
        keys.append(encode_key(FAMILY, 1, key) or b"")
        value = {
            "offset": i * 1000,
            "leaderEpoch": 7,
            "metadata": "",
            "commitTimestamp": 1_700_000_000_000 + i,
            "topicId": ids[topic],
        }
        values.append(encode_value(FAMILY, 1, 4, value))
    return keys, values


def streams_records() -> Records:
    """Those of the captures: every record with a value of types 17 and 19 to 23, in their order."""
    keys, values = [], []
    for path in sorted(CAPTURES.rglob("*__consumer_offsets.jsonl")):
        for line in path.read_text().splitlines():
            record = json.loads(line)
            key = base64.b64decode(record["key_base64"])
            if record["value_base64"] and int.from_bytes(key[:2]) in STREAMS_TYPES:
                keys.append(key)
                values.append(base64.b64decode(record["value_base64"]))
    return keys, values


def columns(records: Records, rows: int) -> tuple[pa.Array, pa.Array]:
    keys, values = records
    times = -(-rows // len(keys))
    return pa.array((keys * times)[:rows], pa.binary()), pa.array(
        (values * times)[:rows], pa.binary()
    )


def column_wise(keys: pa.Array, values: pa.Array, batch: int) -> None:
    for start in range(0, len(keys), batch):
        group_records(keys.slice(start, batch), values.slice(start, batch))


def row_wise(keys: pa.Array, values: pa.Array) -> None:
    for key, value in zip(keys.to_pylist(), values.to_pylist(), strict=True):
        decode_row(FAMILY, key, value)


def rate(rows: int, runs: int, work: Callable[[], None]) -> float:
    """Records a second: the median of the runs."""
    seconds = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return rows / statistics.median(seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--batch", type=int, default=10_000, help="records in one Arrow batch")
    parser.add_argument("--runs", type=int, default=3)
    args = parser.parse_args()
    versions = (
        f"Python {platform.python_version()}, numpy {numpy.__version__}, pyarrow {pa.__version__}"
    )
    print(f"{platform.machine()}, {cpu_name()}, {versions}")
    print(f"batches of {args.batch:,} records, median of {args.runs} runs, one core")
    print(f"{'records':<16}{'rows':>10}{'column-wise/s':>16}{'row-wise/s':>13}{'ratio':>8}")
    pa.set_cpu_count(1)
    for name, make in (("offset commits", offset_commits), ("streams groups", streams_records)):
        records = make()
        keys, values = columns(records, args.rows)
        peer_rows = max(1, min(args.rows, DISTINCT))
        peer = columns(records, peer_rows)
        column_wise(keys.slice(0, args.batch), values.slice(0, args.batch), args.batch)
        fast = rate(args.rows, args.runs, lambda k=keys, v=values: column_wise(k, v, args.batch))
        slow = rate(peer_rows, args.runs, lambda p=peer: row_wise(*p))
        print(f"{name:<16}{args.rows:>10,}{fast:>16,.0f}{slow:>13,.0f}{fast / slow:>8.1f}")


def cpu_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((x.partition(":")[2].strip() for x in lines if x.startswith("model name")), "?")


if __name__ == "__main__":
    main()
