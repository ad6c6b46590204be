"""Offsets that wait for the end of a transaction: rows of `open_transactions`.

No request asks for them. A partition of __consumer_offsets whose last stable offset lies before its
high watermark has an open transaction; of the groups that are kept in it, those have a commit in
one whose offset is unstable, which a fetch of stable offsets says by name.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from confluent_kafka import KafkaError
from kafka.protocol.admin.transactions import DescribeTransactionsRequest, ListTransactionsRequest
from kafka.protocol.consumer.group import OffsetFetchRequest

from moldau.collecting.asker import Asker, Unsupported, error_name, in_parts
from moldau.collecting.topics import OFFSETS, Topic

_OPEN = ["Ongoing", "PrepareCommit", "PrepareAbort"]
_AT_ONCE = 1_000  # transactions, or groups, of a request
_PARTITIONS_AT_ONCE = 200_000
_GONE = {KafkaError.GROUP_ID_NOT_FOUND}
_UNTOLD = -1


def open_transactions(
    asker: Asker,
    topics: Sequence[Topic],
    states: Sequence[Mapping[str, Any]],
    listings: Sequence[Mapping[str, Any]],
) -> tuple[list[dict[str, Any]], list[str]]:
    """A row for each offset of a group that waits, and what is to be said of groups that told none.

    `states` and `listings` are the rows of those snapshots. The producer is the only one whose
    transaction has a part in the group's partition of __consumer_offsets, else -1.
    """
    count = len([state for state in states if state["topic"] == OFFSETS])
    producers = _producers(asker)
    waiting = producers.keys() | {
        state["partition"]
        for state in states
        if state["topic"] == OFFSETS
        and state.get("last_stable_offset", 0) < state.get("high_watermark", 0)
    }
    groups: dict[int, list[str]] = defaultdict(list)
    for each in listings if waiting else ():
        if each["group_type"] != "share" and offsets_partition(each["group_id"], count) in waiting:
            groups[each["coordinator_id"]].append(each["group_id"])
    partitions = {
        topic.name: [each.index for each in topic.partitions] for topic in topics
    }  # of any topic may be a first commit, which no list has yet
    rows, findings = [], []
    for broker_id, group_ids in groups.items():
        most = max(1, _PARTITIONS_AT_ONCE // max(1, sum(map(len, partitions.values()))))
        for some in in_parts(group_ids, most):
            for group in _fetched(asker, broker_id, some, partitions):
                if group.error_code and group.error_code not in _GONE:
                    error = error_name(group.error_code)
                    findings.append(f"group {group.group_id}: {error}; its open transactions are "
                                    "unknown")  # fmt: skip
                    continue
                of_group = producers.get(offsets_partition(group.group_id, count), set())
                producer_id = next(iter(of_group)) if len(of_group) == 1 else _UNTOLD
                rows += [
                    {
                        "group_id": group.group_id, "topic": topic.name,
                        "partition": each.partition_index, "producer_id": producer_id,
                    }
                    for topic in group.topics
                    for each in topic.partitions
                    if each.error_code == KafkaError.UNSTABLE_OFFSET_COMMIT
                ]  # fmt: skip
    return rows, findings


def denied_groups(asker: Asker, listings: Sequence[Mapping[str, Any]]) -> list[str]:
    """The listed groups whose offsets the client may not fetch; Unsupported before Kafka 3.0."""
    groups: dict[int, list[str]] = defaultdict(list)
    for each in listings:
        groups[each["coordinator_id"]].append(each["group_id"])
    return [
        group.group_id
        for broker_id, group_ids in groups.items()
        for some in in_parts(group_ids, _AT_ONCE)
        for group in _fetched(asker, broker_id, some, {})
        if group.error_code == KafkaError.GROUP_AUTHORIZATION_FAILED
    ]


def offsets_partition(group_id: str, count: int) -> int:
    """The partition of __consumer_offsets, of `count`, that keeps a group."""
    value = 0  # as Java's String.hashCode
    units = group_id.encode("utf-16-be", "surrogatepass")
    for at in range(0, len(units), 2):
        value = (31 * value + int.from_bytes(units[at : at + 2], "big")) & 0xFFFFFFFF
    signed = value - (1 << 32) if value >> 31 else value
    return (0 if signed == -(1 << 31) else abs(signed)) % max(1, count)  # Utils.abs


def _producers(asker: Asker) -> dict[int, set[int]]:
    """Partition of __consumer_offsets -> producers whose open transaction has a part in it.

    Only those with a transactional id that the client may DESCRIBE; brokers pass over the others.
    """
    found: dict[int, set[int]] = defaultdict(set)
    for broker_id in asker.broker_ids:
        for told in _transactions(asker, broker_id):
            if told.error_code:
                continue
            for topic in told.topics:
                for index in topic.partitions if topic.topic == OFFSETS else ():
                    found[index].add(told.producer_id)
    return dict(found)


def _transactions(asker: Asker, broker_id: int) -> Iterator[Any]:
    """Those that this broker coordinates; none if it is older than the request (Kafka 3.0)."""
    try:
        listed = asker.ask(
            ListTransactionsRequest(state_filters=_OPEN, producer_id_filters=[]), broker_id
        )
        ids = [each.transactional_id for each in listed.transaction_states]
        for some in in_parts(ids, _AT_ONCE):
            request = DescribeTransactionsRequest(transactional_ids=some)
            yield from asker.ask(request, broker_id).transaction_states
    except Unsupported:
        return


def _fetched(
    asker: Asker, broker_id: int, group_ids: list[str], partitions: Mapping[str, list[int]]
) -> list[Any]:
    group_of = OffsetFetchRequest.OffsetFetchRequestGroup
    topics = [
        group_of.OffsetFetchRequestTopics(name=name, partition_indexes=indexes)
        for name, indexes in partitions.items()
    ]
    request = OffsetFetchRequest(
        groups=[
            group_of(group_id=group_id, member_id=None, member_epoch=-1, topics=topics)
            for group_id in group_ids
        ],
        require_stable=True,
        min_version=8,  # Kafka 3.0
        max_version=9,  # the last with names of topics
    )
    return list(asker.ask(request, broker_id).groups)
