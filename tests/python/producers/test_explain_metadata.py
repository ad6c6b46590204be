"""`moldau explain metadata` says which clause decided, of what age, and when that changes."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner
from metadata_reference import Producer, Topic
from producer_support import Event, decide_rounds, load_events, with_producers

from moldau.cli import moldau
from moldau.errors import MoldauError
from moldau.reading.explain_metadata import explain_metadata
from moldau.reading.explain_metadata_words import metadata_in_words
from moldau.runs.decide import decide
from moldau.sessions.session import Session

NOW_MS = 1_770_000_000_000  # 2026-02-02T02:40:00Z
CLUSTER, ID = "producers explained", "check out"
TOPICS = {
    "stale": Topic(NOW_MS, NOW_MS - 300_000),
    "aging": Topic(NOW_MS - 1_000, NOW_MS - 200_000),
    "fresh": Topic(NOW_MS - 250_000, NOW_MS - 90_000),
    "idle": Topic(NOW_MS - 300_000, NOW_MS - 10),
    "new": Topic(NOW_MS, None, True),
    "told": Topic(NOW_MS, NOW_MS, False, NOW_MS - 7),
}


@pytest.fixture(scope="module")
def decided(session: Session) -> Session:
    ours = with_producers(session, {})
    held = Producer({"x": Topic(NOW_MS, None, True)}, failed_at=NOW_MS - 40)
    few = Producer({f"a{n}": Topic(NOW_MS, NOW_MS - 200_000) for n in range(3)})
    skewed = Producer({"y": Topic(NOW_MS + 50, NOW_MS - 10)})
    producers = {ID: Producer(TOPICS), "held": held, "few": few, "skewed": skewed}
    decide_rounds(ours, CLUSTER, producers, NOW_MS)
    return ours


def words(session: Session, text: str) -> list[str]:
    found = explain_metadata(session.warehouse, text, CLUSTER)
    assert found is not None
    return list(metadata_in_words(found))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("metadata check out stale", [
            "fetch (STALE, T3, urgent): The metadata is as old as metadata.max.age.ms",
            "refreshed 300000 ms before, accessed 0 ms before",
            "round: FETCH: 4 topics cached, target 20, 3 urgent, 1 not urgent, 4 fetched, 1 forg",
            "place in the request: 2",
            "next: 2026-02-02T02:45:00Z, when the topic has been idle for as long as it may be",
        ]),
        ("metadata check out aging", [
            "fetch (FILL, U, by rule F1)", "place in the request: 4",
            "next: 2026-02-02T02:41:40Z, when the metadata is as old as it may be: urgent",
        ]),
        ("metadata check out fresh", [
            "keep (FRESH): The metadata is less than half as old as it may be",
            "next: 2026-02-02T02:40:50Z, when the topic has been idle",
        ]),
        ("metadata check out idle", ["evict (IDLE)", "time alone changes nothing"]),
        ("metadata check out new", [
            "fetch (NEW, T1, urgent)", "nothing is cached, accessed 0 ms before, somebody waits",
            "time alone changes nothing",
        ]),
        ("metadata check out told", [
            "fetch (NOTIFIED, T2, urgent)", "told at 2026-02-02T02:39:59",
        ]),
        ("metadata skewed y", [
            "refreshed 10 ms before, accessed 50 ms after the instant decided for",
        ]),
        ("metadata held x", [
            "keep (BACKING_OFF): The topic is due, but the last request failed less than",
            "next: 2026-02-02T02:40:00.060Z, when the back-off ends",
        ]),
        ("metadata few a1", [
            "keep (NOT_DUE): The topic is due soon, and fewer topics are than make a batch",
            "3 not urgent, 0 fetched",
        ]),
        ("round few", ["wait (NOTHING_DUE)", "keep (NOT_DUE): 3 topics"]),
        ("metadata check out", ["fetch (FETCH)", "limits: metadata.evict.ms = 300000"]),
    ],
)  # fmt: skip
def test_the_clause_the_ages_and_what_comes_next(
    decided: Session, text: str, told: list[str]
) -> None:
    lines = words(decided, text)
    for part in told:
        assert any(part in line for line in lines), (part, lines)
    assert lines[0].endswith(f", in cluster {CLUSTER}")


def test_json_has_what_the_words_say(decided: Session) -> None:
    command = ["explain", "metadata", "check", "out", "stale", "--cluster", CLUSTER]
    options = ["--warehouse", str(decided.warehouse), "--format", "json"]
    told = CliRunner().invoke(moldau, [*command, *options])
    assert told.exit_code == 0, told.output
    [row] = json.loads(told.output)
    assert {name: row[name] for name in ("decision", "reason_code", "topic_set", "fetch_rank")} == {
        "decision": "fetch", "reason_code": "STALE", "topic_set": "T", "fetch_rank": 2,
    }  # fmt: skip
    assert (row["refresh_age_ms"], row["next_change_at_ms"]) == (300_000, NOW_MS + 300_000)


def test_what_changed_since_is_told(decided: Session) -> None:
    cluster = "producers explained later"
    decide_rounds(decided, cluster, {"later": Producer({"x": Topic(NOW_MS, NOW_MS)})}, NOW_MS)
    load_events(decided, cluster, [Event("later", "access", NOW_MS + 1, "x")])
    found = explain_metadata(decided.warehouse, "metadata later x", cluster)
    assert found is not None and found.next_change_at_ms is None
    assert any("the next run decides anew" in line for line in metadata_in_words(found))
    decide(decided, "metadata", [cluster], NOW_MS + 2, is_dry_run=True)
    again = explain_metadata(decided.warehouse, "metadata later x", cluster)
    assert again is not None and again.next_change_at_ms == NOW_MS + 150_000


def test_nothing_is_known_of_others(decided: Session) -> None:
    with pytest.raises(MoldauError, match="nothing is decided about 'metadata few zz': did you"):
        explain_metadata(decided.warehouse, "metadata few zz", None)
    with pytest.raises(MoldauError, match="`moldau metadata` decides"):
        explain_metadata(decided.warehouse, "metadata nobody x", None)
    assert explain_metadata(decided.warehouse, "cleanup app", None) is None
