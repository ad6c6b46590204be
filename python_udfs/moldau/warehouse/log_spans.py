"""What a live cluster has to read, and what reads it."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from moldau.errors import MoldauError

if TYPE_CHECKING:
    import pyarrow as pa


class Unreadable(MoldauError):
    """One topic, or a partition of it: others may be read all the same."""


@dataclass(frozen=True)
class Span:
    """Offsets of a partition: those from `start` to below `end`, the last stable offset.

    `log_start_offset` and `high_watermark`: what the log held when the cluster was asked."""

    topic_name: str
    partition_index: int
    topic_id: str
    start: int
    end: int
    log_start_offset: int
    high_watermark: int

    @property
    def name(self) -> str:
        return f"{self.topic_name}-{self.partition_index}"

    @property
    def hidden(self) -> int:
        """Offsets behind the end, which an open transaction holds back."""
        return self.high_watermark - self.end


class Reading(Protocol):
    """Of spans of one topic."""

    def tables(self, rows: int) -> Generator[pa.Table, None, None]:
        """Committed records of the spans, each once, with `RECORDS.schema`; may be closed early.

        `rows`: so many at once, or some more."""
        ...

    def next_offset(self, span: Span) -> int:
        """The first offset of the span that no table had yet: its end when all were given."""
        ...


class Source(Protocol):
    """A live cluster. MoldauError in one line when it is silent or refuses."""

    properties: Mapping[str, str]
    """How a Java client reaches it and logs in, by Kafka's names."""

    def topics(self) -> list[str]:
        """All that it shows."""
        ...

    def topic_id(self, topic: str) -> str | None:
        """ "" = there is no such topic; null = the client may not see whether there is."""
        ...

    def spans(self, topic: str) -> list[Span]:
        """Every partition from the start of its log, by number; Unreadable where it is refused."""
        ...

    def read(self, topic: str, spans: Sequence[Span]) -> Reading: ...
