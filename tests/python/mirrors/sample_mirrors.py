"""The files of samples/mirrors: KAFKA-15905's example, as the clusters would have recorded it.

`python tests/python/mirrors/sample_mirrors.py` writes them anew (with tests/python/mirrors on
PYTHONPATH): 1000 records are mirrored, the checkpoint task is restarted, 1000
more are.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from encode import encode_key, encode_value
from mirror_maker import OffsetSyncWriter

from moldau.project import SAMPLES
from moldau.records import families

FOLDER = SAMPLES / "mirrors"
LAG_MAX = 100  # MirrorMaker's default
RECORDS = 1000  # of each of the two lives
START_MS = 1_756_728_000_000  # 2025-09-01T12:00:00Z
HOUR_MS = 3_600_000
FLOWS = ("without-fix", "with-fix")  # whose answers depend on when a task started
READERS = ((500, 750, 1000), (1250, 1500, 1750, 2000))
"""Where groups stand, the next record that each reads: those of the first life, and the later."""


def synced() -> list[list[int]]:
    """Records with a sync, in each life of the checkpoint task: the task that mirrors goes on."""
    lives, writer = [], OffsetSyncWriter(LAG_MAX)
    for first in (0, RECORDS):
        written: list[int] = []
        for record in range(first, first + RECORDS):
            writer.queue("orders-0", record, record)
            written += send(writer)
        writer.promote()
        lives.append(written + send(writer))
    return lives


def send(writer: OffsetSyncWriter) -> list[int]:
    sent = [upstream for _, upstream, _ in writer.fire()]
    writer.acknowledge(len(sent))
    return sent


def files() -> dict[str, str]:
    """Every file's content by its name."""
    lives = synced()
    ends = [0, len(lives[0])]
    found = {}
    for life, (syncs, readers) in enumerate(zip(lives, READERS, strict=True), start=1):
        at_ms = START_MS + (life - 1) * HOUR_MS
        found[f"syncs.{life}.jsonl"] = lines(sync_records(syncs, ends[life - 1], at_ms))
        first = len(READERS[0]) * (life - 1)
        found[f"commits.{life}.jsonl"] = lines(commits(readers, first, at_ms + HOUR_MS // 2))
        found[f"task_starts.{life}.jsonl"] = lines(
            {
                "flow": flow,
                "started_at_ms": at_ms,
                "syncs_end_offset": ends[life - 1],
                "checkpoints_readable": True,
            }
            for flow in FLOWS
        )
    return found


def sync_records(upstream: list[int], first: int, at_ms: int) -> Iterator[dict[str, Any]]:
    for position, offset in enumerate(upstream, first):
        key = encode_key(families.OFFSET_SYNCS, None, {"topic": "orders", "partition": 0})
        offsets = {"upstreamOffset": offset, "downstreamOffset": offset}
        value = encode_value(families.OFFSET_SYNCS, None, 0, offsets)
        yield record("mm2-offset-syncs.west.internal", position, at_ms + offset, key, value)


def commits(offsets: tuple[int, ...], first: int, at_ms: int) -> Iterator[dict[str, Any]]:
    for position, offset in enumerate(offsets, first):
        names = {"group": f"at-{offset}", "topic": "orders", "partition": 0}
        committed = {"offset": offset, "commitTimestamp": at_ms}
        yield record(
            "__consumer_offsets",
            position,
            at_ms,
            encode_key(families.CONSUMER_OFFSETS, 1, names),
            encode_value(families.CONSUMER_OFFSETS, 1, 3, committed),
        )


def record(topic: str, offset: int, at_ms: int, key: bytes | None, value: bytes) -> dict[str, Any]:
    assert key is not None
    return {
        "topic": topic,
        "partition": 0,
        "offset": offset,
        "timestamp_ms": at_ms,
        "timestamp_type": "CreateTime",
        "key_base64": base64.b64encode(key).decode(),
        "value_base64": base64.b64encode(value).decode(),
        "headers": [],
    }


def lines(rows: Any) -> str:
    return "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows)


def write(folder: Path = FOLDER) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files().items():
        (folder / name).write_text(content)


if __name__ == "__main__":
    write()
