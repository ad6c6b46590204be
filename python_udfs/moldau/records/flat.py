"""The typed, flat columns that go to Delta: one row a record, in input order.

Pure functions of Arrow arrays, meant for Spark's mapInArrow. Fields that no column shows are
walked, so that the status is right, but never turned into values.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from moldau.records import families, statuses
from moldau.records.arrow_values import to_arrow
from moldau.records.columns import Ints, ListColumn
from moldau.records.decode import NO_VERSION, Decoded, decode
from moldau.records.flat_schemas import (
    CHECKPOINTS,
    GROUP_RECORDS,
    HEARTBEATS,
    LEADER_EPOCHS,
    OFFSET_SYNCS,
    REMOTE_LOG_RECORDS,
)
from moldau.records.flat_sources import (
    FIXED_SOURCES,
    GROUP_KEY_SOURCES,
    GROUP_VALUE_SOURCES,
    PARTITION_DELETE_STATES,
    SEGMENT_STATES,
)
from moldau.records.scatter import Scatter
from moldau.records.topic_lists import TopicLists

_ABSENT_AS_NULL = ("expire_at_ms", "state_at_ms")


def group_records(keys: pa.Array, values: pa.Array) -> pa.RecordBatch:
    """``__consumer_offsets`` records as GROUP_RECORDS."""
    decoded = decode(families.CONSUMER_OFFSETS, keys, values)
    size = len(decoded.status)
    scatter, topics = Scatter(size, is_zero_uuid_null=True), TopicLists(size)
    for block in decoded.key_blocks:
        for slot in block.column.layout.fields:
            scatter.add(GROUP_KEY_SOURCES[slot.name], block, slot.name)
    for block in decoded.value_blocks:
        assert block.record.number is not None
        for path, name in GROUP_VALUE_SOURCES[block.record.number].items():
            scatter.add(name, block, path)
        topics.add(block)
        if block.record.number == 2:
            members = block.column.fields["members"]
            assert isinstance(members, ListColumn)
            count = members.count if block.good is None else members.count[block.good]
            scatter.numbers("member_count", block.good_rows(), count)
    for name in _ABSENT_AS_NULL:
        column = scatter.number_column(name)
        if column is not None:
            column[1][column[0] == -1] = False
    return _batch(GROUP_RECORDS, decoded, scatter, {"subscribed_topics": topics.finish()})


def remote_log_records(keys: pa.Array, values: pa.Array) -> pa.RecordBatch:
    """``__remote_log_metadata`` records as REMOTE_LOG_RECORDS."""
    decoded = decode(families.REMOTE_LOG_METADATA, keys, values)
    scatter = _scatter_fixed(decoded)
    made = {
        "segment_state": _state_names(scatter, "segment_state", SEGMENT_STATES),
        "partition_delete_state": _state_names(
            scatter, "partition_delete_state", PARTITION_DELETE_STATES
        ),
        "leader_epochs": _leader_epochs(decoded),
    }
    return _batch(REMOTE_LOG_RECORDS, decoded, scatter, made)


def offset_syncs(keys: pa.Array, values: pa.Array) -> pa.RecordBatch:
    """MirrorMaker's offset syncs as OFFSET_SYNCS."""
    return _mirror(families.OFFSET_SYNCS, OFFSET_SYNCS, keys, values)


def checkpoints(keys: pa.Array, values: pa.Array) -> pa.RecordBatch:
    """MirrorMaker's checkpoints as CHECKPOINTS."""
    return _mirror(families.CHECKPOINTS, CHECKPOINTS, keys, values)


def heartbeats(keys: pa.Array, values: pa.Array) -> pa.RecordBatch:
    """MirrorMaker's heartbeats as HEARTBEATS."""
    return _mirror(families.HEARTBEATS, HEARTBEATS, keys, values)


FLAT: dict[str, tuple[pa.Schema, Callable[[pa.Array, pa.Array], pa.RecordBatch]]] = {
    families.CONSUMER_OFFSETS: (GROUP_RECORDS, group_records),
    families.REMOTE_LOG_METADATA: (REMOTE_LOG_RECORDS, remote_log_records),
    families.OFFSET_SYNCS: (OFFSET_SYNCS, offset_syncs),
    families.CHECKPOINTS: (CHECKPOINTS, checkpoints),
    families.HEARTBEATS: (HEARTBEATS, heartbeats),
}
"""By family: the schema and the function that makes it."""


def _mirror(family: str, schema: pa.Schema, keys: pa.Array, values: pa.Array) -> pa.RecordBatch:
    decoded = decode(family, keys, values)
    return _batch(schema, decoded, _scatter_fixed(decoded), {})


def _scatter_fixed(decoded: Decoded) -> Scatter:
    scatter = Scatter(len(decoded.status))
    sources = FIXED_SOURCES[decoded.family.name]
    for block in decoded.key_blocks + decoded.value_blocks:
        for path, name in sources.items():
            if path.split(".")[0] in block.column.fields:
                scatter.add(name, block, path)
    return scatter


def _batch(
    schema: pa.Schema, decoded: Decoded, scatter: Scatter, made: dict[str, pa.Array]
) -> pa.RecordBatch:
    """Every column of the schema: the record's own facts, those made by hand, the scattered."""
    status = decoded.status.astype(np.int64)
    made = {
        "record_type": _numbers(decoded.record_type),
        "record_name": _names(decoded),
        "value_version": _numbers(decoded.value_version),
        "decode_status": pa.array(statuses.STATUS_NAMES, pa.string()).take(pa.array(status)),
        "is_tombstone": pa.array(status == statuses.TOMBSTONE),
        **made,
    }
    arrays = [
        made[column.name] if column.name in made else scatter.finish(column.name, column.type)
        for column in schema
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


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
        # Only the names of the struct's fields change.
        renamed = pa.StructArray.from_arrays(
            lists.values.flatten(), fields=list(LEADER_EPOCHS.value_type)
        )
        places = np.arange(len(block.rows)) if block.good is None else block.good
        slots[block.good_rows()] = sum(map(len, found)) + places
        found.append(pa.ListArray.from_arrays(lists.offsets, renamed))
    if not found:
        return pa.nulls(size, LEADER_EPOCHS)
    return pa.concat_arrays(found).take(pa.array(slots, mask=slots < 0))
