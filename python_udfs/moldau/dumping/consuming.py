"""Read every record of a topic that lies within given spans, once."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Generator, Sequence

import pyarrow as pa
from confluent_kafka import Consumer, KafkaError, Message, TopicPartition

from moldau.dumping.brokers import Cluster
from moldau.dumping.extents import starts_of
from moldau.dumping.messages import tables
from moldau.errors import MoldauError
from moldau.sessions import shutdown
from moldau.warehouse.log_spans import Span

_BATCH = 500
_WAIT_S = 0.1
# of one partition, and no matter of waiting
_EOF, _OUT_OF_RANGE = KafkaError._PARTITION_EOF, KafkaError._AUTO_OFFSET_RESET


class Reader:
    """Reads by `assign`; `position` is the next offset of each partition that is not done."""

    def __init__(
        self, cluster: Cluster, topic: str, spans: Sequence[Span], warn: Callable[[str], None]
    ) -> None:
        self._cluster = cluster
        self._topic = topic
        self._warn = warn
        self._ends = {each.partition_index: each.end for each in spans}
        self.position = {
            each.partition_index: each.start for each in spans if each.start < each.end
        }
        self._fetched = -1
        self._moved_at = 0.0

    def batches(self) -> Generator[list[Message], None, None]:
        """Records of all partitions, each partition in the order of its log."""
        if not self.position:
            return
        consumer = self._cluster.consumer(self._note_statistics)
        try:
            consumer.assign([TopicPartition(self._topic, *each) for each in self.position.items()])
            self._moved_at = time.monotonic()
            while self.position:
                told = consumer.consume(_BATCH, _WAIT_S)
                records = [message for message in told if self._is_wanted(consumer, message)]
                if records:
                    yield records
                    # however long it took to write them
                    self._moved_at = time.monotonic()
                self._cluster.check_hope()
                shutdown.check()
                if time.monotonic() - self._moved_at > self._cluster.timeout:
                    raise self._cluster.silent(self._whereabouts())
        finally:
            consumer.close()

    def tables(self, rows: int) -> Generator[pa.Table, None, None]:
        """The same as `moldau.warehouse.log_spans.Reading` has it."""
        with contextlib.closing(self.batches()) as batches:
            yield from tables(batches, rows)

    def next_offset(self, span: Span) -> int:
        return self.position.get(span.partition_index, span.end)

    def remaining(self) -> int:
        """Offsets that are still to come."""
        return sum(self._ends[partition] - at for partition, at in self.position.items())

    def _is_wanted(self, consumer: Consumer, message: Message) -> bool:
        error, partition, offset = message.error(), message.partition(), message.offset()
        if error is not None and error.code() not in (_EOF, _OUT_OF_RANGE):
            self._note(error, message)
            return False
        if partition not in self.position:
            return False
        if error is not None and error.code() == _OUT_OF_RANGE:
            self._go_on_behind_the_gap(consumer, partition)
            return False
        assert offset is not None
        is_record = error is None
        is_inside = offset < self._ends[partition]
        # the last offsets of a span may be markers of transactions, which nobody is given:
        # then the end of the log, or a record behind the span, says that it is done
        self._move(consumer, partition, offset + 1 if is_record else offset)
        return is_record and is_inside

    def _move(self, consumer: Consumer, partition: int, offset: int) -> None:
        self._moved_at = time.monotonic()
        if offset < self._ends[partition]:
            self.position[partition] = offset
        else:
            del self.position[partition]
            consumer.pause([TopicPartition(self._topic, partition)])

    def _go_on_behind_the_gap(self, consumer: Consumer, partition: int) -> None:
        """The log begins later than it did: retention or a DeleteRecords request took records."""
        start = starts_of(self._cluster, self._topic, [partition])[partition]
        here = self.position[partition]
        if start <= here:
            raise MoldauError(f"{self._topic}-{partition} ends before offset {here} now: dump anew")
        self._warn(
            f"{self._topic}-{partition}: the records from offset {here} to {start - 1} were "
            "deleted before they were read"
        )
        self._move(consumer, partition, start)
        if partition in self.position:
            # its fetcher has stopped: a seek would be refused
            consumer.incremental_unassign([TopicPartition(self._topic, partition)])
            consumer.incremental_assign([TopicPartition(self._topic, partition, start)])

    def _note(self, error: KafkaError, message: Message) -> None:
        """Of a partition that is read: the end. What is said of the group concerns nobody."""
        # a message about the group has no topic, and a partition 0 all the same
        if message.topic() is not None and message.partition() in self.position:
            raise self._cluster.refused(f"{self._topic}-{message.partition()}", error)
        if error.code() != KafkaError.GROUP_AUTHORIZATION_FAILED:
            self._cluster.note(error)

    def _note_statistics(self, text: str) -> None:
        """A fetch that brings only what is not delivered, aborted records, is progress, too."""
        topics = json.loads(text).get("topics", {})
        partitions = topics.get(self._topic, {}).get("partitions", {})
        fetched = sum(max(0, each.get("next_offset", 0)) for each in partitions.values())
        if fetched != self._fetched:
            self._fetched, self._moved_at = fetched, time.monotonic()

    def _whereabouts(self) -> str:
        partition, offset = min(self.position.items())
        return f" at {self._topic}-{partition}, offset {offset} of {self._ends[partition]}"
