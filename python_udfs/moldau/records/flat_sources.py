"""Which field of a record fills which flat column."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from moldau.records import families
from moldau.records.layout import StructLayout

_OFFSETS = {"topic": "topic_name", "partition": "partition_index"}
_TOPIC_PARTITION = {"name": "topic_name", "id": "topic_id", "partition": "partition_index"}
_RENAMED: dict[str, dict[str, str]] = {
    families.CONSUMER_OFFSETS: {
        "group": "group_id",
        "topic": "committed_topic_name",
        "partition": "committed_partition_index",
        "offset": "committed_offset",
        "commitTimestamp": "commit_at_ms",
        "expireTimestamp": "expire_at_ms",
        "generation": "epoch",
        "assignmentEpoch": "epoch",
        "memberEpoch": "epoch",
        "state": "member_state",
        "currentStateTimestamp": "state_at_ms",
    },
    families.REMOTE_LOG_METADATA: {
        **{f"remoteLogSegmentId.topicIdPartition.{k}": v for k, v in _TOPIC_PARTITION.items()},
        **{f"topicIdPartition.{k}": v for k, v in _TOPIC_PARTITION.items()},
        "remoteLogSegmentId.id": "segment_id",
        "eventTimestampMs": "event_at_ms",
        "segmentSizeInBytes": "size_bytes",
        "remoteLogSegmentState": "segment_state",
        "remotePartitionDeleteState": "partition_delete_state",
    },
    families.OFFSET_SYNCS: _OFFSETS,
    families.CHECKPOINTS: {"group": "group_id", **_OFFSETS},
    families.SHARE_GROUP_STATE: {"partition": "partition_index"},
    families.HEARTBEATS: {"timestamp": "heartbeat_at_ms"},
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


@cache
def column_of(family: str, path: str) -> str:
    """What the field at a dotted path is called where the table has it: as in Kafka, in snake case,
    save those above."""
    return _RENAMED.get(family, {}).get(path) or re.sub("[A-Z]", r"_\g<0>", path).lower()


def paths_of(layout: StructLayout, within: str = "") -> Iterator[str]:
    """The dotted paths of all values that are in no array."""
    for slot in layout.fields:
        if slot.is_array:
            continue
        if slot.struct is None:
            yield within + slot.name
        else:
            yield from paths_of(slot.struct, f"{within}{slot.name}.")
