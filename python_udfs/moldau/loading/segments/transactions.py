"""Which batches of a log a reader of committed records is given.

A marker ends the transaction of its producer. What was aborted is left out. From the first offset
of a transaction without an end on nothing is given: that is the last stable offset.
"""

from __future__ import annotations

from bisect import bisect
from collections import defaultdict
from collections.abc import Iterable
from operator import itemgetter

import numpy as np
import numpy.typing as npt

from moldau.loading.segments.batches import BODY, CODEC, CONTROL, TRANSACTIONAL, Batches

_ABORT, _COMMIT = 0, 1
MOST_TOLD = 5


class Transactions:
    """Shown all batches of a log in order (`see`), it knows which of them are given (`given`)."""

    def __init__(self) -> None:
        self.open: dict[int, int] = {}
        """First offset of what has no end yet, by producer."""
        # first offset and that of the marker, by producer, in the order of the log
        self._aborted: dict[int, list[tuple[int, int]]] = defaultdict(list)

    @classmethod
    def of(cls, log: Iterable[Batches]) -> Transactions:
        found = cls()
        for batches in log:
            found.see(batches)
        return found

    def see(self, batches: Batches) -> None:
        attributes = batches.attributes()
        # the cleaner leaves empty batches behind, which begin no transaction
        concerned = (attributes & TRANSACTIONAL != 0) & (batches.header["count"] > 0)
        rows = np.flatnonzero(concerned)
        rows = rows[batches.are_whole(rows)]
        told = (attributes[rows], batches.field("base_offset")[rows])
        producers = batches.field("producer_id")[rows].tolist()
        offsets = zip(rows.tolist(), *(column.tolist() for column in told), producers, strict=True)
        for index, flags, offset, producer in offsets:
            if not flags & CONTROL:
                self.begin(producer, offset)
            elif (kind := _kind(batches, index)) in (_ABORT, _COMMIT):
                self.end(producer, offset, is_abort=kind == _ABORT)

    def begin(self, producer: int, offset: int) -> None:
        """A record of a transaction, the first one or another."""
        self.open.setdefault(producer, offset)

    def end(self, producer: int, offset: int, is_abort: bool) -> None:
        first = self.open.pop(producer, None)
        if first is not None and is_abort:
            self._aborted[producer].append((first, offset))

    def is_given(self, producer: int | None, offset: int) -> bool:
        """Whether a record is; `producer` None = it is in no transaction."""
        if self.stable_end is not None and offset >= self.stable_end:
            return False
        if producer is None or producer not in self._aborted:
            return True
        spans = self._aborted[producer]
        at = bisect(spans, offset, key=itemgetter(0)) - 1  # the last that begins there or before
        return at < 0 or offset >= spans[at][1]

    @property
    def stable_end(self) -> int | None:
        """The last stable offset; None = no transaction is open."""
        return min(self.open.values(), default=None)

    def given(self, batches: Batches) -> npt.NDArray[np.bool_]:
        """Of each batch of records whether it is committed, and below the last stable offset."""
        attributes, offsets = batches.attributes(), batches.field("base_offset")
        given: npt.NDArray[np.bool_] = attributes & CONTROL == 0
        if self.stable_end is not None:
            given &= offsets < self.stable_end
        if self._aborted:
            producers = batches.field("producer_id")
            may_be = given & (attributes & TRANSACTIONAL != 0)
            may_be &= np.isin(producers, list(self._aborted))
            for index in np.flatnonzero(may_be).tolist():
                given[index] = self.is_given(int(producers[index]), int(offsets[index]))
        return given

    def told(self, log: str) -> list[str]:
        """What is open, a line."""
        if self.stable_end is None:
            return []
        some = sorted(self.open.items(), key=lambda each: each[1])
        names = ", ".join(f"{producer} since offset {at}" for producer, at in some[:MOST_TOLD])
        more = f" and {len(some) - MOST_TOLD} more" if len(some) > MOST_TOLD else ""
        whose = "producer" if len(some) == 1 else "producers"
        return [
            f"{log} ends with an open transaction ({whose} {names}{more}): the records from offset "
            f"{self.stable_end} on are not loaded, as a reader of committed records does not see "
            "them"
        ]


def _kind(batches: Batches, index: int) -> int | None:
    """Of a control batch: behind the marker's length, attributes and numbers stands its key."""
    if batches.header["attributes"][index] & CODEC:
        return None
    at, end = int(batches.at[index]) + BODY, int(batches.end[index])
    content = batches.content
    at += 2  # length, which is less than 128, and attributes
    for _ in range(3):  # timestamp and offset, compared with the batch's, and the key's length
        while at < end and content[at] > 0x7F:
            at += 1
        at += 1
    key = content[at : min(at + 4, end)]
    return int.from_bytes(key[2:4], "big") if len(key) == 4 else None
