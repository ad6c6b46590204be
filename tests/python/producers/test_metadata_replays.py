"""`moldau replay metadata`: on the same state as the rounds in SQL."""

from __future__ import annotations

import dataclasses
import json
import random
from dataclasses import replace
from typing import Any

import pytest
from metadata_reference import Producer, Rules, Topic
from producer_support import (
    Event,
    decide_rounds,
    load_events,
    load_lines,
    load_topics,
    with_producers,
)
from random_producers import random_producer, random_rules

from moldau.cli import run as run_command
from moldau.errors import MoldauError
from moldau.project import ROOT
from moldau.reading.tables.query import query
from moldau.replays.clock import Span
from moldau.runs.replay import Asked, replay_metadata
from moldau.sessions.run import Run
from moldau.sessions.session import Session
from moldau.settings import load_settings

NOW_MS = 1_750_000_000_000
HOUR = 3_600_000
# a snapshot before the log
LOGGED = {
    "p0": Producer({f"t{n:02}": Topic(NOW_MS - 1_000, NOW_MS - 5_000) for n in range(25)}),
}
LOGGED_SPAN = Span(NOW_MS, NOW_MS + HOUR // 6, 1_000, 20)


def replayed(session: Session, cluster: str, span: Span, **more: Any) -> Run:
    return replay_metadata(session, [cluster], Asked(span, more.pop("bucket_ms", 300_000), **more))


def rows_of(session: Session, table: str, cluster: str) -> list[dict[str, Any]]:
    sql = f"select * from {table} where cluster_id = '{cluster}' order by all"
    return query(session.warehouse, sql).as_dicts()


@pytest.mark.parametrize("seed", range(2))
def test_a_round_of_a_replay_is_that_of_sql(session: Session, seed: int) -> None:
    """The first round of each producer, on random states and under its own rules."""
    chance = random.Random(f"replays {seed}")
    rules = {f"replayed {seed} {number:03}": random_rules(chance) for number in range(250)}
    told = {name: random_state(chance, one) for name, one in rules.items()}
    ours = with_producers(session, rules)
    cluster = f"replays of random states {seed}"
    decided = decide_rounds(ours, cluster, told, NOW_MS)
    replayed(ours, cluster, Span(NOW_MS, NOW_MS + 1, 1), keeps_rounds=True)
    found = {
        row["producer_id"]: row
        for row in rows_of(ours, "marts.metadata_replay_rounds", cluster)
        if row["ruleset"] == rules[row["producer_id"]].ruleset
    }
    busy = 0
    for name, right in decided.items():
        if not right.fetched and not right.evicted:
            assert name not in found, name
            continue
        busy += 1
        row = found[name]
        assert set(row["evicted_topic_names"]) == right.evicted, name
        if rules[name].requests == "subset":
            assert row["fetched_topic_names"] == right.fetched, name
            sizes = (right.cached, right.target, len(right.urgent), len(right.other))
        else:
            assert set(row["fetched_topic_names"]) == set(right.fetched), name
            sizes = (right.cached, None, len(right.urgent), len(right.other))
        names = ("cached_topics", "target_fetch_size", "urgent_topics", "non_urgent_topics")
        assert tuple(row[one] for one in names) == sizes, name
    assert busy > 100


def random_state(chance: random.Random, rules: Rules) -> Producer:
    """A replay has no request of the log in flight, and a snapshot without its instant is as of
    the latest one that it tells: none of them is later than the replay."""
    state = random_producer(chance, NOW_MS, rules)
    topics = {
        name: replace(topic, accessed=min(topic.accessed, NOW_MS))
        for name, topic in state.topics.items()
    }
    return replace(state, topics=topics, in_flight_since=None, closed_at=None)


def test_a_partial_answer_forgets_nothing_that_it_has_nothing_of(session: Session) -> None:
    """Kafka 2.5 looks at idle clocks of cached topics, and of those in the answer."""
    topics = {
        "cached": Topic(NOW_MS - 400_000, NOW_MS - 1_000),
        "failed": Topic(NOW_MS - 400_000),
        "new": Topic(NOW_MS, has_demand=True),
    }
    rules = Rules("kafka_2_5", requests="new_or_all")
    ours = with_producers(session, {"partly": rules})
    cluster = "replays of a partial answer"
    decided = decide_rounds(ours, cluster, {"partly": Producer(topics)}, NOW_MS)["partly"]
    assert (decided.fetched, decided.evicted) == (["new"], {"cached"})
    span = Span(NOW_MS, NOW_MS + 1, 1)
    replayed(ours, cluster, span, rulesets=("kafka_2_5",), keeps_rounds=True)
    [row] = rows_of(ours, "marts.metadata_replay_rounds", cluster)
    assert (row["fetched_topic_names"], row["evicted_topic_names"]) == (["new"], ["cached"])


def test_rounds_buckets_and_totals_agree(session: Session) -> None:
    cluster = "replays here"
    begin_log(session, cluster)
    replayed(session, cluster, LOGGED_SPAN, keeps_rounds=True)
    rows = rows_of(session, "marts.metadata_replay", cluster)
    assert {row["producer_id"] for row in rows} == {"p0", "p1", "p2", "p3", "p4"}
    assert len({row["ruleset"] for row in rows}) == 5
    rounds = rows_of(session, "marts.metadata_replay_rounds", cluster)
    for ruleset in {row["ruleset"] for row in rows}:
        asked = sum(row["requests"] for row in rows if row["ruleset"] == ruleset)
        assert asked == sum(r["fetched_topics"] > 0 for r in rounds if r["ruleset"] == ruleset) > 0
    totals = rows_of(session, "marts.metadata_replay_totals", cluster)
    fleet = rows_of(session, "marts.metadata_replay_by_cluster", cluster)
    for total in totals:
        own = [row for row in rows if row["ruleset"] == total["ruleset"]]
        assert total["bytes"] == sum(row["bytes"] for row in own)
        peak = max(row["bytes"] for row in fleet if row["ruleset"] == total["ruleset"])
        assert total["largest_bucket_bytes"] == peak
        assert total["peak_to_mean"] >= 1


def logged_events() -> list[Event]:
    """A log of every kind of event, before the replay and in it."""
    chance = random.Random("log")
    kinds = ["access"] * 20 + ["demand", "notice", "topic_error", "refreshed", "demand_abandoned"]
    events = set()
    for _ in range(2_000):
        producer, topic = f"p{chance.randrange(5)}", f"t{chance.randrange(40):02}"
        at_ms = NOW_MS + chance.randrange(-200_000, 700_000)
        events.add(Event(producer, chance.choice(kinds), at_ms, topic))
    events |= {Event("p1", "request_failed", NOW_MS + second * 7_000) for second in range(50)}
    events |= {Event("p2", "closed", NOW_MS + 100_000), Event("p3", "closed", NOW_MS - 10_000)}
    return sorted(events, key=lambda event: (event.at_ms, repr(event)))


def begin_log(session: Session, cluster: str) -> None:
    load_topics(session, cluster, LOGGED)
    load_events(session, cluster, logged_events())


def test_what_was_before_the_replay_is_what_it_begins_with(session: Session) -> None:
    """Of the events those before count up to the replay; a snapshot that is later does not."""
    cluster = "replays that begin"
    seen = {"last_access_at_ms": NOW_MS + 10, "last_refresh_at_ms": NOW_MS + 10}
    late = {"producer_id": "begins", "topic": "late", "has_demand": False, **seen}
    load_lines(session, cluster, "producer_topics", [late | {"taken_at_ms": NOW_MS + 10}])
    load_events(
        session,
        cluster,
        [
            Event("begins", "access", NOW_MS - 301_000, "old"),
            Event("begins", "refreshed", NOW_MS - 300_000, "old"),
            Event("begins", "access", NOW_MS - 100, "x"),
            Event("begins", "refreshed", NOW_MS - 90, "x"),
            Event("begins", "demand", NOW_MS - 50, "y"),
            Event("begins", "access", NOW_MS + 5, "z"),
        ],
    )
    span = Span(NOW_MS, NOW_MS + 10, 1)
    replayed(session, cluster, span, rulesets=("kip_526_draft",), keeps_rounds=True)
    rounds = rows_of(session, "marts.metadata_replay_rounds", cluster)
    told = [
        (row["round_at_ms"] - NOW_MS, row["evicted_topic_names"], row["fetched_topic_names"])
        for row in rounds
    ]
    assert told == [(0, ["old"], ["y"]), (5, [], ["z"])]
    [bucket] = rows_of(session, "marts.metadata_replay", cluster)
    assert (bucket["misses"], bucket["blocking_fetches"]) == (1, 2)


def test_a_replay_of_what_comes_begins_with_the_state_as_it_is(session: Session) -> None:
    """What is known at an instant past all events is what loads have folded."""
    cluster = "replays of what comes"
    begin_log(session, cluster)
    later = NOW_MS + HOUR
    replayed(session, cluster, Span(later, later + 1, 1), rulesets=("paced",))
    columns = (
        "producer_id, topic_name, last_access_at_ms, last_refresh_at_ms, has_demand, "
        "notified_at_ms, idle_since_at_ms, is_in_error"
    )
    begun, state = (
        sorted(map(str, session.sql(f"select {columns} from {of} where cluster_id = '{cluster}'")))
        for of in ("intermediate.int_producers__replay_topics_begun", "state.producer_topics")
    )
    assert begun == state
    assert len(state) > 100


def test_a_replay_replaces_that_of_its_cluster_alone(session: Session) -> None:
    first, second = "replays once", "replays twice"
    for cluster in (first, second):
        load_events(session, cluster, [Event("again", "access", NOW_MS, "x")])
    span = Span(NOW_MS, NOW_MS + 1_000, 100)
    replayed(session, first, span, keeps_rounds=True)
    replayed(session, second, span, keeps_rounds=True)
    before = rows_of(session, "marts.metadata_replay", first)
    replayed(session, second, span, rulesets=("paced",))
    assert rows_of(session, "marts.metadata_replay", first) == before != []
    assert {row["ruleset"] for row in rows_of(session, "marts.metadata_replay", second)} == {
        "paced"
    }
    assert rows_of(session, "marts.metadata_replay_rounds", first) != []
    assert rows_of(session, "marts.metadata_replay_rounds", second) == []


def test_bytes_follow_the_partitions_that_are_known(session: Session) -> None:
    cluster = "replays with partitions"
    states = [
        {
            "topic": "x", "partition": partition, "broker_id": broker, "is_leader": broker == 1,
            "taken_at_ms": NOW_MS,
        }
        for partition in range(2)
        for broker in (1, 2)
    ]  # fmt: skip
    load_lines(session, cluster, "partition_states", states)
    load_events(session, cluster, [Event("sized", "access", NOW_MS, "x")])
    replayed(session, cluster, Span(NOW_MS, NOW_MS + 10, 1), rulesets=("kafka_2_5",))
    [row] = rows_of(session, "marts.metadata_replay", cluster)
    assert row["bytes"] == 10 + 1 + 2 * (18 + 2 * 8)
    assert row["overhead_bytes"] == 38 + 2 * 31
    assert (row["cached_partitions"], row["cached_bytes"]) == (2, row["bytes"])


def test_a_producers_own_switches_hold_under_its_own_rule_set(session: Session) -> None:
    cluster = "replays with switches"
    ours = with_producers(session, {"switched": Rules(multiplies=True, evict_ms=10_000)})
    topics = {f"t{number:03}": Topic(NOW_MS, NOW_MS - 200_000) for number in range(100)}
    load_topics(ours, cluster, {"switched": Producer(topics)})
    replayed(ours, cluster, Span(NOW_MS, NOW_MS + 1, 1), keeps_rounds=True)
    found = {
        row["ruleset"]: row["target_fetch_size"]
        for row in rows_of(ours, "marts.metadata_replay_rounds", cluster)
    }
    assert found["kip_526_draft"] == found["kip_526_revised"] == 100


def test_a_replay_of_a_real_log_asks_for_what_the_client_asked(session: Session) -> None:
    """The sample: a client of Kafka 4.4 and a broker's request log. Requests of the log are not
    looked at, and each comes again: the same topics, in the same order, when it came."""
    cluster, sample = "replays of a real log", ROOT / "samples" / "producers"
    log = [json.loads(line) for line in (sample / "producer_events.jsonl").open()]
    asked: dict[tuple[str, int], set[str]] = {}
    for event in log:
        if event["event"] == "requested":
            request = asked.setdefault((event["producer_id"], event["at_ms"]), set())
            request.add(event["topic"])
    settings = load_settings(sample / "moldau.yml", session.warehouse)
    ours = dataclasses.replace(session, settings=settings)
    load_lines(ours, cluster, "producer_events", log)
    begin = min(event["at_ms"] for event in log)
    span = Span(begin, max(event["at_ms"] for event in log) + 1_000, 1, 15)
    replayed(ours, cluster, span, rulesets=("kafka_2_5",), keeps_rounds=True)
    rounds = rows_of(ours, "marts.metadata_replay_rounds", cluster)
    for producer in ("checkout", "reports"):
        right = [
            (at, sorted(topics)) for (of, at), topics in sorted(asked.items()) if of == producer
        ]
        found = [
            (row["round_at_ms"], sorted(row["fetched_topic_names"]))
            for row in rounds
            if row["producer_id"] == producer and row["fetched_topics"]
        ]
        assert [topics for _, topics in found] == [topics for _, topics in right]
        for (replayed_at, _), (really_at, _) in zip(found, right, strict=True):
            assert abs(replayed_at - really_at) < 150, producer
    assert len(asked) == 35


def test_a_rule_set_that_there_is_not_is_refused(session: Session) -> None:
    load_events(session, "replays refused", [Event("refused", "access", NOW_MS, "x")])
    with pytest.raises(MoldauError, match="kip_526_draft, kip_526_revised"):
        replayed(session, "replays refused", Span(0, 1, 1), rulesets=("kip_526",))
    with pytest.raises(MoldauError, match="cluster 'nowhere' is not known"):
        replayed(session, "nowhere", Span(0, 1, 1))


def test_the_verb_shows_the_rule_sets_side_by_side(
    tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    warehouse = ["--warehouse", str(tmp_path / "warehouse")]
    log = tmp_path / "events.jsonl"
    events = [
        {"producer_id": "p", "topic": f"t{second % 50}", "event": "access", "at_ms": second * 1_000}
        for second in range(600)
    ]
    log.write_text("".join(json.dumps(event) + "\n" for event in events))
    load = ["load", str(log), "--cluster", "east", "--kind", "producer_events", *warehouse]
    assert run_command(load) == 0
    capsys.readouterr()
    verb = ["replay", "metadata", "--cluster", "east", "--format", "json", *warehouse]
    span = ["--from", "0", "--to", "1970-01-01T00:10:00Z", "--tick", "1000"]
    assert run_command([*verb, *span]) == 0
    found = {row["ruleset"]: row for row in json.loads(capsys.readouterr().out)}
    assert found["before_2_5"]["topics"] == 50 * 51 // 2 + 50
    assert {row["misses"] for row in found.values()} == {50}
    assert found["kafka_2_5"]["topics"] == 100
    assert run_command([*verb, "--from", "5", "--to", "5"]) == 1
    assert "--from must be before --to" in capsys.readouterr().err
    assert run_command([*verb, *span, "--ruleset", "kafka"]) == 1
    assert "'kafka' is not a rule set of producers" in capsys.readouterr().err
