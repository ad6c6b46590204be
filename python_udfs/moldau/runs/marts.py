"""Which marts a command refreshes, beside last_run and table_status, which every run does.

A test on dbt's manifest holds these to what the models read and write.
"""

from __future__ import annotations

# what loads change
STATE_MARTS = ("groups", "group_offsets", "group_lag")
# of the tiers domain, all of which a run of tiers refreshes
TIER_MARTS = (
    "tier_lag",
    "tier_lag_by_topic",
    "tier_lag_by_broker",
    "tier_lag_by_cluster",
    "tier_partitions",
    "tier_drain",
    "local_retention",
    "remote_segment_index",
    "remote_segment_findings",
    "copy_times_by_broker",
    "kafka_gauge_comparison",
    "kafka_gauges_by_topic",
    "kafka_gauges_by_broker",
)
# kind of run -> what its decisions change
DECISION_MARTS: dict[str, tuple[str, ...]] = {
    "cycle": ("cleanup_preview", "deferred_groups", "decisions", "decision_history"),
    "sweep": (
        "cleanup_preview",
        "expiry_calendar",
        "deferred_groups",
        "decisions",
        "decision_history",
    ),
    "tiers": (*TIER_MARTS, "decisions", "decision_history", "metrics"),
}
# kind of run -> what applying them changes, beside those
APPLY_MARTS: dict[str, tuple[str, ...]] = {
    "cycle": ("groups", "plugin_calls", "cleanup_preview", "deferred_groups"),
    "sweep": (
        "groups",
        "group_offsets",
        "group_lag",
        "cleanup_preview",
        "expiry_calendar",
        "deferred_groups",
    ),
    "tiers": (),
}
# kind of run -> what counts its runs
COUNT_MARTS: dict[str, tuple[str, ...]] = {"cycle": ("metrics",), "sweep": (), "tiers": ()}
# kind of run -> what time alone changes
CLOCK_MARTS: dict[str, tuple[str, ...]] = {
    "cycle": (),
    "sweep": (),
    "tiers": (
        "remote_segment_findings",
        "local_retention",
        "tier_drain",
        "kafka_gauge_comparison",
        "kafka_gauges_by_topic",
        "kafka_gauges_by_broker",
    ),
}
