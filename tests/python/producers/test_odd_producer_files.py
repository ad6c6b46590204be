"""What is wrong or odd in files of producers: a clear line each, and the rest is loaded."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest
from producer_support import Event, load_events, load_lines, topics_of, with_producers

from moldau.runs.load import load
from moldau.sessions.session import Session

ROW = {"producer_id": "o1", "topic": "x", "last_access_at_ms": 5, "last_refresh_at_ms": 3,
       "has_demand": False, "notified_at_ms": None}  # fmt: skip
GOOD = {"producer_id": "o1", "topic": "x", "event": "access", "at_ms": 7}


BAD = [
    ({"event": "acces"}, 'event is "acces", not one of access, demand, .*did you mean access?'),
    ({"event": None}, "event is null"),
    ({"topic": None}, "topic is null"),
    ({"topic": ""}, "topic is empty"),
    ({"at_ms": -1}, "at_ms is -1, less than 0"),
    ({"at_ms": 1.5}, "at_ms is 1.5, not a whole number"),
    ({"producer_id": 3}, "producer_id is 3, not a string"),
]


@pytest.mark.parametrize("number", range(len(BAD)))
def test_a_bad_event_is_named_and_the_rest_loaded(session: Session, number: int) -> None:
    changed, reason = BAD[number]
    cluster = f"producers odd {number}"
    good = GOOD | {"producer_id": cluster}
    bad: dict[str, Any] = {**good, **changed}
    told = load_lines(with_producers(session, {}), cluster, "producer_events", [bad, good])
    assert told.rows_new == 1
    [refusal] = told.refused
    assert refusal.line == 1
    assert re.search(reason, refusal.reason)
    assert set(topics_of(session, cluster)[cluster]) == {"x"}


def test_a_producer_as_a_whole_needs_no_topic(session: Session) -> None:
    mine = GOOD | {"producer_id": "whole"}
    lines = [mine | {"event": kind, "topic": None} for kind in ("requested", "request_failed")]
    lines.append({"producer_id": "whole", "event": "closed", "at_ms": 8})
    told = load_lines(with_producers(session, {}), "producers whole", "producer_events", lines)
    assert (told.rows_new, told.refused, told.notes) == (3, [], [])


def test_times_that_run_back_are_told(session: Session) -> None:
    events = [Event("b1", "access", at, "x") for at in (5, 9, 7, 8, 10)]
    events.insert(2, Event("b2", "access", 1, "x"))
    told = load_events(with_producers(session, {}), "producers back", events)
    assert (told.rows_new, told.refused) == (6, [])
    [note] = told.notes
    assert "at_ms runs back on 2 lines" in note and ":4, b1" in note
    assert topics_of(session, "producers back")["b1"]["x"]["last_access_at_ms"] == 10


def test_a_refresh_later_than_the_snapshot_is_told(session: Session) -> None:
    mine = ROW | {"producer_id": "ahead"}
    lines = [mine | {"taken_at_ms": 10, "last_refresh_at_ms": 11}, mine | {"topic": "y"}]
    told = load_lines(with_producers(session, {}), "producers ahead", "producer_topics", lines)
    assert (told.rows_new, told.refused) == (2, [])
    [note] = told.notes
    assert note.startswith(
        "1 of the topics were refreshed after the snapshot was taken (x of ahead"
    )


def test_one_name_on_two_clusters_is_told(session: Session) -> None:
    ours = with_producers(session, {})
    lines = [ROW | {"producer_id": "twin"}]
    assert load_lines(ours, "producers left", "producer_topics", lines).notes == []
    [note] = load_lines(ours, "producers right", "producer_topics", lines).notes
    assert "(twin is also of producers left)" in note
    assert {"twin"} == set(topics_of(session, "producers left"))
    [note] = load_events(ours, "producers third", [Event("twin", "access", 1, "x")]).notes
    assert note.startswith("1 of the producers have the name of one of another cluster")


def test_a_snapshot_with_a_bad_line_is_refused_as_a_whole(session: Session) -> None:
    ours = with_producers(session, {})
    bad = {name: value for name, value in ROW.items() if name != "last_refresh_at_ms"}
    told = load_lines(ours, "producers bad", "producer_topics", [ROW, bad])
    assert told.rows_new == 0
    assert [refusal.reason for refusal in told.refused] == ["last_refresh_at_ms is missing"]
    [note] = told.notes
    assert note.startswith("nothing of ") and "producer_topics is a snapshot" in note
    assert topics_of(session, "producers bad") == {}


@pytest.mark.parametrize("ending", ["parquet", "jsonl.gz"])
def test_events_come_as_other_files_too(session: Session, tmp_path: Path, ending: str) -> None:
    file = tmp_path / f"events.{ending}"
    lines = [GOOD, GOOD | {"event": "closed", "topic": None, "at_ms": 9}, GOOD | {"event": "?"}]
    if ending == "parquet":
        pyarrow.parquet.write_table(pa.Table.from_pylist(lines), file)
    else:
        file.write_bytes(gzip.compress("".join(json.dumps(one) + "\n" for one in lines).encode()))
    told = load(with_producers(session, {}), [file], f"producers in {ending}", "producer_events")
    assert (told.rows_new, [refusal.line for refusal in told.refused]) == (2, [3])


def test_names_of_any_kind_are_kept(session: Session) -> None:
    names = ["a b", "it's", 'say "hi"', "back\\slash", "émoji 🦆", "x" * 20_000]
    events = [Event(name, "access", 5, "t") for name in names]
    load_events(with_producers(session, {}), "producers of any name", events)
    assert set(topics_of(session, "producers of any name")) == set(names)
