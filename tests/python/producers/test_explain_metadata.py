"""`moldau explain metadata` says which clause decided, of what age, and when that changes."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from click.testing import CliRunner
from metadata_reference import RULE_SETS, Producer, Round, Rules, Topic, decide_round
from producer_support import Event, decide_rounds, load_events, with_producers
from random_producers import random_producer, random_rules

from moldau.cli import moldau
from moldau.errors import MoldauError
from moldau.reading.explain.producers import explain_metadata
from moldau.reading.explain.producers_changes import Change
from moldau.reading.explain.producers_words import metadata_in_words
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
            "next: 2026-02-02T02:45:00Z, then evict (IDLE): The topic was not accessed for so long",
        ]),
        ("metadata check out aging", [
            "fetch (FILL, U, by rule F1)", "place in the request: 4",
            "next: 2026-02-02T02:41:40Z, then fetch (STALE): The metadata is as old as metadata",
        ]),
        ("metadata check out fresh", [
            "keep (FRESH): The metadata is not so old that anything asks for it",
            "next: 2026-02-02T02:40:50Z, then evict (IDLE)",
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
            "next: 2026-02-02T02:40:00.060Z, then fetch (NEW)",
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
    assert found is not None and found.next_change is None
    assert any("the next run decides anew" in line for line in metadata_in_words(found))
    decide(decided, "metadata", [cluster], NOW_MS + 2, is_dry_run=True)
    again = explain_metadata(decided.warehouse, "metadata later x", cluster)
    assert again is not None and again.next_change is not None
    assert again.next_change == Change(
        NOW_MS + 150_000, {"decision": "keep", "reason_code": "NOT_DUE"}
    )


def test_the_largest_limits_are_never_reached(session: Session) -> None:
    cluster, largest = "producers for ever", 2**63 - 1
    limits = {"evict_ms": largest, "idle_ms": largest, "max_age_ms": largest, "is_strict": True}
    one = Producer({"x": Topic(NOW_MS, NOW_MS)})
    ours = with_producers(session, {rules.ruleset: replace(rules, **limits) for rules in RULE_SETS})
    decide_rounds(ours, cluster, {rules.ruleset: one for rules in RULE_SETS}, NOW_MS)
    for rules in RULE_SETS:
        found = explain_metadata(session.warehouse, f"metadata {rules.ruleset} x", cluster)
        assert found is not None and found.decision["reason_code"] == "FRESH"
        half = None if rules.requests != "subset" else NOW_MS + (largest + 1) // 2
        assert (found.next_change and found.next_change.at_ms) == half
        assert any(line.startswith("  next: ") for line in metadata_in_words(found))


def instants_of(one: Producer, rules: Rules) -> list[int]:
    """Everything that has happened, and whatever may be so long after it, to the millisecond."""
    happened = [one.failed_at, one.not_urgent_at]
    for topic in one.topics.values():
        happened += [topic.accessed, topic.refreshed, topic.first_answer]
    lengths = {rules.idle_ms, rules.evict_ms, rules.max_age_ms, rules.backoff_ms}
    lengths |= {rules.max_age_ms // 2, rules.pace_ms or 0}
    some = {at + length for at in happened if at is not None for length in lengths}
    return sorted({NOW_MS, *(at + by for at in some for by in (-1, 0, 1) if at + by > NOW_MS)})


def answer_of_round(found: Round) -> tuple[Any, ...]:
    decision = "fetch" if found.fetched else "wait"
    return decision, found.reason, len(found.fetched), len(found.evicted)


def first_change(
    one: Producer, rules: Rules, answer: Callable[[Round], tuple[Any, ...]]
) -> tuple[Any, ...] | None:
    """The instant with another answer, and the answer."""
    now, *later = instants_of(one, rules)
    before = answer(decide_round(one, now, rules))
    answers = ((at, answer(decide_round(one, at, rules))) for at in later)
    return next(((at, *told) for at, told in answers if told != before), None)


def test_the_next_change_is_the_first_instant_with_another_answer(session: Session) -> None:
    """Whatever changes it: also other topics of the producer, and waits of its own."""
    chance = random.Random(33)
    several = {}
    while len(several) < 12:
        rules = random_rules(chance)
        if (one := random_producer(chance, NOW_MS, rules)).topics:
            several[f"changes {len(several)}"] = (one, rules)
    ours = with_producers(session, {name: rules for name, (_, rules) in several.items()})
    cluster = "producers that change"
    decide_rounds(ours, cluster, {name: one for name, (one, _) in several.items()}, NOW_MS)

    def found(text: str) -> tuple[Any, ...] | None:
        told = explain_metadata(session.warehouse, text, cluster)
        assert told is not None and not told.is_over
        change = told.next_change
        return change and (change.at_ms, *change.answer.values())

    changes = 0
    for name, (one, rules) in several.items():
        if one.closed_at is not None:
            continue
        ends = first_change(one, rules, answer_of_round)
        assert found(f"round {name}") == ends, name
        for topic in chance.sample(sorted(one.topics), 1):
            ends = first_change(
                one, rules, lambda r, topic=topic: (r.decisions[topic], r.reasons[topic])
            )
            assert found(f"metadata {name} {topic}") == ends, (name, topic)
            changes += ends is not None
    assert changes > 4


def test_nothing_is_known_of_others(decided: Session) -> None:
    with pytest.raises(MoldauError, match="nothing is decided about 'metadata few zz': did you"):
        explain_metadata(decided.warehouse, "metadata few zz", None)
    with pytest.raises(MoldauError, match="`moldau metadata` decides"):
        explain_metadata(decided.warehouse, "metadata nobody x", None)
    assert explain_metadata(decided.warehouse, "cleanup app", None) is None
