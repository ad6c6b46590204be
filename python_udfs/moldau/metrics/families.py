"""Every metric: its name, what it says, and the column of a mart that it shows.

Names are kafka-lag-exporter's for lag, Kafka's (`jmx.py`) where a broker has them, else moldau's
own. No rule stands here: what needs one is a column of a mart.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Family:
    """One metric; `value`: an expression over the rows of its reading, null = no series."""

    name: str
    says: str
    value: str


@dataclass(frozen=True)
class Reading:
    """What one look at a mart gives.

    `labels`: label -> expression; they tell rows apart. `first`: the order in which rows are kept
    where there are too many. `rows`: the query, if it is more than the mart.
    """

    mart: str
    labels: Mapping[str, str]
    families: tuple[Family, ...]
    first: str = ""
    rows: str = ""


def _seconds(column: str) -> str:
    return f"epoch({column})"


_CLUSTER = {"cluster_name": "cluster_id"}
_GROUP = _CLUSTER | {"group": "group_id"}
_PARTITION = {"topic": "topic_name", "partition": "partition_index"}
# a topic that was made anew has the name of the one before
_TIERED = _CLUSTER | {"topic": "topic_name", "topic_id": "topic_id", "partition": "partition_index"}
_MIRRORED = {"flow": "flow", "group": "group_id"}

LAG = (
    Reading(
        "marts.group_lag",
        _GROUP | _PARTITION,
        (
            Family("kafka_consumergroup_group_offset", "Committed offset.", "committed_offset"),
            Family(
                "kafka_consumergroup_group_lag",
                "Offsets from the committed one to the high watermark.",
                "lag",
            ),
            Family(
                "kafka_consumergroup_group_lag_seconds",
                "Age of the oldest record after the committed offset.",
                "lag_seconds",
            ),
        ),
        first="lag desc nulls last",
    ),
    Reading(
        "marts.group_lag_by_group",
        _GROUP,
        (
            Family(
                "kafka_consumergroup_group_max_lag",
                "Lag of the partition that lags most.",
                "worst_lag",
            ),
            Family(
                "kafka_consumergroup_group_max_lag_seconds",
                "The greatest age of a record after a committed offset.",
                "lag_seconds",
            ),
            Family("kafka_consumergroup_group_sum_lag", "Lag over all partitions.", "lag"),
            Family(
                "moldau_group_stopped_partitions",
                "Partitions whose committed offset stands still while the end grows.",
                "stopped_partitions",
            ),
            Family(
                "moldau_group_loss_timestamp_seconds",
                "When retention takes a record that is not read, if all moves on as it did.",
                _seconds("lost_from_at"),
            ),
        ),
        first="lag desc nulls last",
    ),
    Reading(
        "marts.group_lag",
        _GROUP | {"topic": "topic_name"},
        (
            Family(
                "kafka_consumergroup_group_topic_sum_lag",
                "Lag over the partitions of a topic.",
                "lag",
            ),
        ),
        first="lag desc nulls last",
        rows="select cluster_id, group_id, topic_name, sum(lag) as lag from marts.group_lag "
        "group by all",
    ),
    Reading(
        "marts.group_lag",
        _CLUSTER | _PARTITION,
        (
            Family(
                "kafka_partition_latest_offset",
                "High watermark of a partition that a group has read.",
                "high_watermark",
            ),
            Family(
                "kafka_partition_earliest_offset",
                "First offset of a partition that a group has read.",
                "log_start_offset",
            ),
        ),
        rows="select distinct cluster_id, topic_name, partition_index, high_watermark, "
        "log_start_offset from marts.group_lag",
    ),
)

GROUPS = (
    Reading(
        "marts.groups",
        _CLUSTER | {"type": "group_type", "state": "group_state"},
        (Family("moldau_groups", "Groups, by type and state.", "count"),),
        rows="select cluster_id, group_type, group_state, count(*) as count from marts.groups "
        "where not is_deleted group by all",
    ),
    Reading(
        "marts.groups",
        _CLUSTER | {"state": "topology_description"},
        (
            Family(
                "moldau_topology_descriptions",
                "Streams groups by what the broker believes of their description.",
                "count",
            ),
        ),
        rows="select cluster_id, topology_description, count(*) as count from marts.groups "
        "where not is_deleted and topology_description is not null group by all",
    ),
    Reading(
        "marts.group_expirations",
        _GROUP | {"live": "is_live"},
        (
            Family(
                "moldau_group_expiring_offsets",
                "Offsets of the group that expire within a day.",
                "expiring_offsets",
            ),
            Family(
                "moldau_group_first_expiry_timestamp_seconds",
                "When the first offset of the group expires that only time keeps.",
                _seconds("first_expires_at"),
            ),
        ),
        first="expiring_offsets desc, first_expires_at nulls last",
    ),
    Reading(
        "marts.group_expirations",
        _CLUSTER | {"live": "is_live"},
        (
            Family(
                "moldau_expiring_offsets",
                "Offsets that expire within a day, of all groups.",
                "expiring_offsets",
            ),
        ),
        rows="select cluster_id, is_live, sum(expiring_offsets) as expiring_offsets "
        "from marts.group_expirations group by all",
    ),
    Reading(
        "marts.deferred_groups",
        _GROUP,
        (
            Family(
                "moldau_group_held_since_timestamp_seconds",
                "Since when the gate holds the group: its description must be deleted first.",
                _seconds("deferred_since"),
            ),
            Family(
                "moldau_group_failed_deletes",
                "Calls in a row that failed to delete the description of a group that is held.",
                "failed_attempts",
            ),
        ),
        first="deferred_since",
    ),
    Reading(
        "marts.deferred_groups",
        _CLUSTER,
        (Family("moldau_held_groups", "Groups that the gate holds.", "count"),),
        rows="select cluster_id, count(*) as count from marts.deferred_groups group by all",
    ),
)

TIERS = (
    Reading(
        "marts.tier_lag",
        _TIERED,
        (
            Family(
                "moldau_tier_upload_lag_bytes", "Bytes that wait to be uploaded.",
                "upload_lag_bytes",
            ),
            Family(
                "moldau_tier_upload_lag_segments", "Segments that wait to be uploaded.",
                "upload_lag_segments",
            ),
            Family(
                "moldau_tier_delete_lag_bytes", "Bytes that wait to be deleted from the tier.",
                "delete_lag_bytes",
            ),
            Family(
                "moldau_tier_delete_lag_segments",
                "Segments that wait to be deleted from the tier.",
                "delete_lag_segments",
            ),
            Family(
                "moldau_tier_oldest_pending_upload_timestamp_seconds",
                "Latest record of the segment that has waited longest to be uploaded.",
                _seconds("oldest_pending_upload_at"),
            ),
        ),
        first="upload_lag_bytes desc nulls last",
    ),
    Reading(
        "marts.local_retention",
        _TIERED,
        (
            Family(
                "moldau_tier_pinned_local_bytes",
                "Bytes past local retention that stay on disk because they are not uploaded.",
                "pinned_local_bytes",
            ),
            Family(
                "moldau_tier_pinned_local_segments",
                "Segments past local retention that are not uploaded.",
                "pinned_local_segments",
            ),
        ),
        first="pinned_local_bytes desc nulls last",
    ),
)  # fmt: skip

MIRRORS = (
    Reading(
        "marts.failover_readiness",
        _MIRRORED,
        (
            Family(
                "moldau_mirror_group_is_ready",
                "1: all partitions of the group are translated, it has no members in the target.",
                "is_ready::int",
            ),
            Family(
                "moldau_mirror_group_partitions", "Partitions that the group has read.",
                "partitions",
            ),
            Family(
                "moldau_mirror_group_translated_partitions",
                "Partitions on which the group would resume in the target.",
                "translated",
            ),
            Family(
                "moldau_mirror_group_reread_offsets",
                "Records that the group reads again at most after a fail-over.",
                "reread_max",
            ),
        ),
        first="is_ready, partitions - translated desc",
    ),
    Reading(
        "marts.failover_readiness",
        _MIRRORED | {"reason": "reason"},
        (
            Family(
                "moldau_mirror_group_blocked_partitions",
                "Partitions that are not translated, by reason.",
                "partitions",
            ),
        ),
        first="partitions desc",
        rows="select flow, group_id, unnest(map_keys(blocked_by_reason)) as reason, "
        "unnest(map_values(blocked_by_reason)) as partitions from marts.failover_readiness",
    ),
    Reading(
        "marts.failover_readiness",
        {"flow": "flow", "ready": "is_ready"},
        (Family("moldau_mirror_groups", "Groups of a flow, ready to fail over or not.", "count"),),
        rows="select flow, is_ready, count(*) as count from marts.failover_readiness group by all",
    ),
    Reading(
        "marts.offset_translations",
        _MIRRORED | _PARTITION,
        (
            Family(
                "moldau_mirror_translated_offset",
                "Offset in the target from which the group skips nothing.",
                "translated_offset",
            ),
            Family(
                "moldau_mirror_offset_lower_bound",
                "The true position in the target is not below this.",
                "lower_bound",
            ),
            Family(
                "moldau_mirror_offset_upper_bound",
                "The true position in the target is not above this.",
                "upper_bound",
            ),
        ),
        first="reread_max desc nulls first",
    ),
    Reading(
        "marts.mirror_sync_age",
        {"flow": "flow"} | _PARTITION,
        (
            Family(
                "moldau_mirror_last_sync_timestamp_seconds",
                "When MirrorMaker last wrote down where a record of the partition lies.",
                _seconds("synced_at"),
            ),
            Family(
                "moldau_mirror_offsets_after_last_sync",
                "Offsets of the source after it.",
                "upstream_distance",
            ),
            Family(
                "moldau_mirror_has_stopped",
                "1: syncs have stopped though the source moves.",
                "(finding is not null)::int",
            ),
        ),
        first="finding nulls last, upstream_distance desc nulls last",
    ),
)  # fmt: skip

RUNS = (
    Reading(
        "marts.freshness",
        _CLUSTER | {"topic": "topic_name"},
        (
            Family(
                "moldau_known_up_to_timestamp_seconds",
                "When the topic was last looked at.",
                _seconds("known_up_to_at"),
            ),
            Family(
                "moldau_is_stale",
                "1: that is longer ago than two of the cluster's check intervals.",
                "is_stale::int",
            ),
            Family(
                "moldau_unread_offsets",
                "Offsets of the topic that are not read yet.",
                "offsets_behind",
            ),
            Family(
                "moldau_hidden_offsets",
                "Of these the ones that an open transaction hides.",
                "hidden_offsets",
            ),
        ),
    ),
    Reading(
        "marts.last_run",
        {"kind": "kind"},
        (
            Family(
                "moldau_last_run_timestamp_seconds",
                "When the latest run of the kind finished.",
                _seconds("finished_at"),
            ),
            Family(
                "moldau_last_run_is_failed",
                "1: the latest run of the kind failed.",
                "(status = 'failed')::int",
            ),
        ),
    ),
)

READINGS = (*LAG, *GROUPS, *TIERS, *MIRRORS, *RUNS)
