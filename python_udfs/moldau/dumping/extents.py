"""The extents of a topic to read: its partitions, each with its first and last offset."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from confluent_kafka import IsolationLevel, KafkaError, TopicCollection, TopicPartition
from confluent_kafka.admin import AclOperation, OffsetSpec  # type: ignore[attr-defined]

from moldau.dumping.brokers import Cluster
from moldau.errors import MoldauError
from moldau.warehouse.log_spans import Span

_URL_SAFE = str.maketrans("+/", "-_")  # Kafka's Uuid.toString, which librdkafka's is not quite


def extents_of(cluster: Cluster, topic: str) -> list[Span]:
    """Every partition of the topic, by number; MoldauError where the cluster refuses."""
    told = _described(cluster, topic)
    if isinstance(told, KafkaError):
        raise cluster.refused(f"topic {topic}", told)
    if told.authorized_operations and AclOperation.READ not in told.authorized_operations:
        raise cluster.refused(f"topic {topic}", "Topic authorization failed: READ is missing on it")
    partitions = sorted(partition.id for partition in told.partitions)
    topic_id = _id_text(told)
    # in this order what lies between the ends was there when the transaction was still open
    tops = _offsets(cluster, topic, partitions, OffsetSpec.latest, IsolationLevel.READ_UNCOMMITTED)
    ends = _offsets(cluster, topic, partitions, OffsetSpec.latest, IsolationLevel.READ_COMMITTED)
    starts = starts_of(cluster, topic, partitions)
    return [
        Span(topic, number, topic_id, min(starts[number], ends[number]), ends[number],
             log_start_offset=min(starts[number], ends[number]),
             high_watermark=max(top, ends[number]))
        for number, top in tops.items()
    ]  # fmt: skip


def topic_id_of(cluster: Cluster, topic: str) -> str | None:
    """ "" = there is no such topic; null = the client may not see whether there is."""
    told = _described(cluster, topic)
    if not isinstance(told, KafkaError):
        return _id_text(told)
    if told.code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
        return ""
    if told.code() == KafkaError.TOPIC_AUTHORIZATION_FAILED:
        return None
    raise cluster.refused(f"topic {topic}", told)


def _described(cluster: Cluster, topic: str) -> Any:
    named = TopicCollection([topic])
    return cluster.ask(
        lambda: cluster.admin.describe_topics(named, include_authorized_operations=True)
    )[topic]


def _id_text(told: Any) -> str:
    return str(told.topic_id).translate(_URL_SAFE)


def starts_of(cluster: Cluster, topic: str, partitions: list[int]) -> dict[int, int]:
    """Where the log of each partition begins now."""
    return _offsets(
        cluster, topic, partitions, OffsetSpec.earliest, IsolationLevel.READ_UNCOMMITTED
    )


def _offsets(
    cluster: Cluster,
    topic: str,
    partitions: list[int],
    spec: Callable[[], OffsetSpec],
    isolation: IsolationLevel,
) -> dict[int, int]:
    wanted = {TopicPartition(topic, number): spec() for number in partitions}
    found = cluster.ask(lambda: cluster.admin.list_offsets(wanted, isolation_level=isolation))
    return {
        asked.partition: _offset(cluster, topic, asked.partition, told)
        for asked, told in found.items()
    }


def _offset(cluster: Cluster, topic: str, partition: int, told: Any) -> int:
    if isinstance(told, KafkaError):
        raise cluster.refused(f"{topic}-{partition}", told)
    if told.offset < 0:
        raise MoldauError(f"{topic}-{partition} tells no offset")
    return int(told.offset)
