"""The bytes of a binary Arrow array as numpy sees them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from moldau.records.columns import PADDING, Bools, Bytes, Ints
from moldau.records.cursors import Cursors


@dataclass(slots=True)
class RecordBytes:
    """One buffer, with each row's start and end in it."""

    buffer: Bytes
    start: Ints
    end: Ints
    null: Bools
    has_nulls: bool

    def __len__(self) -> int:
        return len(self.start)

    @classmethod
    def of(cls, array: pa.Array | pa.ChunkedArray) -> RecordBytes:
        """Take binary, large binary or an all-null array, sliced or in chunks, without copying."""
        if isinstance(array, pa.ChunkedArray):
            array = array.combine_chunks()
        if array.type != pa.binary():
            array = array.cast(pa.binary())
        n = len(array)
        _, offset_buffer, data_buffer = array.buffers()
        if n == 0 or offset_buffer is None:
            edges = np.zeros(n + 1, np.int64)
        else:
            offsets = np.frombuffer(offset_buffer, np.int32)
            edges = offsets[array.offset : array.offset + n + 1].astype(np.int64)
        if data_buffer is None:
            buffer = np.zeros(PADDING, np.uint8)
        else:
            buffer = np.frombuffer(data_buffer, np.uint8)
        if len(buffer) < PADDING:
            buffer = np.concatenate([buffer, np.zeros(PADDING - len(buffer), np.uint8)])
        has_nulls = array.null_count > 0
        if has_nulls:
            null = array.is_null().to_numpy(zero_copy_only=False)
        else:
            null = np.zeros(n, np.bool_)
        return cls(buffer, edges[:-1], edges[1:], null, has_nulls)

    def cursors(self, rows: Ints) -> Cursors:
        """Fresh cursors for some rows (their own copies: cursors write into their arrays)."""
        return Cursors(self.buffer, self.start[rows], self.end[rows], rows)
