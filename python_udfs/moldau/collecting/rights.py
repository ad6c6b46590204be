"""What a client may see of a cluster, what its brokers can tell, and what is unknown without it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from kafka.protocol.admin import DescribeClusterRequest, ListGroupsRequest, ListTransactionsRequest
from kafka.protocol.consumer.group import OffsetFetchRequest
from kafka.protocol.consumer.offsets import ListOffsetsRequest
from kafka.protocol.metadata import MetadataRequest

from moldau.collecting.asker import Asker, Unsupported
from moldau.collecting.listings import group_listings
from moldau.collecting.topics import Topic, topics_of
from moldau.collecting.transactions import denied_groups
from moldau.declared import topics as read_families
from moldau.records.families import family_of

_READ, _DESCRIBE, _DESCRIBE_CONFIGS = 3, 8, 10  # AclOperation
_OF_RECORDS = {
    "__consumer_offsets": "groups, their offsets and epochs: everything about groups",
    "__remote_log_metadata": "remote segments: everything about tiered storage",
}
_OF_MIRRORS = "syncs and checkpoints of MirrorMaker: everything about mirrors"
_TOLD = _OF_RECORDS | {"__share_group_state": "start offsets of share groups, and their lag"}
_NAMED = 3
# request, version, the Kafka that has it first, what older brokers leave unknown
_VERSIONS = (
    (MetadataRequest, 10, "2.8", "topic ids: partition_states without, no topic_configs"),
    (ListGroupsRequest, 4, "2.6", "states of groups: group_listings says UNKNOWN"),
    (ListGroupsRequest, 5, "3.8", "types of groups: group_type is null in group_listings"),
    (ListOffsetsRequest, 8, "3.4", "local_log_start_offset"),
    (ListOffsetsRequest, 9, "3.9", "latest_tiered_offset"),
    (OffsetFetchRequest, 8, "3.0", "open_transactions"),
    (ListTransactionsRequest, 0, "3.0", "producer_id of open_transactions"),
)


@dataclass(frozen=True)
class Right:
    """`resource` as kafka-acls.sh names it; `tells`: what stays unknown without it."""

    resource: str
    operation: str
    is_granted: bool
    tells: str


@dataclass(frozen=True)
class Examined:
    """`too_old`: a line for each thing that the brokers are too old to tell."""

    version: str
    brokers: int
    topics: int
    groups: int
    rights: list[Right]
    too_old: list[str]


def examine(asker: Asker) -> Examined:
    """What the client sees of the cluster now. Topics that are denied, and unnamed, nobody sees."""
    topics, denied = topics_of(asker, _OF_RECORDS, with_operations=True)
    listings = group_listings(asker)
    return Examined(
        asker.version,
        len(asker.broker_ids),
        len(topics),
        len(listings),
        [*_of_topics(topics, denied), *_of_cluster(asker), *_of_groups(asker, listings)],
        [
            f"brokers older than Kafka {since} do not tell {unknown}"
            for request, version, since, unknown in _VERSIONS
            if not asker.knows(request, version)
        ],
    )


def _of_topics(topics: Sequence[Topic], denied: Sequence[str]) -> Iterator[Right]:
    for name in denied:
        yield Right(f"topic {name}", "DESCRIBE", False, "its ends and lag")
        yield Right(f"topic {name}", "READ", False, _OF_RECORDS[name])
    for topic in topics:
        if topic.operations is not None and family_of(topic.name) in read_families():
            is_granted = _READ in topic.operations
            what = _TOLD.get(topic.name, _OF_MIRRORS)
            yield Right(f"topic {topic.name}", "READ", is_granted, what)
    without = [
        topic.name
        for topic in topics
        if topic.operations is not None and _DESCRIBE_CONFIGS not in topic.operations
    ]
    for name in without[:_NAMED]:
        yield Right(f"topic {name}", "DESCRIBE_CONFIGS", False, "its retention: topic_configs")
    if len(without) > _NAMED:
        rest = f"topics, {len(without) - _NAMED} more"
        yield Right(rest, "DESCRIBE_CONFIGS", False, "their topic_configs")
    if topics and not without:
        yield Right("every topic seen", "DESCRIBE_CONFIGS", True, "retention: topic_configs")


def _of_cluster(asker: Asker) -> Iterator[Right]:
    try:
        answer = asker.ask(DescribeClusterRequest(include_cluster_authorized_operations=True))
    except Unsupported:  # before Kafka 2.8
        return
    granted = answer.authorized_operations or ()
    what = "groups that the client may not DESCRIBE one by one: group_listings leaves them out"
    yield Right("cluster", "DESCRIBE", _DESCRIBE in granted, what)


def _of_groups(asker: Asker, listings: Sequence[dict[str, Any]]) -> Iterator[Right]:
    try:
        denied = denied_groups(asker, listings)
    except Unsupported:  # before Kafka 3.0
        return
    what = "which of its offsets wait for a transaction: open_transactions"
    for group_id in denied[:_NAMED]:
        yield Right(f"group {group_id}", "DESCRIBE", False, what)
    if len(denied) > _NAMED:
        yield Right(f"groups, {len(denied) - _NAMED} more", "DESCRIBE", False, what)
    if listings and not denied:
        yield Right("every group listed", "DESCRIBE", True, what)
