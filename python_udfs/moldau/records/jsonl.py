"""Records as dicts for JSON lines, with the field names of Kafka's own schema files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from moldau.records import statuses
from moldau.records.around import base64_text
from moldau.records.decode import NO_VERSION, Block, decode
from moldau.records.families import family_of
from moldau.records.layout import Slot, StructLayout
from moldau.records.printed_records import uuid_text


def _json_struct(layout: StructLayout, value: dict[str, Any]) -> dict[str, Any]:
    return {slot.name: _json_value(slot, value[slot.name]) for slot in layout.fields}


def _json_value(slot: Slot, value: Any) -> Any:
    if value is None:
        return None
    if isinstance(value, list):
        return [_json_value(slot, element) for element in value]
    if slot.struct is not None:
        return _json_struct(slot.struct, value)
    if slot.kind == "uuid":
        return uuid_text(value)
    if slot.kind == "bytes":
        return base64_text(value)
    return value


def json_messages(blocks: list[Block]) -> dict[int, dict[str, Any]]:
    """The decoded messages of some blocks by row, ready for JSON."""
    messages: dict[int, dict[str, Any]] = {}
    for block in blocks:
        layout = block.column.layout
        for row, value in zip(
            block.good_rows().tolist(), block.to_arrow().to_pylist(), strict=True
        ):
            messages[row] = _json_struct(layout, value)
    return messages


def _or_none(number: int) -> int | None:
    return None if number == NO_VERSION else number


def to_json_rows(
    topic_name: str, partition: pa.Array, offset: pa.Array, keys: pa.Array, values: pa.Array
) -> Iterator[dict[str, Any]]:
    """One dict a record, in input order.

    Tagged fields at their default are included (Kafka's own converters leave them out). Tags this
    version does not know stand under ``unknown_tags``, which is there only when there are any.
    """
    family = family_of(topic_name)
    if family is None:
        raise ValueError(f"{topic_name} is not an internal topic this decoder knows")
    decoded = decode(family, keys, values)
    names = decoded.record_names()
    key_by_row = json_messages(decoded.key_blocks)
    value_by_row = json_messages(decoded.value_blocks)
    unknown = decoded.unknown_tags()
    partitions, offsets = partition.to_pylist(), offset.to_pylist()
    for row, status in enumerate(decoded.status.tolist()):
        number = int(decoded.record_type[row])
        line = {
            "topic": topic_name,
            "partition": partitions[row],
            "offset": offsets[row],
            "record_type": _or_none(number),
            "record_name": names.get(number),
            "value_version": _or_none(int(decoded.value_version[row])),
            "decode_status": statuses.STATUS_NAMES[status],
            "key": key_by_row.get(row),
            "value": value_by_row.get(row),
        }
        if row in unknown:
            line["unknown_tags"] = unknown[row]
        yield line
