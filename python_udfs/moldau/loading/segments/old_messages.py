"""Messages of magic 0 and 1, as brokers before Kafka 0.11 wrote them, one by one.

`LegacyRecord` of Kafka: CRC, magic, attributes, of magic 1 a timestamp, key, value. A compressed
one holds messages: those of magic 0 have their offsets, those of magic 1 count to the offset of
the last one, which is that of the message around them (`AbstractLegacyRecordBatch`).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

import pyarrow as pa

from moldau.loading.segments.batches import CODEC, LOG_APPEND_TIME, OLD_BODY, OVERHEAD
from moldau.loading.segments.codecs import Seen, unpacked
from moldau.loading.shapes import RECORDS
from moldau.records import around
from moldau.records.around import NO_TIMESTAMP

_INT32, _INT64 = struct.Struct(">i").unpack_from, struct.Struct(">q").unpack_from


class Message(NamedTuple):
    offset: int
    timestamp_ms: int
    attributes: int
    key: bytes | None
    value: bytes | None


def messages_of(content: bytes, seen: Seen) -> list[Message]:
    """Those of one batch, which is a message or one around others; ValueError if it is malformed.

    `seen`: as of `codecs.unpacked`.
    """
    try:
        [outer] = _messages(content)
        codec = outer.attributes & CODEC
        if not codec:
            return [outer]
        if outer.value is None:
            raise ValueError("it is compressed, and has no value")
        inner = list(_messages(unpacked(codec, outer.value, seen, is_old=True)))
    except (struct.error, IndexError):
        raise ValueError("one of its messages is malformed") from None
    if any(message.attributes & CODEC for message in inner):
        raise ValueError("one of its messages is compressed within a compressed one")
    if content[OLD_BODY] == 0 or not inner:
        return inner
    base = outer.offset - inner[-1].offset
    return [_placed(message, base, outer) for message in inner]


def _placed(message: Message, base: int, outer: Message) -> Message:
    placed = message._replace(offset=base + message.offset)
    if outer.attributes & LOG_APPEND_TIME:
        return placed._replace(timestamp_ms=outer.timestamp_ms, attributes=LOG_APPEND_TIME)
    return placed


def table_of(messages: list[Message], topic: str, partition: int) -> pa.Table:
    """Rows of RECORDS."""
    columns = {
        "topic_name": [topic] * len(messages),
        "partition_index": [partition] * len(messages),
        "log_offset": [message.offset for message in messages],
        "recorded_at_ms": [message.timestamp_ms for message in messages],
        "timestamp_type": [_type(message) for message in messages],
        "record_key": [message.key for message in messages],
        "record_value": [message.value for message in messages],
        "headers": [None] * len(messages),
    }
    return pa.table(columns, schema=RECORDS.schema)


def _type(message: Message) -> str | None:
    if message.timestamp_ms == NO_TIMESTAMP:
        return None
    return around.LOG_APPEND_TIME if message.attributes & LOG_APPEND_TIME else around.CREATE_TIME


def _messages(content: bytes) -> Iterator[Message]:
    at = 0
    while at < len(content):
        end = at + OVERHEAD + _INT32(content, at + 8)[0]
        magic, attributes = content[at + OLD_BODY], content[at + OLD_BODY + 1]
        if magic > 1 or end > len(content):
            raise IndexError
        key_at = at + OLD_BODY + 2 + 8 * magic
        timestamp_ms = _INT64(content, key_at - 8)[0] if magic else NO_TIMESTAMP
        key, value_at = _counted(content, key_at)
        value, after = _counted(content, value_at)
        offset = _INT64(content, at)[0]
        if after != end or offset < 0 or timestamp_ms < NO_TIMESTAMP:
            raise IndexError
        yield Message(offset, timestamp_ms, attributes, key, value)
        at = end


def _counted(content: bytes, at: int) -> tuple[bytes | None, int]:
    size = _INT32(content, at)[0]
    at += 4
    if size < 0:
        return None, at
    return content[at : at + size], at + size
