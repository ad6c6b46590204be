"""A record as `load --kind records` takes it."""

from __future__ import annotations

from typing import Any, cast

from confluent_kafka import (
    TIMESTAMP_CREATE_TIME,
    TIMESTAMP_LOG_APPEND_TIME,
    TIMESTAMP_NOT_AVAILABLE,
    Message,
)

from moldau.records.around import (
    CREATE_TIME,
    LOG_APPEND_TIME,
    NO_TIMESTAMP,
    Header,
    base64_text,
    header_objects,
)

_TIMESTAMP_TYPES = {
    TIMESTAMP_NOT_AVAILABLE: None,
    TIMESTAMP_CREATE_TIME: CREATE_TIME,
    TIMESTAMP_LOG_APPEND_TIME: LOG_APPEND_TIME,
}


def row_of(message: Message) -> dict[str, Any]:
    """The fields of `loading.shapes.RECORDS`."""
    timestamp_type = timestamp_type_of(message)
    return {
        "topic": message.topic(),
        "partition": message.partition(),
        "offset": message.offset(),
        "timestamp_ms": NO_TIMESTAMP if timestamp_type is None else message.timestamp()[1],
        "timestamp_type": timestamp_type,
        "key_base64": base64_text(message.key()),
        "value_base64": base64_text(message.value()),
        "headers": header_objects(headers_of(message)),
    }


def timestamp_type_of(message: Message) -> str | None:
    """CreateTime or LogAppendTime; None = the record has no timestamp."""
    return _TIMESTAMP_TYPES[message.timestamp()[0]]


def headers_of(message: Message) -> list[Header]:
    return cast("list[Header]", message.headers() or [])
