"""After a failure nothing is sent for a while, unless Kafka's own producer meets a new topic."""

from __future__ import annotations

from metadata_reference import BEFORE_2_5, DRAFT, KAFKA_2_5
from producer_support import Event, load_events, rounds_of, with_producers

from moldau.runs.decide import decide
from moldau.sessions.session import Session

NOW_MS = 1_760_000_000_000
CLUSTER = "producers backing off"
FAILED = [("demand", NOW_MS - 1000, "x"), ("request_failed", NOW_MS - 50, None)]
# K16 of the specification, and K16c: a topic that becomes known after the failure
STORIES = {
    "waits on": [*FAILED, ("access", NOW_MS - 20, "x")],
    "new": [*FAILED, ("demand", NOW_MS - 20, "y")],
    "known before": [("access", NOW_MS - 2000, "y"), *FAILED, ("demand", NOW_MS - 20, "y")],
    "nobody waits": [*FAILED, ("access", NOW_MS - 20, "y"), ("demand_abandoned", NOW_MS, "y")],
    "failed again": [*FAILED, ("demand", NOW_MS - 20, "y"), ("request_failed", NOW_MS - 10, None)],
}


def test_a_new_topic_cuts_a_back_off_short_where_it_does_in_kafka(session: Session) -> None:
    rules = {"draft": DRAFT, "shipped": KAFKA_2_5, "before": BEFORE_2_5}
    producers = {f"{of} {story}": told for of, told in rules.items() for story in STORIES}
    ours = with_producers(session, producers)
    load_events(
        ours,
        CLUSTER,
        [
            Event(f"{of} {story}", event, at_ms, topic)
            for of in rules
            for story, events in STORIES.items()
            for event, at_ms, topic in events
        ],
    )
    decide(ours, "metadata", [CLUSTER], NOW_MS, is_dry_run=True)
    found = rounds_of(session, CLUSTER)
    sent = {name for name, told in found.items() if told.reason == "FETCH"}
    assert sent == {"shipped new", "before new"}
    assert {found[name].reason for name in found.keys() - sent} == {"BACKING_OFF"}
    assert found["shipped new"].fetched == ["x", "y"]
    decide(ours, "metadata", [CLUSTER], NOW_MS + 90, is_dry_run=True)
    assert {told.reason for told in rounds_of(session, CLUSTER).values()} == {"FETCH"}
