"""Groups of a real cluster: made by Kafka clients, and what AdminClient says of them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from confluent_kafka import (
    Consumer,
    ConsumerGroupTopicPartitions,
    Producer,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    NewTopic,
    ResourcePatternType,
    ResourceType,
)

TOPIC = "orders"
PARTITIONS = 3
ENOUGH_S = 30


@dataclass(frozen=True)
class Answers:
    """What the cluster tells: state of each group, and its offset of each partition of TOPIC."""

    states: dict[str, str]
    offsets: dict[tuple[str, int], int]


class Groups:
    def __init__(self, address: str) -> None:
        # what the clients log would stand among what the command line says
        self._config = {"bootstrap.servers": address, "log_level": 0}
        self.admin = AdminClient(self._config)

    def create(self, name: str, partitions: int = 1, **configs: str) -> None:
        topic = NewTopic(name, partitions, 1, config=configs)
        self.admin.create_topics([topic])[name].result()
        end = time.monotonic() + ENOUGH_S
        while name not in self.topics() and time.monotonic() < end:
            time.sleep(0.1)

    def topics(self) -> set[str]:
        return set(self.admin.list_topics(timeout=ENOUGH_S).topics)

    def topic_id(self, name: str) -> str:
        """As Kafka writes it: librdkafka has other letters for two of the 64."""
        told = self.admin.describe_topics(TopicCollection([name]))[name].result()
        return str(told.topic_id).translate(str.maketrans("+/", "-_"))

    def commit(self, group: str, **offsets: int) -> None:
        """`p0=5`: the offset 5 of partition 0, committed by nobody in particular."""
        consumer = self._consumer(group)
        consumer.commit(offsets=_positions(offsets), asynchronous=False)
        consumer.close()

    @contextmanager
    def member(self, group: str, **config: str) -> Iterator[None]:
        """A member that has joined, as long as the block goes on."""
        consumer = self._consumer(group, **config)
        consumer.subscribe([TOPIC])
        end = time.monotonic() + ENOUGH_S
        while not consumer.assignment() and time.monotonic() < end:
            consumer.poll(0.1)
        consumer.commit(offsets=_positions({"p2": 4}), asynchronous=False)
        try:
            yield
        finally:
            consumer.close()

    def begin(self, group: str, **offsets: int) -> Producer:
        """A transaction with these offsets that somebody has to end."""
        producer = Producer({**self._config, "transactional.id": f"of-{group}-{offsets}"})
        producer.init_transactions(ENOUGH_S)
        producer.begin_transaction()
        if offsets:
            consumer = self._consumer(group)
            producer.send_offsets_to_transaction(
                _positions(offsets), consumer.consumer_group_metadata(), ENOUGH_S
            )
            consumer.close()
        return producer

    def allow(self, *rights: AclBinding) -> None:
        for future in self.admin.create_acls(list(rights)).values():
            future.result()

    def forbid(self, *rights: AclBinding) -> None:
        filters = [
            AclBindingFilter(
                each.restype, each.name, each.resource_pattern_type, each.principal, each.host,
                each.operation, each.permission_type,
            )
            for each in rights
        ]  # fmt: skip
        for future in self.admin.delete_acls(filters).values():
            future.result()

    def delete(self, group: str) -> None:
        self.admin.delete_consumer_groups([group])[group].result()

    def produce(self, topic: str, *records: dict[str, Any]) -> None:
        producer = Producer({**self._config, "queue.buffering.max.messages": 1_000_000})
        for record in records:
            producer.produce(topic, **record)
        assert producer.flush(ENOUGH_S) == 0

    def delete_records(self, topic: str, partition: int, before: int) -> None:
        where = TopicPartition(topic, partition, before)
        self.admin.delete_records([where])[where].result()

    def listed(self) -> dict[str, str]:
        found = self.admin.list_consumer_groups().result()
        assert not found.errors
        return {each.group_id: each.state.name for each in found.valid}

    def answers(self) -> Answers:
        states = self.listed()
        offsets = {}
        for group in states:
            asked = self.admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)])
            for each in asked[group].result().topic_partitions:
                assert each.topic == TOPIC
                offsets[group, each.partition] = each.offset
        return Answers(states, offsets)

    def _consumer(self, group: str, **config: str) -> Consumer:
        kafkas = {name.replace("_", "."): value for name, value in config.items()}
        own = {"group.id": group, "enable.auto.commit": False}
        return Consumer({**self._config, **own, **kafkas})


def right(user: str, kind: ResourceType, name: str, operation: AclOperation) -> AclBinding:
    literal, allow = ResourcePatternType.LITERAL, AclPermissionType.ALLOW
    return AclBinding(kind, name, literal, f"User:{user}", "*", operation, allow)


def _positions(offsets: dict[str, int]) -> list[TopicPartition]:
    return [TopicPartition(TOPIC, int(name[1:]), offset) for name, offset in offsets.items()]
