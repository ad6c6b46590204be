"""Whoever waits for a run hears what it is about, stage by stage."""

from __future__ import annotations

import dataclasses
import json
from base64 import b64encode
from pathlib import Path

from log_support import Log

from moldau.runs.decide import decide
from moldau.runs.load import load
from moldau.sessions.session import Session

T = 1_795_000_000_000


def test_a_session_tells_the_stages_of_its_runs(session: Session, tmp_path: Path) -> None:
    heard: list[tuple[str, int | None]] = []
    told = dataclasses.replace(session, tell=lambda *it: heard.append(it))
    log = Log()
    log.commit("told-of", "orders", at_ms=T)
    [record] = log.records
    assert record.key and record.value
    file = tmp_path / "records.jsonl"
    file.write_text(json.dumps({
        "topic": "__consumer_offsets", "partition": 0, "offset": 0, "timestamp_ms": T,
        "key_base64": b64encode(record.key).decode(),
        "value_base64": b64encode(record.value).decode(), "headers": [],
    }))  # fmt: skip
    load(told, [file], "told-of-stages", "records")
    assert heard == [("read", None), ("read", 1), ("bring", 1), ("fold", 1), ("close", 1)]
    heard.clear()
    run = decide(told, "sweep", ["told-of-stages"], T, False)
    assert [stage for stage, _ in heard] == ["fold", "call", "decide", "apply", "close"]
    assert heard[-1] == ("close", run.counts["decided"]) and run.counts["decided"]
