"""The topics a group record subscribes to: one distinct, sorted list a record.

For classic groups this follows ``ClassicGroup.computeSubscribedTopics``: nothing unless the
protocol type is "consumer"; the empty list without members; nothing without a protocol; else the
union over the members of the topics in their subscription bytes, read as version 0 of
ConsumerProtocolSubscription whatever version they name (version 0 is a prefix of every later one).
One member whose bytes are broken leaves the whole record without a list.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from moldau.records.arrow_values import spans
from moldau.records.columns import Bytes, Column, Ints, ListColumn, SpanColumn, StructColumn
from moldau.records.cursors import Cursors
from moldau.records.decode import Block
from moldau.records.definitions import CONSUMER_PROTOCOL_MESSAGES
from moldau.records.layout import layout_of
from moldau.records.printed_records import to_text
from moldau.records.walk import UnknownTags
from moldau.records.walk_long import walk_rows

_SUBSCRIPTION = layout_of(CONSUMER_PROTOCOL_MESSAGES["ConsumerProtocolSubscription"], 0)
_LIST_FIELDS: dict[int, tuple[str, ...]] = {
    5: ("subscribedTopicNames",),
    10: ("subscribedTopicNames",),
    16: ("topics",),
    23: ("subtopologies.sourceTopics", "subtopologies.repartitionSourceTopics.name"),
}


class TopicLists:
    """Collects (record row, topic name) pairs and turns them into lists at the end."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._has_list = np.zeros(size, np.bool_)
        self._pairs: list[tuple[Ints, pa.Array]] = []

    def add(self, block: Block) -> None:
        """Take the topics of a block's right records, if its type has any."""
        number = block.record.number
        good = np.zeros(len(block.rows), np.bool_)
        good[slice(None) if block.good is None else block.good] = True
        if number == 2:
            self._add_classic(block, good)
        elif number in _LIST_FIELDS:
            self._has_list[block.rows[good]] = True
            for path in _LIST_FIELDS[number]:
                self._collect(block.buffer, block.column, path.split("."), block.rows, good)

    def _collect(
        self,
        buffer: Bytes,
        column: Column,
        path: list[str],
        rows: Ints,
        good: npt.NDArray[np.bool_],
    ) -> None:
        """Follow a path through structs and arrays down to the strings."""
        if isinstance(column, ListColumn):
            for slots, chunk in column.chunks:
                self._collect(buffer, chunk, path, rows[slots], good[slots])
        elif isinstance(column, StructColumn):
            self._collect(buffer, column.fields[path[0]], path[1:], rows, good)
        else:
            assert isinstance(column, SpanColumn) and not path
            if good.all():
                self._pairs.append((rows, spans(buffer, column.at, column.size)))
            else:
                data = spans(buffer, column.at[good], column.size[good])
                self._pairs.append((rows[good], data))

    def _add_classic(self, block: Block, good: npt.NDArray[np.bool_]) -> None:
        fields = block.column.fields
        members, kind, protocol = fields["members"], fields["protocolType"], fields["protocol"]
        assert isinstance(members, ListColumn)
        assert isinstance(kind, SpanColumn) and isinstance(protocol, SpanColumn)
        names = spans(block.buffer, kind.at, kind.size)
        is_consumer = pc.fill_null(pc.equal(names, b"consumer"), False)
        has_list = good & is_consumer.to_numpy(zero_copy_only=False)
        has_list &= (members.count == 0) | (protocol.size >= 0)
        walked: list[tuple[Ints, StructColumn]] = []
        for all_slots, member in members.chunks:
            assert isinstance(member, StructColumn)
            wanted = has_list[all_slots]
            slots = all_slots[wanted]
            subscription = member.fields["subscription"]
            assert isinstance(subscription, SpanColumn)
            at, size = subscription.at[wanted], subscription.size[wanted]
            cur = Cursors(block.buffer, at, at + size, block.rows[slots])
            cur.skip(2)
            for part, sub, column in walk_rows(_SUBSCRIPTION, cur, UnknownTags()):
                members_walked = slots if part is None else slots[part]
                has_list[members_walked[~sub.alive()]] = False
                walked.append((members_walked, column))
        self._has_list[block.rows[has_list]] = True
        for slots, column in walked:
            self._collect(block.buffer, column, ["topics"], block.rows[slots], has_list[slots])

    def finish(self) -> pa.Array:
        """list<string>, one entry a record, null where the record names no topics."""
        if not self._has_list.any():
            return pa.nulls(self.size, pa.list_(pa.string()))
        rows = np.concatenate([np.zeros(0, np.int64), *(rows for rows, _ in self._pairs)])
        chunks = [to_text(data) for _, data in self._pairs]
        encoded = pa.concat_arrays([pa.array([], pa.string()), *chunks]).dictionary_encode()
        names = encoded.dictionary
        order = pc.sort_indices(names)
        rank = np.empty(len(names), np.int64)
        rank[order.to_numpy()] = np.arange(len(names))
        distinct = np.unique(rows * max(len(names), 1) + rank[encoded.indices.to_numpy()])
        row, code = np.divmod(distinct, max(len(names), 1))
        edges = np.zeros(self.size + 1, np.int32)
        np.cumsum(np.bincount(row, minlength=self.size), out=edges[1:])
        null = np.append(~self._has_list, False)
        offsets = pa.array(edges, pa.int32(), mask=null if null.any() else None)
        return pa.ListArray.from_arrays(offsets, names.take(order).take(pa.array(code)))
