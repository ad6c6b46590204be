"""A cluster read by librdkafka: the embedded reader of `moldau ingest`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from moldau.dumping.brokers import Cluster
from moldau.dumping.client_settings import ClientSettings
from moldau.dumping.consuming import Reader
from moldau.dumping.extents import extents_of, topic_id_of
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
        return extents_of(self._cluster, topic)

    def read(self, topic: str, spans: Sequence[Span]) -> Reader:
        return Reader(self._cluster, topic, spans, self._warn)
