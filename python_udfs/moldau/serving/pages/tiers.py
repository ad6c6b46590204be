"""Tiered storage: what waits, since when, how fast it drains, and what is wrong with segments."""

from __future__ import annotations

from moldau.serving.page import Asked, Field, Page, all_of, equal
from moldau.serving.question import Question

_ROWS = 100


def tiers(asked: Asked) -> Page:
    of_cluster = equal(asked, {"cluster": "cluster_id"})
    where = all_of([*of_cluster, *equal(asked, {"topic": "topic_name"})])
    return Page(
        "Tiers",
        "What waits to be uploaded to tiered storage or deleted from it, and how fast it drains.",
        tuple(asked.reader.ask(_questions(where, all_of(of_cluster)), asked.at_ms)),
        fields=(Field("cluster", "Cluster"), Field("topic", "Topic")),
    )


def _questions(where: str, of_cluster: str) -> list[Question]:
    return [
        Question(
            "over_time",
            "Records that wait to be uploaded, over time",
            f"""select
    cluster_id || ' ' || topic_name || '-' || partition_index as partition, measured_at_ms,
    upload_tier_lag
from history.tier_lag
where {where} and upload_tier_lag is not null and topic_name in (
    select topic_name from marts.tier_lag where {where}
    order by upload_tier_lag desc nulls last, topic_name limit 8
)
order by partition, measured_at_ms limit 1000""",
            "Nothing was measured yet: `moldau tiers` does.",
            shown="lines",
        ),
        Question(
            "by_cluster",
            "By cluster",
            f"""select
    cluster_id, partitions, upload_tier_lag, upload_lag_bytes, upload_in_flight,
    delete_tier_lag, delete_lag_bytes, oldest_pending_upload_at, oldest_pending_delete_at
from marts.tier_lag_by_cluster where {of_cluster}
order by cluster_id""",
            "Nothing was measured yet: `moldau tiers` does.",
        ),
        Question(
            "lag",
            "By partition",
            f"""select
    cluster_id, topic_name, partition_index, broker_id, upload_tier_lag, upload_lag_bytes,
    upload_lag_segments, oldest_pending_upload_at, delete_tier_lag, delete_lag_bytes,
    delete_lag_segments, oldest_pending_delete_at, measured_at, count(*) over () as in_all
from marts.tier_lag where {where}
order by upload_lag_bytes desc nulls last, delete_lag_bytes desc nulls last, cluster_id,
    topic_name, partition_index
limit {_ROWS}""",
            "No partition fits.",
        ),
        Question(
            "drain",
            "How fast it drains",
            f"""select
    cluster_id, topic_name, partition_index, upload_tier_lag, upload_outlook, upload_drain_low_ms,
    upload_drain_high_ms, uploaded_bytes_per_second, delete_tier_lag_sum, delete_outlook,
    delete_drain_low_ms, delete_drain_high_ms, count(*) over () as in_all
from marts.tier_drain where {where}
order by upload_drain_high_ms desc nulls last, cluster_id, topic_name, partition_index
limit {_ROWS}""",
        ),
        Question(
            "findings",
            "Findings in remote segments",
            f"""select
    cluster_id, finding, topic_name, partition_index, broker_id, start_offset, end_offset,
    size_bytes, since_at, detail, advice, count(*) over () as in_all
from marts.remote_segment_findings where {where}
order by finding, size_bytes desc nulls last, segment_id limit {_ROWS}""",
            "Every remote segment is as it should be.",
        ),
    ]
