"""The typed, flat columns that go to Delta: one row a record, in input order.

Pure functions of Arrow arrays, meant for Spark's mapInArrow. Fields that no column shows are
walked, so that the status is right, but never turned into values.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from moldau.records import families, statuses
from moldau.records.arrow_values import to_arrow
from moldau.records.columns import Ints, ListColumn
from moldau.records.decode import NO_VERSION, Decoded, decode
from moldau.records.flat_sources import (
    PARTITION_DELETE_STATES,
    SEGMENT_STATES,
    column_of,
    paths_of,
)
from moldau.records.scatter import Scatter
from moldau.records.topic_lists import TopicLists


def flat(
    family: str, keys: pa.Array, values: pa.Array, columns: Sequence[pa.Field]
) -> pa.RecordBatch:
    """The records of a family as the columns of its table that tell what a record says."""
    decoded = decode(family, keys, values)
    names = {column.name for column in columns}
    scatter = Scatter(len(decoded.status), is_zero_uuid_null=family == families.CONSUMER_OFFSETS)
    for block in decoded.key_blocks + decoded.value_blocks:
        for path in paths_of(block.column.layout):
            if (name := column_of(family, path)) in names:
                scatter.add(name, block, path)
    made = _of_every_record(decoded)
    if family == families.CONSUMER_OFFSETS:
        made |= _of_groups(decoded, scatter)
    elif family == families.REMOTE_LOG_METADATA:
        made |= _of_segments(decoded, scatter)
    arrays = [
        made[column.name].cast(column.type)
        if column.name in made
        else scatter.finish(column.name, column.type)
        for column in columns
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(columns))


def _of_every_record(decoded: Decoded) -> dict[str, pa.Array]:
    status = decoded.status.astype(np.int64)
    return {
        "record_type": _numbers(decoded.record_type),
        "record_name": _names(decoded),
        "value_version": _numbers(decoded.value_version),
        "decode_status": pa.array(statuses.STATUS_NAMES, pa.string()).take(pa.array(status)),
        "is_tombstone": pa.array(status == statuses.TOMBSTONE),
    }


def _of_groups(decoded: Decoded, scatter: Scatter) -> dict[str, pa.Array]:
    """Topics; into `scatter` the members of classic groups. No instant is there as -1."""
    topics = TopicLists(scatter.size)
    for block in decoded.value_blocks:
        topics.add(block)
        members = block.column.fields.get("members")
        if isinstance(members, ListColumn):
            count = members.count if block.good is None else members.count[block.good]
            scatter.numbers("member_count", block.good_rows(), count)
    for name in ("expire_at_ms", "state_at_ms"):
        if column := scatter.number_column(name):
            values, there = column
            there[values == -1] = False
    return {"subscribed_topics": topics.finish()}


def _of_segments(decoded: Decoded, scatter: Scatter) -> dict[str, pa.Array]:
    return {
        "segment_state": _state_names(scatter, "segment_state", SEGMENT_STATES),
        "partition_delete_state": _state_names(
            scatter, "partition_delete_state", PARTITION_DELETE_STATES
        ),
        "leader_epochs": _leader_epochs(decoded),
    }


def _numbers(values: Ints) -> pa.Array:
    missing = values == NO_VERSION
    return pa.array(values.astype(np.int32), pa.int32(), mask=missing if missing.any() else None)


def _names(decoded: Decoded) -> pa.Array:
    names = decoded.record_names()
    if list(names) == [NO_VERSION]:
        return pa.array([names[NO_VERSION]] * len(decoded.status), pa.string())
    # Types outside the table share one place, behind the last known type, that holds null.
    last = max(names) + 1
    known = np.where((decoded.record_type < 0) | (decoded.record_type > last), last, 0)
    code = np.where(known == last, last, decoded.record_type)
    return pa.array([names.get(number) for number in range(last + 1)], pa.string()).take(
        pa.array(code)
    )


def _state_names(scatter: Scatter, column: str, names: tuple[str, ...]) -> pa.Array:
    """Kafka's name of a state; a number it does not have is kept as UNKNOWN_n."""
    numbers = scatter.number_column(column)
    if numbers is None:
        return pa.nulls(scatter.size, pa.string())
    texts = {
        number: names[number] if 0 <= number < len(names) else f"UNKNOWN_{number}"
        for number in np.unique(numbers[0]).tolist()
    }
    pairs = zip(numbers[0].tolist(), numbers[1].tolist(), strict=True)
    return pa.array([texts[number] if there else None for number, there in pairs], pa.string())


def _leader_epochs(decoded: Decoded) -> pa.Array:
    """Long records stand in a block of their own, so there may be several with this field."""
    size = len(decoded.status)
    slots = np.full(size, -1, np.int64)
    found: list[pa.Array] = []
    for block in decoded.value_blocks:
        column = block.column.fields.get("segmentLeaderEpochs")
        if column is None:
            continue
        slot = next(s for s in block.column.layout.fields if s.name == "segmentLeaderEpochs")
        lists = to_arrow(block.buffer, slot, column)
        renamed = pa.StructArray.from_arrays(
            lists.values.flatten(), names=["leader_epoch", "start_offset"]
        )
        places = np.arange(len(block.rows)) if block.good is None else block.good
        slots[block.good_rows()] = sum(map(len, found)) + places
        found.append(pa.ListArray.from_arrays(lists.offsets, renamed))
    if not found:
        return pa.nulls(size)
    return pa.concat_arrays(found).take(pa.array(slots, mask=slots < 0))
