"""What a broker's own clean-up wrote to a capture, told apart from what its clients caused."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass, field
from typing import Any

from spark_support import CAPTURES, Record, read_capture, read_decoded

# DeleteGroups of the test script removed these with their offsets, or called deleteTopology
DELETED_BY_REQUEST = {"c-delete-off", "n-delete-off", "slow-delete-off"}
DELETE_REFUSED = {"fail-delete-off", "fail-delete2-off", "fail-cli-off", "throwdel-delete-off"}
# a classic member joined the empty streams group, and the coordinator tried to convert it
CONVERTED = {"c-convert-off", "fail-convert-off"}

METADATA_TYPES = (2, 3, 11, 17)
Row = dict[str, Any]


@functools.cache
def rows_of(capture: str) -> list[Row]:
    return read_decoded(capture)


@functools.cache
def expected_of(capture: str) -> dict[str, Any]:
    """What Kafka itself answered, and what the capture's script did."""
    found: dict[str, Any] = json.loads((CAPTURES / capture / "expected.json").read_text())
    return found


def stored_epoch(row: Row) -> int:
    return int(row["value"].get("storedDescriptionTopologyEpoch", -1))


def epochs(row: Row) -> tuple[int, int]:
    return stored_epoch(row), int(row["value"].get("failedDescriptionTopologyEpoch", -1))


@dataclass
class Act:
    """What one sweep, or one cycle, wrote about a group: `steps` in the order of the log."""

    kind: str
    at_ms: int
    until_ms: int
    steps: list[str]


@dataclass
class Life:
    """A group of a capture: `records` is what its clients caused, `acts` the broker's clean-up."""

    capture: str
    group: str
    partition: int
    records: list[Record] = field(default_factory=list)
    acts: list[Act] = field(default_factory=list)
    pushes: list[tuple[int, int]] = field(default_factory=list)  # when, stored epoch
    epochs: list[tuple[int, tuple[int, int] | None]] = field(default_factory=list)

    def pushed(self, after_ms: int, until_ms: int) -> int | None:
        """The stored epoch that the last push of this time left."""
        found = [epoch for at_ms, epoch in self.pushes if after_ms < at_ms <= until_ms]
        return found[-1] if found else None

    def epochs_at(self, at_ms: int) -> tuple[int, int] | None:
        """Stored and failed epoch by the broker's own records; None: no such streams group."""
        found = [value for written_at_ms, value in self.epochs if written_at_ms <= at_ms]
        return found[-1] if found else None

    def deletes(self) -> list[str]:
        """Results of the deleteTopology calls of the broker's cycles, in their order.

        A request's calls came before the first act: its groups still had their offsets.
        """
        calls = plugin_deletes(self.capture, self.group)
        if calls is None:
            return ["ok" for act in self.acts for step in act.steps if step.startswith("finalise")]
        if not self.acts:
            return []
        since = self.acts[0].at_ms
        return [result for at_ms, result in calls if at_ms >= since]


def plugin_deletes(capture: str, group: str) -> list[tuple[int, str]] | None:
    """When each deleteTopology call began and its result; None: the plugin did not log them."""
    calls = expected_of(capture).get("plugin_calls")
    return calls and [
        (call["ms"], call["result"])
        for call in calls
        if (call["group"], call["op"]) == (group, "delete") and call["result"] != "slow ok"
    ]


def lives_of(capture: str) -> list[Life]:
    """Every group of the capture, in the order of their first records."""
    readers: dict[str, _Reader] = {}
    for record, row in zip(read_capture(capture), rows_of(capture), strict=True):
        group = row["group"]
        if group not in readers:
            readers[group] = _Reader(Life(capture, group, record.partition))
        readers[group].read(record, row)
    return [reader.life for reader in readers.values()]


class _Reader:
    """Reads the records of one group and remembers what the next ones are judged by."""

    def __init__(self, life: Life) -> None:
        self.life = life
        self.members: set[str] = set()
        self.before: Row | None = None  # the latest record of type 17
        self.is_deleting = False  # a cycle wrote its barrier and has not settled it

    def read(self, record: Record, row: Row) -> None:
        kind, at_ms, value = row["type"], row["timestamp_ms"], row["value"]
        if kind == 19:
            change = self.members.discard if value is None else self.members.add
            change(row["key"]["memberId"])
        written = self._cleanup(row)
        if written is not None:
            self._add(at_ms, *written)
        else:
            self.life.records.append(record)
        if kind not in METADATA_TYPES:
            return
        is_streams = kind == 17 and value is not None
        if is_streams and written is None and self._is_description(row):
            self.life.pushes.append((at_ms, stored_epoch(row)))
        self.before = row if is_streams else None
        self.life.epochs.append((at_ms, epochs(row) if is_streams else None))

    def _is_description(self, row: Row) -> bool:
        """The record changes the stored epoch and nothing else; members change the group's too."""
        before = self.before
        return (
            before is not None
            and before["value"]["epoch"] == row["value"]["epoch"]
            and stored_epoch(before) != stored_epoch(row)
        )

    def _cleanup(self, row: Row) -> tuple[str, str] | None:
        """Who of the broker wrote the record, and what; None: its clients caused it."""
        group, kind = self.life.group, row["type"]
        if row["value"] is None:
            is_converted = group in CONVERTED and kind in (17, 20, 23)
            by_request = group in DELETED_BY_REQUEST or is_converted
            if by_request or kind not in (1, 20, 23, *METADATA_TYPES):
                return None
            if kind == 1:
                return "sweep", f"offset {row['key']['topic']}-{row['key']['partition']}"
            return "sweep", "group" if kind in METADATA_TYPES else ""
        by_request = group in DELETED_BY_REQUEST | DELETE_REFUSED | CONVERTED
        after = stored_epoch(row) if kind == 17 and self._is_description(row) else 0
        if after >= 0 or by_request or (self.members and not self.is_deleting):
            return None
        is_barrier = after == -2 and not self.is_deleting
        return "cycle", f"{'barrier' if is_barrier else 'finalise'} {after}"

    def _add(self, written_at_ms: int, kind: str, step: str) -> None:
        acts, at_ms = self.life.acts, written_at_ms
        if kind == "cycle":
            goes_on, self.is_deleting = self.is_deleting, step.startswith("barrier")
            if not goes_on and not self.is_deleting:
                at_ms = self._asked_at(written_at_ms)
        else:
            goes_on = bool(acts) and (acts[-1].kind, acts[-1].at_ms) == (kind, at_ms)
        if not goes_on:
            acts.append(Act(kind, at_ms, written_at_ms, []))
        acts[-1].until_ms = written_at_ms
        acts[-1].steps += [step] if step else []

    def _asked_at(self, settled_at_ms: int) -> int:
        """When the plugin was called: without a barrier that is all that tells of the tick."""
        calls = plugin_deletes(self.life.capture, self.life.group) or []
        return max((at for at, _ in calls if at <= settled_at_ms), default=settled_at_ms)
