"""Every metric: its name, what it says, and the column of a mart that it shows.

Names are kafka-lag-exporter's for lag, Kafka's (`jmx.py`) where a broker has them, else moldau's
own. No rule stands here: what needs one is a column of a mart.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Family:
    """One metric; `value`: an expression over the rows of its reading, null = no series."""

    name: str
    says: str
    value: str


@dataclass(frozen=True)
class Reading:
    """What one look at a mart gives.

    `labels`: label -> expression; they tell rows apart. `told`: of each family two lines, `name =
    value` and what it says. `first`: the order in which rows are kept where there are too many.
    `rows`: the query, if it is more than the mart.
    """

    mart: str
    labels: Mapping[str, str]
    told: str
    first: str = ""
    rows: str = ""

    @cached_property
    def families(self) -> tuple[Family, ...]:
        lines = [line.strip() for line in self.told.strip().split("\n")]
        names = (line.split(" = ", 1) for line in lines[::2])
        told = zip(names, lines[1::2], strict=True)
        return tuple(Family(name, says, value) for (name, value), says in told)


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
        """
            kafka_consumergroup_group_offset = committed_offset
                Committed offset.
            kafka_consumergroup_group_lag = lag
                Offsets from the committed one to the high watermark.
            kafka_consumergroup_group_lag_seconds = lag_seconds
                Age of the oldest record after the committed offset.
        """,
        first="lag desc nulls last",
    ),
    Reading(
        "marts.group_lag_by_group",
        _GROUP,
        """
            kafka_consumergroup_group_max_lag = worst_lag
                Lag of the partition that lags most.
            kafka_consumergroup_group_max_lag_seconds = lag_seconds
                The greatest age of a record after a committed offset.
            kafka_consumergroup_group_sum_lag = lag
                Lag over all partitions.
            moldau_group_stopped_partitions = stopped_partitions
                Partitions whose committed offset stands still while the end grows.
            moldau_group_loss_timestamp_seconds = epoch(lost_from_at)
                When retention takes a record that is not read, if all moves on as it did.
        """,
        first="lag desc nulls last",
    ),
    Reading(
        "marts.group_lag",
        _GROUP | {"topic": "topic_name"},
        """
            kafka_consumergroup_group_topic_sum_lag = lag
                Lag over the partitions of a topic.
        """,
        first="lag desc nulls last",
        rows="select cluster_id, group_id, topic_name, sum(lag) as lag from marts.group_lag "
        "group by all",
    ),
    Reading(
        "marts.group_lag",
        _CLUSTER | _PARTITION,
        """
            kafka_partition_latest_offset = high_watermark
                High watermark of a partition that a group has read.
            kafka_partition_earliest_offset = log_start_offset
                First offset of a partition that a group has read.
        """,
        rows="select distinct cluster_id, topic_name, partition_index, high_watermark, "
        "log_start_offset from marts.group_lag",
    ),
)

GROUPS = (
    Reading(
        "marts.groups",
        _CLUSTER | {"type": "group_type", "state": "group_state"},
        """
            moldau_groups = count
                Groups, by type and state.
        """,
        rows="select cluster_id, group_type, group_state, count(*) as count from marts.groups "
        "where not is_deleted group by all",
    ),
    Reading(
        "marts.groups",
        _CLUSTER | {"state": "topology_description"},
        """
            moldau_topology_descriptions = count
                Streams groups by what the broker believes of their description.
        """,
        rows="select cluster_id, topology_description, count(*) as count from marts.groups "
        "where not is_deleted and topology_description is not null group by all",
    ),
    Reading(
        "marts.group_expirations",
        _GROUP | {"live": "is_live"},
        """
            moldau_group_expiring_offsets = expiring_offsets
                Offsets of the group that expire within a day.
            moldau_group_first_expiry_timestamp_seconds = epoch(first_expires_at)
                When the first offset of the group expires that only time keeps.
        """,
        first="expiring_offsets desc, first_expires_at nulls last",
    ),
    Reading(
        "marts.group_expirations",
        _CLUSTER | {"live": "is_live"},
        """
            moldau_expiring_offsets = expiring_offsets
                Offsets that expire within a day, of all groups.
        """,
        rows="select cluster_id, is_live, sum(expiring_offsets) as expiring_offsets "
        "from marts.group_expirations group by all",
    ),
    Reading(
        "marts.deferred_groups",
        _GROUP,
        """
            moldau_group_held_since_timestamp_seconds = epoch(deferred_since)
                Since when the gate holds the group: its description must be deleted first.
            moldau_group_failed_deletes = failed_attempts
                Calls in a row that failed to delete the description of a group that is held.
        """,
        first="deferred_since",
    ),
    Reading(
        "marts.deferred_groups",
        _CLUSTER,
        """
            moldau_held_groups = count
                Groups that the gate holds.
        """,
        rows="select cluster_id, count(*) as count from marts.deferred_groups group by all",
    ),
)

TIERS = (
    Reading(
        "marts.tier_lag",
        _TIERED,
        """
            moldau_tier_upload_lag_bytes = upload_lag_bytes
                Bytes that wait to be uploaded.
            moldau_tier_upload_lag_segments = upload_lag_segments
                Segments that wait to be uploaded.
            moldau_tier_delete_lag_bytes = delete_lag_bytes
                Bytes that wait to be deleted from the tier.
            moldau_tier_delete_lag_segments = delete_lag_segments
                Segments that wait to be deleted from the tier.
            moldau_tier_oldest_pending_upload_timestamp_seconds = epoch(oldest_pending_upload_at)
                Latest record of the segment that has waited longest to be uploaded.
        """,
        first="upload_lag_bytes desc nulls last",
    ),
    Reading(
        "marts.local_retention",
        _TIERED,
        """
            moldau_tier_pinned_local_bytes = pinned_local_bytes
                Bytes past local retention that stay on disk because they are not uploaded.
            moldau_tier_pinned_local_segments = pinned_local_segments
                Segments past local retention that are not uploaded.
        """,
        first="pinned_local_bytes desc nulls last",
    ),
)

MIRRORS = (
    Reading(
        "marts.failover_readiness",
        _MIRRORED,
        """
            moldau_mirror_group_is_ready = is_ready::int
                1: all partitions of the group are translated, it has no members in the target.
            moldau_mirror_group_partitions = partitions
                Partitions that the group has read.
            moldau_mirror_group_translated_partitions = translated
                Partitions on which the group would resume in the target.
            moldau_mirror_group_reread_offsets = reread_max
                Records that the group reads again at most after a fail-over.
        """,
        first="is_ready, partitions - translated desc",
    ),
    Reading(
        "marts.failover_readiness",
        _MIRRORED | {"reason": "reason"},
        """
            moldau_mirror_group_blocked_partitions = partitions
                Partitions that are not translated, by reason.
        """,
        first="partitions desc",
        rows="select flow, group_id, unnest(map_keys(blocked_by_reason)) as reason, "
        "unnest(map_values(blocked_by_reason)) as partitions from marts.failover_readiness",
    ),
    Reading(
        "marts.failover_readiness",
        {"flow": "flow", "ready": "is_ready"},
        """
            moldau_mirror_groups = count
                Groups of a flow, ready to fail over or not.
        """,
        rows="select flow, is_ready, count(*) as count from marts.failover_readiness group by all",
    ),
    Reading(
        "marts.offset_translations",
        _MIRRORED | _PARTITION,
        """
            moldau_mirror_translated_offset = translated_offset
                Offset in the target from which the group skips nothing.
            moldau_mirror_offset_lower_bound = lower_bound
                The true position in the target is not below this.
            moldau_mirror_offset_upper_bound = upper_bound
                The true position in the target is not above this.
        """,
        first="reread_max desc nulls first",
    ),
    Reading(
        "marts.mirror_sync_age",
        {"flow": "flow"} | _PARTITION,
        """
            moldau_mirror_last_sync_timestamp_seconds = epoch(synced_at)
                When MirrorMaker last wrote down where a record of the partition lies.
            moldau_mirror_offsets_after_last_sync = upstream_distance
                Offsets of the source after it.
            moldau_mirror_has_stopped = (finding is not null)::int
                1: syncs have stopped though the source moves.
        """,
        first="finding nulls last, upstream_distance desc nulls last",
    ),
)

RUNS = (
    Reading(
        "marts.freshness",
        _CLUSTER | {"topic": "topic_name"},
        """
            moldau_known_up_to_timestamp_seconds = epoch(known_up_to_at)
                When the topic was last looked at.
            moldau_is_stale = is_stale::int
                1: that is longer ago than two of the cluster's check intervals.
            moldau_unread_offsets = offsets_behind
                Offsets of the topic that are not read yet.
            moldau_hidden_offsets = hidden_offsets
                Of these the ones that an open transaction hides.
        """,
    ),
    Reading(
        "marts.last_run",
        {"kind": "kind"},
        """
            moldau_last_run_timestamp_seconds = epoch(finished_at)
                When the latest run of the kind finished.
            moldau_last_run_is_failed = (status = 'failed')::int
                1: the latest run of the kind failed.
        """,
    ),
)

READINGS = (*LAG, *GROUPS, *TIERS, *MIRRORS, *RUNS)
