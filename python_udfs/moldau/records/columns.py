"""Where decoded values stand in the buffer: positions now, values only when somebody asks.

Walking a message yields these columns. They hold byte positions (int64 arrays, one entry a slot),
so a reader that needs three fields of a record never pays for the other twenty. Slots of broken
rows hold garbage positions that are safe to read; whoever turns columns into values drops them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from moldau.records.layout import StructLayout

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Bytes = npt.NDArray[np.uint8]

PADDING = 256
"""Broken rows read at position 0; the widest run of fixed fields fits into this many bytes."""

NUMPY_KINDS: dict[str, str] = {
    "bool": "u1",
    "int8": "i1",
    "int16": ">i2",
    "uint16": ">u2",
    "int32": ">i4",
    "int64": ">i8",
    "uuid": "V16",
}


@dataclass(slots=True)
class FixedColumn:
    """Values of fixed size: the value of slot i starts at ``base[i] + offset``."""

    kind: str
    base: Ints
    offset: int = 0


@dataclass(slots=True)
class SpanColumn:
    """Strings or bytes: ``size`` -1 means null."""

    kind: str
    at: Ints
    size: Ints


@dataclass(slots=True)
class FixedListColumn:
    """Arrays of fixed-size elements, which stand side by side: count -1 means null."""

    kind: str
    at: Ints
    count: Ints


@dataclass(slots=True)
class ListColumn:
    """Arrays of anything else.

    Chunk k holds element k of the slots that have one; or a single chunk holds all elements, and
    its slots name each slot once an element.
    """

    count: Ints
    chunks: list[tuple[Ints, Column]]


@dataclass(slots=True)
class StructColumn:
    """A struct that is there in every slot; a tagged field's column is a SparseColumn."""

    layout: StructLayout
    fields: dict[str, Column]


@dataclass(slots=True)
class SparseColumn:
    """Values for some slots only; the others hold ``default`` (None = null).

    Of two parts that name the same slot the later one wins, as in Kafka's reader.
    """

    size: int
    parts: list[tuple[Ints, Column]]
    default: object


Column = FixedColumn | SpanColumn | FixedListColumn | ListColumn | StructColumn | SparseColumn


def gather(buffer: Bytes, kind: str, at: Ints) -> npt.NDArray[Any]:
    """Read one fixed-size value at each position, in the machine's byte order.

    The view has one overlapping entry a byte, so that a single fancy index does the work; this is
    three times as fast as putting a number together from its bytes.
    """
    dtype = np.dtype(NUMPY_KINDS[kind])
    shape = (len(buffer) - dtype.itemsize + 1,)
    view: npt.NDArray[Any] = np.ndarray(shape, dtype, buffer, strides=(1,))
    taken = view[at]
    return taken if kind == "uuid" else taken.astype(dtype.newbyteorder("="), copy=False)
