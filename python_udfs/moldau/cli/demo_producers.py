"""A part of the demo: what two real producers forget, refresh and fetch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from moldau.cli.story import explain, heading, load, show, tell
from moldau.instants import format_instant

if TYPE_CHECKING:
    from moldau.sessions.session import Session

CLUSTER = "logged"
PRODUCERS = (
    "producers:    # as the two that were recorded had them\n"
    "  default: {metadata.evict.ms: 8000, metadata.max.idle.ms: 8000, metadata.max.age.ms: 10000}\n"
)
_FROM_MS, _TO_MS = 1_795_770_781_000, 1_795_770_827_000  # of the events
_AT_MS = 1_795_770_834_000
_TICK_MS = 5

_DECIDED = f"""
    select
        producer_id,
        decision,
        reason_code as reason,
        count(*) as topics,
        min(topic_name) as such_as,
        round(({_AT_MS} - min(observed_access_at_ms)) / 1000.0, 1) as idle_seconds
    from decisions.metadata_topics
    where cluster_id = '{CLUSTER}'
    group by all
    order by all
"""
# a request of the log is what one producer asked for at one instant
_BESIDE = f"""
    select
        'as recorded (Kafka 4.4)' as rules,
        count(distinct (producer_id, at_ms)) as requests,
        count(*) as topics,
        null as blocking_fetches,
        null as evictions,
        null as wasted_refreshes
    from raw.producer_events
    where cluster_id = '{CLUSTER}' and event = 'requested'

    union all

    (
        select
            ruleset as rules,
            requests,
            topics,
            blocking_fetches,
            evictions,
            wasted_refreshes
        from marts.metadata_replay_totals
        where cluster_id = '{CLUSTER}'
        order by ruleset = 'kafka_2_5' desc, ruleset
    )
"""


def tell_of_producers(session: Session) -> None:
    """A round of the draft's algorithm, and what each rule set would have asked for."""
    from moldau.replays.clock import Span
    from moldau.runs.decide import decide
    from moldau.runs.replay import Asked, replay_metadata

    tell(
        "\n--- And what do producers ask for? ---\n"
        "Two producers of a Kafka 4.4.0 broker, and who wrote to what, from its request log.\n"
        "A topic is forgotten after 8 seconds without a write, and refreshed every 10."
    )
    load(session, CLUSTER, "producer_events", "producers/producer_events.jsonl")
    tell(f"$ moldau metadata --cluster {CLUSTER} --at {format_instant(_AT_MS)}")
    decide(session, "metadata", [CLUSTER], _AT_MS, is_dry_run=False)
    heading("What would KIP-526's draft forget and fetch now?", "decisions.metadata_topics")
    show(session.warehouse, _DECIDED)
    explain(session.warehouse, "metadata reports report-3", CLUSTER)
    tell(
        f"\n$ moldau replay metadata --cluster {CLUSTER} --from {format_instant(_FROM_MS)} "
        f"--to {format_instant(_TO_MS)} --tick {_TICK_MS}"
    )
    replay_metadata(session, [CLUSTER], Asked(Span(_FROM_MS, _TO_MS, _TICK_MS, 0), 300_000))
    heading(
        "What would the same writes have asked the broker for by other rules?",
        "marts.metadata_replay_totals, raw.producer_events",
    )
    show(session.warehouse, _BESIDE)
