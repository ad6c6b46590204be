"""The messages inside the bytes of classic members: subscriptions and assignments.

An int16 version, then a message that is never flexible. Versions above the newest one known are
read as that one and the rest is ignored; a negative version is refused (``ConsumerProtocol``). Only
for members of groups whose protocol type is "consumer": other protocols have their own layout.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from moldau.records.arrow_values import struct_to_arrow, struct_type
from moldau.records.buffers import RecordBytes
from moldau.records.definitions import CONSUMER_PROTOCOL_MESSAGES
from moldau.records.layout import layout_of
from moldau.records.walk import UnknownTags
from moldau.records.walk_long import walk_rows


def read_subscriptions(data: pa.Array) -> tuple[pa.Array, pa.StructArray]:
    """Versions (null: none read) and ConsumerProtocolSubscription structs (null: broken bytes)."""
    return _read("ConsumerProtocolSubscription", data)


def read_assignments(data: pa.Array) -> tuple[pa.Array, pa.StructArray]:
    """Versions (null: none read) and ConsumerProtocolAssignment structs (null: broken bytes)."""
    return _read("ConsumerProtocolAssignment", data)


def _read(name: str, data: pa.Array) -> tuple[pa.Array, pa.StructArray]:
    message = CONSUMER_PROTOCOL_MESSAGES[name]
    newest = message.valid.high
    source = RecordBytes.of(data)
    cur = source.cursors(np.arange(len(source), dtype=np.int64))
    cur.poison(source.null)
    versions = cur.number("int16", 2)
    cur.poison(versions < 0)
    there = cur.alive()
    schema = struct_type(layout_of(message, newest))
    parts = [pa.nulls(0, schema)]
    place = np.full(len(source), -1, np.int64)
    done = 0
    for version in range(newest + 1):
        slots = np.flatnonzero(there & (np.minimum(versions, newest) == version))
        layout = layout_of(message, version)
        for part, sub, column in walk_rows(layout, cur.at(slots), UnknownTags()):
            walked, right = slots if part is None else slots[part], sub.alive()
            place[walked[right]] = done + np.flatnonzero(right)
            done += len(walked)
            # Older versions lack fields of the newest: they are null there.
            parts.append(_widen(struct_to_arrow(source.buffer, column), schema))
    values = pa.concat_arrays(parts).take(pa.array(place, mask=place < 0))
    return pa.array(versions.astype(np.int16), pa.int16(), mask=~there), values


def _widen(array: pa.StructArray, schema: pa.StructType) -> pa.StructArray:
    have = {field.name for field in array.type}
    arrays = [
        array.field(field.name) if field.name in have else pa.nulls(len(array), field.type)
        for field in schema
    ]
    return pa.StructArray.from_arrays(arrays, fields=list(schema))
