"""A cluster read by librdkafka: the embedded reader of `moldau ingest`."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Mapping, Sequence

import pyarrow as pa

from moldau.dumping.arriving import tables
from moldau.dumping.brokers import Cluster
from moldau.dumping.client_settings import ClientSettings
from moldau.dumping.consuming import Reader
from moldau.dumping.extents import Extent, extents_of, topic_id_of
from moldau.warehouse.log_spans import Span


def connected(
    settings: ClientSettings, timeout: float, warn: Callable[[str], None]
) -> LibrdkafkaSource:
    """`timeout` in seconds: how long the cluster may be silent."""
    for warning in settings.warnings:
        warn(warning)
    return LibrdkafkaSource(Cluster(settings, timeout), settings.properties, warn)


class LibrdkafkaSource:
    """`warn` is told lines for a person."""

    def __init__(
        self, cluster: Cluster, properties: Mapping[str, str], warn: Callable[[str], None]
    ) -> None:
        self._cluster, self.properties, self._warn = cluster, properties, warn

    def topics(self) -> list[str]:
        return self._cluster.topics()

    def topic_id(self, topic: str) -> str | None:
        return topic_id_of(self._cluster, topic)

    def spans(self, topic: str) -> list[Span]:
        return [
            Span(topic, told.partition, told.topic_id, told.start, told.end,
                 log_start_offset=told.start, high_watermark=told.end + told.hidden)
            for told in extents_of(self._cluster, topic)
        ]  # fmt: skip

    def read(self, topic: str, spans: Sequence[Span]) -> LibrdkafkaReading:
        extents = [
            Extent(span.partition_index, span.start, span.end, span.high_watermark - span.end)
            for span in spans
        ]
        return LibrdkafkaReading(Reader(self._cluster, topic, extents, self._warn))


class LibrdkafkaReading:
    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def tables(self, rows: int) -> Generator[pa.Table, None, None]:
        with contextlib.closing(self._reader.batches()) as batches:
            yield from tables(batches, rows)

    def next_offset(self, span: Span) -> int:
        return self._reader.position.get(span.partition_index, span.end)
