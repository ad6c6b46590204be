"""Producers: which topics' metadata they ask for, and what another eviction time would miss."""

from __future__ import annotations

from moldau.serving.page import Asked, Field, Page, all_of, equal
from moldau.serving.question import Question

_ROWS = 100


def producers(asked: Asked) -> Page:
    of_cluster = equal(asked, {"cluster": "cluster_id"})
    where = all_of([*of_cluster, *equal(asked, {"producer": "producer_id"})])
    return Page(
        "Producers",
        "Which topics' metadata producers ask for, and what another eviction time would miss.",
        tuple(asked.reader.ask(_questions(where, all_of(of_cluster)), asked.at_ms)),
        fields=(Field("cluster", "Cluster"), Field("producer", "Producer")),
    )


def _questions(where: str, of_cluster: str) -> list[Question]:
    return [
        Question(
            "miss_curve",
            "Misses an hour, by eviction time",
            f"""select
    cluster_id || ' ' || producer_id as producer, evict_ms, misses_per_hour
from marts.metadata_miss_curve
where {where} and evict_ms is not null and (cluster_id, producer_id) in (
    select (cluster_id, producer_id) from decisions.metadata_rounds where {where}
    order by cached_topics desc, cluster_id, producer_id limit 8
)
order by producer, evict_ms limit 1000""",
            "No access was recorded yet.",
            shown="lines",
            about="What a producer uses that it forgot before costs it a wait.",
        ),
        Question(
            "rounds",
            "The next round",
            f"""select
    cluster_id, producer_id, decision, reason_code, cached_topics, target_fetch_size,
    urgent_topics, non_urgent_topics, fetched_topics, evicted_topics, next_due_at_ms,
    decided_at_ms, count(*) over () as in_all
from decisions.metadata_rounds where {where}
order by cached_topics desc, cluster_id, producer_id limit {_ROWS}""",
            "No round was decided yet: `moldau metadata` does.",
        ),
        Question(
            "recommendations",
            "Eviction times",
            f"""select
    cluster_id, producer_id, advice, smell, evict_ms, recommended_evict_ms, max_age_ms,
    misses_per_hour, expected_misses_per_hour, mean_cached_topics, expected_mean_cached_topics,
    seen_ms, count(*) over () as in_all
from marts.metadata_recommendations where {where}
order by misses_per_hour desc nulls last, cluster_id, producer_id limit {_ROWS}""",
            "No access was recorded yet.",
        ),
        Question(
            "replays",
            "Replayed under each rule set",
            f"""select
    cluster_id, ruleset, producers, requests, topics, bytes, evictions, blocking_fetches,
    blocked_ms, misses, largest_request
from marts.metadata_replay_totals
where {of_cluster}
order by cluster_id, ruleset""",
            "Nothing was replayed yet: `moldau replay metadata` does.",
        ),
    ]
