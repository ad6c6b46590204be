"""Syncs that have stopped though the source moves are told by the mart, `status` and `doctor`."""

from __future__ import annotations

import json
from pathlib import Path

from spark_support import ROOT, mart

from moldau.reading.health.doctor import examine
from moldau.reading.health.status import read_status
from moldau.reading.health.stopped_syncs import stopped_words
from moldau.runs.load import load
from moldau.runs.opening import open_session
from moldau.settings import load_settings

SYNCS = ROOT / "samples" / "mirrors" / "syncs.1.jsonl"  # the last one is 999 -> 999
SYNCED_MS = 1_756_728_000_999
CONFIG = """flows:
  plain: {source: east, target: west, topics: orders}
  wide: {source: east, target: west, topics: orders, offset.lag.max: 5000}
"""


def test_who_stands_still_is_named(tmp_path: Path) -> None:
    (tmp_path / "moldau.yml").write_text(CONFIG)
    settings = load_settings(tmp_path / "moldau.yml", tmp_path / "warehouse")
    with open_session(settings, "pytest") as session:
        load(session, [SYNCS], "east", "records")

        def at(end: int, minutes: int) -> list[str | None]:
            file = tmp_path / "states.jsonl"
            state = {
                "topic": "orders", "partition": 0, "broker_id": 1, "is_leader": True,
                "log_start_offset": 0, "high_watermark": end, "log_end_offset": end,
                "taken_at_ms": SYNCED_MS + minutes * 60_000,
            }  # fmt: skip
            file.write_text(json.dumps(state) + "\n")
            load(session, [file], "east", "partition_states")
            return [row["finding"] for row in mart(session, "mirror_sync_age")]

        assert at(1100, 60) == [None, None]
        assert read_status(session.warehouse).stopped_syncs == []
        assert at(1101, 9) == [None, None]
        assert at(1101, 11) == ["SYNCS_STOPPED", None]
        [words] = stopped_words(read_status(session.warehouse).stopped_syncs)
        assert words.startswith(
            "orders-0 of plain: no offset sync since 2025-09-01T12:00:00Z, and the source was 101 "
            "offsets further at 2025-09-01T12:11:00Z (offset.lag.max is 100)"
        )
        told = [one.message for one in examine(session.warehouse) if one.check == "mirror_syncs"]
        assert told == [words]
