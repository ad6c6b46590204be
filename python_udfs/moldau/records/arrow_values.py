"""From positions to Arrow arrays.

Strings are not gathered byte by byte: an Arrow array over the record buffer itself is laid out,
whose even entries are the wanted spans and whose odd entries are the gaps between them, and Arrow
takes the even ones. That works because positions rise from row to row.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from moldau.records.columns import (
    Bytes,
    Column,
    FixedColumn,
    FixedListColumn,
    Ints,
    ListColumn,
    SpanColumn,
    SparseColumn,
    StructColumn,
    gather,
)
from moldau.records.layout import Slot, StructLayout
from moldau.records.printed_records import to_text
from moldau.records.wire_schema import FIXED_WIDTHS

_ARROW_TYPES: dict[str, Any] = {
    "bool": pa.bool_(),
    "int8": pa.int8(),
    "int16": pa.int16(),
    "uint16": pa.uint16(),
    "int32": pa.int32(),
    "int64": pa.int64(),
    "uuid": pa.binary(16),
    "string": pa.string(),
    "bytes": pa.binary(),
}


def slot_type(slot: Slot) -> pa.DataType:
    """The Arrow type of a field."""
    base = _ARROW_TYPES[slot.kind] if slot.struct is None else struct_type(slot.struct)
    return pa.list_(base) if slot.is_array else base


def struct_type(layout: StructLayout) -> pa.DataType:
    return pa.struct([pa.field(slot.name, slot_type(slot)) for slot in layout.fields])


def spans(buffer: Bytes, at: Ints, size: Ints) -> pa.Array:
    """The bytes at ``at`` of length ``size``; -1 is null. Positions must not fall, save broken ones
    (size <= 0 there)."""
    n = len(at)
    width = np.maximum(size, 0)
    edges = np.empty(2 * n + 1, np.int32)
    edges[0:-1:2] = at
    edges[1::2] = at + width
    edges[-1] = edges[-2] if n else 0
    if n and (edges[1:] < edges[:-1]).any():
        np.maximum.accumulate(edges, out=edges)
    pairs = pa.Array.from_buffers(
        pa.binary(), 2 * n, [None, pa.py_buffer(edges), pa.py_buffer(buffer)]
    )
    null = size < 0
    even = pa.array(np.arange(0, 2 * n, 2), mask=null if null.any() else None)
    return pairs.take(even)


def fixed(buffer: Bytes, kind: str, at: Ints) -> pa.Array:
    values = gather(buffer, kind, at)
    if kind == "uuid":
        data = pa.py_buffer(np.ascontiguousarray(values))
        return pa.Array.from_buffers(pa.binary(16), len(at), [None, data])
    return pa.array(values != 0 if kind == "bool" else values, _ARROW_TYPES[kind])


def offsets_of(count: Ints) -> pa.Array:
    """List offsets; a null offset makes a null list."""
    edges = np.zeros(len(count) + 1, np.int32)
    np.cumsum(np.maximum(count, 0), out=edges[1:])
    null = np.append(count < 0, False)
    return pa.array(edges, pa.int32(), mask=null if null.any() else None)


def ragged(at: Ints, count: Ints, width: int) -> Ints:
    """The positions of all elements of arrays whose elements stand side by side."""
    count = np.maximum(count, 0)
    first = np.cumsum(count) - count
    ordinal = np.arange(int(count.sum()), dtype=np.int64) - np.repeat(first, count)
    return np.repeat(at, count) + ordinal * width


def _list(buffer: Bytes, slot: Slot, column: ListColumn) -> pa.Array:
    element_type = slot_type(slot).value_type
    n = len(column.count)
    got = np.zeros(n, np.int64)
    for slots, _ in column.chunks:
        got += np.bincount(slots, minlength=n)
    first = np.cumsum(got) - got
    total = int(got.sum())
    chunks = [to_arrow(buffer, slot, c) for _, c in column.chunks]
    values = pa.concat_arrays(chunks) if chunks else pa.array([], element_type)
    if len(chunks) > 1:
        # Chunk k holds element k of each list: bring the elements of one list together.
        order = np.empty(total, np.int64)
        done = 0
        for ordinal, (slots, _) in enumerate(column.chunks):
            order[first[slots] + ordinal] = np.arange(done, done + len(slots))
            done += len(slots)
        values = values.take(pa.array(order))
    return pa.ListArray.from_arrays(offsets_of(np.where(column.count < 0, -1, got)), values)


def _sparse(buffer: Bytes, slot: Slot, column: SparseColumn, arrow: pa.DataType) -> pa.Array:
    index = np.full(column.size, -1 if column.default is None else 0, np.int64)
    arrays = [] if column.default is None else [pa.array([column.default], arrow)]
    done = len(arrays)
    for slots, part in column.parts:
        index[slots] = np.arange(done, done + len(slots))
        done += len(slots)
        arrays.append(to_arrow(buffer, slot, part))
    values = pa.concat_arrays(arrays) if arrays else pa.nulls(0, arrow)
    return values.take(pa.array(index, mask=index < 0))


def to_arrow(buffer: Bytes, slot: Slot, column: Column) -> pa.Array:
    """The values of a column: those of the field, or, of an array, its elements."""
    if isinstance(column, FixedColumn):
        return fixed(buffer, column.kind, column.base + column.offset)
    if isinstance(column, SpanColumn):
        data = spans(buffer, column.at, column.size)
        return to_text(data) if column.kind == "string" else data
    if isinstance(column, FixedListColumn):
        at = ragged(column.at, column.count, FIXED_WIDTHS[column.kind])
        values = fixed(buffer, column.kind, at)
        return pa.ListArray.from_arrays(offsets_of(column.count), values)
    if isinstance(column, ListColumn):
        return _list(buffer, slot, column)
    if isinstance(column, SparseColumn):
        return _sparse(buffer, slot, column, slot_type(slot))
    return struct_to_arrow(buffer, column)


def struct_to_arrow(buffer: Bytes, column: StructColumn) -> pa.Array:
    """A struct with its fields in the order of Kafka's schema file."""
    fields = [pa.field(slot.name, slot_type(slot)) for slot in column.layout.fields]
    arrays = [to_arrow(buffer, slot, column.fields[slot.name]) for slot in column.layout.fields]
    return pa.StructArray.from_arrays(arrays, fields=fields)
