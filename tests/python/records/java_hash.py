"""Which partition of ``__consumer_offsets`` holds a group: Java's String.hashCode.

Source: ``GroupCoordinatorService.partitionFor``: ``Utils.abs(groupId.hashCode()) % partitions``,
where ``Utils.abs(Integer.MIN_VALUE)`` is 0. The hash runs over UTF-16 code units.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

_MIN_INT = -(2**31)


def java_hash(text: str) -> int:
    """Java's ``text.hashCode()``."""
    units = np.frombuffer(text.encode("utf-16-be", "surrogatepass"), ">u2").tolist()
    value = 0
    for unit in units:
        value = (31 * value + unit) & 0xFFFFFFFF
    return value - (1 << 32) if value >= 1 << 31 else value


def offsets_partition_index(group_id: str, partition_count: int) -> int:
    """The partition that holds the group's records."""
    value = java_hash(group_id)
    return (0 if value == _MIN_INT else abs(value)) % partition_count


def offsets_partition_indexes(group_ids: pa.Array, partition_count: int) -> pa.Array:
    """The same for a whole string array (null stays null); ids repeat, so each is hashed once."""
    encoded = group_ids.dictionary_encode()
    indexes = [
        None if text is None else offsets_partition_index(text, partition_count)
        for text in encoded.dictionary.to_pylist()
    ]
    return pa.array(indexes, pa.int32()).take(encoded.indices)
