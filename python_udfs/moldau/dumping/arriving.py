"""Records of a cluster as rows of a load, in the order in which they arrive."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, cast

import pyarrow as pa
from confluent_kafka import Message

from moldau.dumping.dumped_lines import headers_of, timestamp_type_of
from moldau.loading.shapes import RECORDS
from moldau.records.around import NO_TIMESTAMP, headers_text


def tables(batches: Iterable[list[Message]], rows: int) -> Iterator[pa.Table]:
    """Tables of `RECORDS.schema` with so many rows or some more."""
    gathered: list[Message] = []
    for batch in batches:
        gathered += batch
        if len(gathered) >= rows:
            yield _table(gathered)
            gathered = []
    if gathered:
        yield _table(gathered)


def _table(messages: list[Message]) -> pa.Table:
    types = [timestamp_type_of(message) for message in messages]
    times = [message.timestamp()[1] for message in messages]
    columns: dict[str, list[Any]] = {
        "topic_name": [message.topic() for message in messages],
        "partition_index": [message.partition() for message in messages],
        "log_offset": [message.offset() for message in messages],
        "recorded_at_ms": [
            NO_TIMESTAMP if kind is None else at_ms
            for kind, at_ms in zip(types, times, strict=True)
        ],
        "timestamp_type": types,
        "record_key": [message.key() for message in messages],
        "record_value": [message.value() for message in messages],
        "headers": [headers_text(headers_of(message)) for message in messages],
    }
    return cast("pa.Table", pa.Table.from_pydict(columns, schema=RECORDS.schema))
