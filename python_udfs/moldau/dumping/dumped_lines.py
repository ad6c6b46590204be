"""A record as `load --kind records` takes it."""

from __future__ import annotations

from base64 import b64encode
from typing import Any, cast

from confluent_kafka import (
    TIMESTAMP_CREATE_TIME,
    TIMESTAMP_LOG_APPEND_TIME,
    TIMESTAMP_NOT_AVAILABLE,
    Message,
)

_TIMESTAMP_TYPES = {
    TIMESTAMP_NOT_AVAILABLE: None,
    TIMESTAMP_CREATE_TIME: "CreateTime",
    TIMESTAMP_LOG_APPEND_TIME: "LogAppendTime",
}
NO_TIMESTAMP = -1


def row_of(message: Message) -> dict[str, Any]:
    """The fields of `loading.shapes.RECORDS`."""
    timestamp_type = timestamp_type_of(message)
    return {
        "topic": message.topic(),
        "partition": message.partition(),
        "offset": message.offset(),
        "timestamp_ms": NO_TIMESTAMP if timestamp_type is None else message.timestamp()[1],
        "timestamp_type": timestamp_type,
        "key_base64": _base64(message.key()),
        "value_base64": _base64(message.value()),
        "headers": headers_of(message),
    }


def timestamp_type_of(message: Message) -> str | None:
    """CreateTime or LogAppendTime; None = the record has no timestamp."""
    return _TIMESTAMP_TYPES[message.timestamp()[0]]


def headers_of(message: Message) -> list[dict[str, str | None]]:
    told = cast("list[tuple[str, bytes | None]]", message.headers() or [])
    return [{"key": key, "value_base64": _base64(value)} for key, value in told]


def _base64(content: Any) -> str | None:
    return None if content is None else b64encode(content).decode("ascii")
