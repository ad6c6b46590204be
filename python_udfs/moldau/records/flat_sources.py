"""Which field of which record fills which flat column."""

from __future__ import annotations

from moldau.records import families

GROUP_KEY_SOURCES: dict[str, str] = {
    "group": "group_id",
    "groupId": "group_id",
    "memberId": "member_id",
    "regularExpression": "regular_expression",
    "topic": "committed_topic_name",
    "partition": "committed_partition_index",
}

_COMMIT = {
    "offset": "committed_offset",
    "leaderEpoch": "leader_epoch",
    "metadata": "metadata",
    "commitTimestamp": "commit_at_ms",
    "expireTimestamp": "expire_at_ms",
    "topicId": "topic_id",
}
_GROUP_EPOCH = {"epoch": "epoch"}
_ASSIGNMENT_EPOCH = {"assignmentEpoch": "epoch"}
_CURRENT_ASSIGNMENT = {
    "memberEpoch": "epoch",
    "previousMemberEpoch": "previous_member_epoch",
    "state": "member_state",
}
_CLIENT = {"rackId": "rack_id", "clientId": "client_id", "clientHost": "client_host"}

# Type 0 is folded into the columns of type 1, as the broker does when it loads the topic.
GROUP_VALUE_SOURCES: dict[int, dict[str, str]] = {
    0: {name: _COMMIT[name] for name in ("offset", "metadata", "commitTimestamp")},
    1: _COMMIT,
    2: {
        "protocolType": "protocol_type",
        "generation": "epoch",
        "protocol": "protocol",
        "leader": "leader",
        "currentStateTimestamp": "state_at_ms",
    },
    3: _GROUP_EPOCH,
    4: {},
    5: {"instanceId": "instance_id", "subscribedTopicRegex": "subscribed_topic_regex", **_CLIENT},
    6: _ASSIGNMENT_EPOCH,
    7: {},
    8: _CURRENT_ASSIGNMENT,
    10: _CLIENT,
    11: _GROUP_EPOCH,
    12: _ASSIGNMENT_EPOCH,
    13: {},
    14: _CURRENT_ASSIGNMENT,
    15: {},
    16: {},
    17: {
        "epoch": "epoch",
        "validatedTopologyEpoch": "validated_topology_epoch",
        "storedDescriptionTopologyEpoch": "stored_description_topology_epoch",
        "failedDescriptionTopologyEpoch": "failed_description_topology_epoch",
    },
    19: {
        "instanceId": "instance_id",
        "topologyEpoch": "topology_epoch",
        "processId": "process_id",
        **_CLIENT,
    },
    20: _ASSIGNMENT_EPOCH,
    21: {},
    22: _CURRENT_ASSIGNMENT,
    23: _GROUP_EPOCH,
}

_TOPIC_PARTITION = {"name": "topic_name", "id": "topic_id", "partition": "partition_index"}
_OFFSETS = {
    "topic": "topic_name",
    "partition": "partition_index",
    "upstreamOffset": "upstream_offset",
    "downstreamOffset": "downstream_offset",
}

FIXED_SOURCES: dict[str, dict[str, str]] = {
    families.REMOTE_LOG_METADATA: {
        **{f"remoteLogSegmentId.topicIdPartition.{k}": v for k, v in _TOPIC_PARTITION.items()},
        **{f"topicIdPartition.{k}": v for k, v in _TOPIC_PARTITION.items()},
        "remoteLogSegmentId.id": "segment_id",
        "startOffset": "start_offset",
        "endOffset": "end_offset",
        "brokerId": "broker_id",
        "maxTimestampMs": "max_timestamp_ms",
        "eventTimestampMs": "event_at_ms",
        "segmentSizeInBytes": "size_bytes",
        "customMetadata": "custom_metadata",
        "remoteLogSegmentState": "segment_state",
        "remotePartitionDeleteState": "partition_delete_state",
        "txnIndexEmpty": "txn_index_empty",
    },
    families.OFFSET_SYNCS: _OFFSETS,
    families.CHECKPOINTS: {"group": "group_id", "metadata": "metadata", **_OFFSETS},
    families.HEARTBEATS: {
        "sourceClusterAlias": "source_cluster_alias",
        "targetClusterAlias": "target_cluster_alias",
        "timestamp": "heartbeat_at_ms",
    },
}

# RemoteLogSegmentState and RemotePartitionDeleteState, by id.
SEGMENT_STATES = (
    "COPY_SEGMENT_STARTED",
    "COPY_SEGMENT_FINISHED",
    "DELETE_SEGMENT_STARTED",
    "DELETE_SEGMENT_FINISHED",
)
PARTITION_DELETE_STATES = (
    "DELETE_PARTITION_MARKED",
    "DELETE_PARTITION_STARTED",
    "DELETE_PARTITION_FINISHED",
)
