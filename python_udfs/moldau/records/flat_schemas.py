"""The Arrow schemas of the flat columns."""

from __future__ import annotations

import pyarrow as pa

_RECORD = [
    ("record_type", pa.int32()),
    ("record_name", pa.string()),
    ("value_version", pa.int32()),
    ("decode_status", pa.string()),
    ("is_tombstone", pa.bool_()),
]
LEADER_EPOCHS = pa.list_(pa.struct([("leader_epoch", pa.int32()), ("start_offset", pa.int64())]))

GROUP_RECORDS = pa.schema(
    [
        *_RECORD,
        ("group_id", pa.string()),
        ("member_id", pa.string()),
        ("regular_expression", pa.string()),
        ("committed_topic_name", pa.string()),
        ("committed_partition_index", pa.int32()),
        ("committed_offset", pa.int64()),
        ("leader_epoch", pa.int32()),
        ("metadata", pa.string()),
        ("commit_at_ms", pa.int64()),
        ("expire_at_ms", pa.int64()),
        ("topic_id", pa.string()),
        ("epoch", pa.int32()),
        ("previous_member_epoch", pa.int32()),
        ("member_state", pa.int32()),
        ("protocol_type", pa.string()),
        ("protocol", pa.string()),
        ("leader", pa.string()),
        ("state_at_ms", pa.int64()),
        ("member_count", pa.int32()),
        ("subscribed_topics", pa.list_(pa.string())),
        ("subscribed_topic_regex", pa.string()),
        ("validated_topology_epoch", pa.int32()),
        ("stored_description_topology_epoch", pa.int32()),
        ("failed_description_topology_epoch", pa.int32()),
        ("topology_epoch", pa.int32()),
        ("instance_id", pa.string()),
        ("rack_id", pa.string()),
        ("client_id", pa.string()),
        ("client_host", pa.string()),
        ("process_id", pa.string()),
    ]
)

REMOTE_LOG_RECORDS = pa.schema(
    [
        *_RECORD,
        ("topic_name", pa.string()),
        ("topic_id", pa.string()),
        ("partition_index", pa.int32()),
        ("segment_id", pa.string()),
        ("start_offset", pa.int64()),
        ("end_offset", pa.int64()),
        ("broker_id", pa.int32()),
        ("max_timestamp_ms", pa.int64()),
        ("event_at_ms", pa.int64()),
        ("leader_epochs", LEADER_EPOCHS),
        ("size_bytes", pa.int64()),
        ("custom_metadata", pa.binary()),
        ("segment_state", pa.string()),
        ("partition_delete_state", pa.string()),
        ("txn_index_empty", pa.bool_()),
    ]
)

_OFFSETS = [
    ("topic_name", pa.string()),
    ("partition_index", pa.int32()),
    ("upstream_offset", pa.int64()),
    ("downstream_offset", pa.int64()),
]
OFFSET_SYNCS = pa.schema([*_RECORD, *_OFFSETS])
CHECKPOINTS = pa.schema([*_RECORD, ("group_id", pa.string()), *_OFFSETS, ("metadata", pa.string())])
HEARTBEATS = pa.schema(
    [
        *_RECORD,
        ("source_cluster_alias", pa.string()),
        ("target_cluster_alias", pa.string()),
        ("heartbeat_at_ms", pa.int64()),
    ]
)
