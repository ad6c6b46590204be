"""What a record has around its key and value, as a line of a file tells it."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable

import pyarrow as pa
import pyarrow.compute as pc

CREATE_TIME, LOG_APPEND_TIME = "CreateTime", "LogAppendTime"
NO_TIMESTAMP = -1
_BY_NUMBER = pa.array([CREATE_TIME, LOG_APPEND_TIME])

Header = tuple[str, bytes | None]


def timestamp_types(numbers: pa.Array) -> pa.Array:
    """Kafka's numbers of a timestamp type as its names; any other = the record has no timestamp."""
    known = pc.is_in(numbers, pa.array([0, 1], numbers.type))
    return _BY_NUMBER.take(pc.if_else(known, numbers, None).cast(pa.int32()))


def header_objects(headers: Iterable[Header]) -> list[dict[str, str | None]]:
    return [{"key": key, "value_base64": base64_text(value)} for key, value in headers]


def headers_text(headers: Iterable[Header]) -> str | None:
    """As JSON; null = there are none."""
    told = header_objects(headers)
    return json.dumps(told, ensure_ascii=False) if told else None


def base64_text(content: bytes | None) -> str | None:
    return None if content is None else b64encode(content).decode("ascii")
