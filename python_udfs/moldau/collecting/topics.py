"""The topics of a cluster: ids, partitions, leaders, and what the client may do with them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from confluent_kafka import KafkaError
from kafka.protocol.metadata import MetadataRequest

from moldau.collecting.asker import Asker
from moldau.records.printed_records import uuid_text

OFFSETS = "__consumer_offsets"
_NONE = UUID(int=0)


@dataclass(frozen=True)
class Partition:
    """`leader_id`: null = nobody leads it now; `leader_epoch`: null = the broker tells none."""

    index: int
    leader_id: int | None
    leader_epoch: int | None
    replica_ids: tuple[int, ...]


@dataclass(frozen=True)
class Topic:
    """`topic_id`: Kafka's text form, null before 2.8; `operations`: codes, null = not asked."""

    name: str
    topic_id: str | None
    partitions: tuple[Partition, ...]
    operations: frozenset[int] | None = None


def topics_of(
    asker: Asker, named: Iterable[str] = (), *, with_operations: bool = False
) -> tuple[list[Topic], list[str]]:
    """Every topic that the client may DESCRIBE, and those of `named` that it may not.

    A broker lists the former alone; of a topic that is asked for by name it says what is missing,
    whether there is such a topic or not. None is made by that.
    """
    listed = _described(asker, None, with_operations)
    topics = {told.name: _topic(told) for told in listed if not told.error_code}
    missing = sorted(set(named) - topics.keys())
    denied = []
    if missing:
        for told in _described(asker, missing, with_operations):
            if told.error_code == KafkaError.TOPIC_AUTHORIZATION_FAILED:
                denied.append(told.name)
            elif not told.error_code:
                topics[told.name] = _topic(told)
    return sorted(topics.values(), key=lambda topic: topic.name), denied


def topics_again(asker: Asker, names: Collection[str]) -> dict[str, Topic]:
    """What is true of these now; one that is gone, or denied, is left out."""
    told = _described(asker, sorted(names), False) if names else []
    return {each.name: _topic(each) for each in told if not each.error_code}


def _described(asker: Asker, names: list[str] | None, with_operations: bool) -> list[Any]:
    asked = None
    if names is not None:
        asked = [MetadataRequest.MetadataRequestTopic(name=name) for name in names]
    request = MetadataRequest(
        topics=asked,
        allow_auto_topic_creation=False,
        include_topic_authorized_operations=with_operations,
        min_version=4,  # before, a broker made what was asked for
    )
    return list(asker.ask(request).topics)


def _topic(told: Any) -> Topic:
    partitions = (
        Partition(
            each.partition_index,
            each.leader_id if each.leader_id >= 0 else None,
            each.leader_epoch if each.leader_epoch >= 0 else None,
            tuple(each.replica_nodes),
        )
        for each in told.partitions
    )
    return Topic(
        told.name,
        id_text(told.topic_id),
        tuple(sorted(partitions, key=lambda partition: partition.index)),
        None if told.authorized_operations is None else frozenset(told.authorized_operations),
    )


def id_text(topic_id: UUID | None) -> str | None:
    """As org.apache.kafka.common.Uuid writes it; None = it has none."""
    if topic_id is None or topic_id == _NONE:
        return None
    return uuid_text(topic_id.bytes)
