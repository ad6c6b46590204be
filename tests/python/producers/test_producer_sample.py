"""A real broker's request log, and what is made of it."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from producer_support import load_lines, rounds_of, topics_of

from moldau.project import SAMPLES
from moldau.runs.decide import decide
from moldau.runs.load import load
from moldau.sessions.session import Session
from moldau.settings import load_settings

FOLDER = SAMPLES / "producers"
EVENTS = FOLDER / "producer_events.jsonl"


def test_the_events_are_those_of_the_log() -> None:
    log = gzip.decompress((FOLDER / "kafka-request.log.gz").read_bytes())
    made = subprocess.run(
        [sys.executable, str(FOLDER / "events_of_request_log.py")],
        input=log, capture_output=True, check=True,
    )  # fmt: skip
    assert made.stdout.decode() == EVENTS.read_text()


def events_of(*requests: tuple[str, dict[str, Any], Any]) -> list[tuple[Any, ...]]:
    """What is made of requests, each its API, and what the log has of it and its response."""
    log = ""
    for api, request, response in requests:
        header = {"clientId": "c", "requestApiKeyName": api}
        told = {"requestHeader": header, "request": request, "response": response}
        line = json.dumps(told | {"totalTimeMs": 5.0})
        log += f"[2026-11-27 09:13:01,200] DEBUG Completed request:{line} (kafka.request.logger)\n"
    made = subprocess.run(
        [sys.executable, str(FOLDER / "events_of_request_log.py")],
        input=log, capture_output=True, check=True, text=True,
    )  # fmt: skip
    lines = [json.loads(line) for line in made.stdout.splitlines()]
    return [(line["event"], line["topic"]) for line in lines]


@pytest.mark.parametrize("response", ["", None])
def test_a_produce_request_without_a_response_is_an_access(response: str | None) -> None:
    """acks=0."""
    assert events_of(("PRODUCE", {"topicData": [{"name": "x"}]}, response)) == [("access", "x")]


def test_answers_of_any_version_name_their_topics() -> None:
    """Ids came with version 10; an id that is unknown is answered without a name."""
    known = {"errorCode": 0, "name": "x", "topicId": "one"}
    unknown = {"errorCode": 100, "name": None, "topicId": "one"}
    before = {"errorCode": 0, "name": "y"}
    found = events_of(
        ("METADATA", {}, {"topics": [known, before]}),
        ("METADATA", {}, {"topics": [unknown]}),
        ("PRODUCE", {"topicData": [{"topicId": "one"}]}, {"responses": []}),
    )
    assert sorted(found) == [
        ("access", "x"), ("refreshed", "x"), ("refreshed", "y"), ("requested", "x"),
        ("requested", "x"), ("requested", "y"), ("topic_error", "x"),
    ]  # fmt: skip


@pytest.fixture(scope="module")
def logged(session: Session) -> Session:
    settings = load_settings(FOLDER / "moldau.yml", session.warehouse)
    ours = Session(settings, session.warehouse, session.engines)
    told = load(ours, [EVENTS], "producers logged", "producer_events")
    assert told.refused == []
    # other tests have the same producers in clusters of their own
    assert all("have the name of one of another cluster" in note for note in told.notes)
    return ours


def test_state_is_what_the_log_says_last(logged: Session) -> None:
    lines = [json.loads(line) for line in EVENTS.read_text().splitlines()]
    last: dict[tuple[str, str, str], int] = {}
    for line in lines:
        key = (line["producer_id"], line["topic"], line["event"])
        last[key] = max(last.get(key, 0), line["at_ms"])
    found = topics_of(logged, "producers logged")
    assert {(name, topic) for name, topics in found.items() for topic in topics} == {
        key[:2] for key in last
    }
    for name, topics in found.items():
        for topic, row in topics.items():
            assert row["last_access_at_ms"] == last[name, topic, "access"]
            assert row["last_refresh_at_ms"] == last[name, topic, "refreshed"]
            assert row["notified_at_ms"] is None, "NOT_LEADER_OR_FOLLOWER was answered"


@pytest.mark.parametrize("producer", ["checkout", "reports"])
def test_the_first_whole_refresh_is_that_of_kafka(logged: Session, producer: str) -> None:
    """When the oldest topic is 10 s old, of all topics but those that were idle for 8 s by then."""
    lines = [json.loads(line) for line in EVENTS.read_text().splitlines()]
    requests: dict[int, set[str]] = {}
    for line in lines:
        if (line["producer_id"], line["event"]) == (producer, "requested"):
            requests.setdefault(line["at_ms"], set()).add(line["topic"])
    at_ms, asked = next((at, topics) for at, topics in requests.items() if len(topics) > 1)
    cluster = f"producers logged until {producer}"
    earlier = [line for line in lines if line["at_ms"] < at_ms and line["producer_id"] == producer]
    load_lines(logged, cluster, "producer_events", earlier)
    [oldest] = [
        min(row["last_refresh_at_ms"] for row in topics.values())
        for topics in topics_of(logged, cluster).values()
    ]
    assert 10_000 <= at_ms - oldest < 10_050
    decide(logged, "metadata", [cluster], oldest + 9_999, is_dry_run=True)
    assert rounds_of(logged, cluster)[producer].reason == "NOTHING_DUE"
    decide(logged, "metadata", [cluster], at_ms, is_dry_run=True)
    decided = rounds_of(logged, cluster)[producer].decisions
    assert {topic for topic, decision in decided.items() if decision == "fetch"} == asked
    assert set(decided.values()) <= {"fetch", "evict"}


def test_the_verbs_of_the_sample_are_fit_to_run(tmp_path: Path) -> None:
    program = "from moldau.cli import main; main()"
    command = ["exec", str(FOLDER / "verbs.txt"), "--config", str(FOLDER / "moldau.yml")]
    told = subprocess.run(
        [sys.executable, "-c", program, *command, "--warehouse", str(tmp_path / "warehouse")],
        capture_output=True, text=True, check=False, cwd=SAMPLES.parent, timeout=300,
    )  # fmt: skip
    codes = [json.loads(line)["exit_code"] for line in told.stdout.splitlines()]
    assert codes == [0, 0, 0, 0], told.stderr
