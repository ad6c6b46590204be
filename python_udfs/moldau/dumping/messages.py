"""Records as librdkafka gives them: as lines that `load --kind records` takes, and as rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, cast

import pyarrow as pa
from confluent_kafka import (
    TIMESTAMP_CREATE_TIME,
    TIMESTAMP_LOG_APPEND_TIME,
    TIMESTAMP_NOT_AVAILABLE,
    Message,
)

from moldau.loading.shapes import RECORDS
from moldau.records.around import (
    CREATE_TIME,
    LOG_APPEND_TIME,
    NO_TIMESTAMP,
    Header,
    base64_text,
    header_objects,
    headers_text,
)

_TIMESTAMP_TYPES = {
    TIMESTAMP_NOT_AVAILABLE: None,
    TIMESTAMP_CREATE_TIME: CREATE_TIME,
    TIMESTAMP_LOG_APPEND_TIME: LOG_APPEND_TIME,
}


def row_of(message: Message) -> dict[str, Any]:
    """The fields of `loading.shapes.RECORDS`."""
    timestamp_type = _timestamp_type(message)
    return {
        "topic": message.topic(),
        "partition": message.partition(),
        "offset": message.offset(),
        "timestamp_ms": NO_TIMESTAMP if timestamp_type is None else message.timestamp()[1],
        "timestamp_type": timestamp_type,
        "key_base64": base64_text(message.key()),
        "value_base64": base64_text(message.value()),
        "headers": header_objects(_headers(message)),
    }


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
    types = [_timestamp_type(message) for message in messages]
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
        "headers": [headers_text(_headers(message)) for message in messages],
    }
    return cast("pa.Table", pa.Table.from_pydict(columns, schema=RECORDS.schema))


def _timestamp_type(message: Message) -> str | None:
    """CreateTime or LogAppendTime; None = the record has no timestamp."""
    return _TIMESTAMP_TYPES[message.timestamp()[0]]


def _headers(message: Message) -> list[Header]:
    return cast("list[Header]", message.headers() or [])
