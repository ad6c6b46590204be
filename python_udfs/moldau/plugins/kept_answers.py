"""A journal of plugin calls, made and answered, for the case that a plugin ends the process.

A file for each attempt at a slice, a line of JSON for each event. The lines have to outlive the
process only: nothing is synced, and nothing reads what a killed command left.
"""

from __future__ import annotations

import contextlib
import json
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, field
from pathlib import Path
from typing import Any

from moldau.instants import now_ms
from moldau.plugins.outcomes import Call, Outcome

ENDED_PROCESS = "the plugin ended the process that called it"
ENDS_AT_MOST = 8
"""Processes that a plugin may end before what else waits for it fails without being called."""


class Journal:
    """Of one attempt; several threads write it. A call that cannot be noted raises OSError."""

    def __init__(self, folder: Path) -> None:
        self._file = (folder / f"{uuid.uuid4().hex}.jsonl").open("ab", buffering=0)

    @contextlib.contextmanager
    def constructing(self, cluster_id: str) -> Iterator[None]:
        self._write("constructing", cluster_id)
        try:
            yield
        finally:
            with contextlib.suppress(ValueError):  # closed: nobody waits for the constructor now
                self._write("constructed", cluster_id)

    def begin(self, calls: Sequence[Call]) -> None:
        for call in calls:
            self._write("begun", call.call_id, call.cluster_id, now_ms())

    def end(self, outcome: Outcome) -> None:
        self._write("ended", *astuple(outcome))

    def close(self) -> None:
        """The attempt came to its end: whatever is open hangs, and has its outcome."""
        self._write("closed")
        self._file.close()

    def _write(self, *event: Any) -> None:
        line = json.dumps(event).encode() + b"\n"
        if self._file.write(line) != len(line):
            raise OSError("the journal of calls is cut short: is the disk full?")


@dataclass
class Left:
    """What the attempts before this one left."""

    outcomes: dict[str, Outcome] = field(default_factory=dict)
    """By call: of those that ended, and of those that were under way when a process was ended."""
    processes: int = 0
    """That were ended."""
    ended: Counter[str] = field(default_factory=Counter)
    """Cluster -> processes that were ended while calls for it were under way."""
    constructors: set[str] = field(default_factory=set)
    """Clusters whose plugin ended the process that constructed it, and did nothing else."""

    def outcome(self, call_id: str, cluster_id: str) -> Outcome | None:
        """None = the call is to be made."""
        known = self.outcomes.get(call_id)
        if known is not None:
            return known
        if cluster_id in self.constructors:
            reason = "not called: the plugin ended the process that constructed it"
        elif self.ended[cluster_id] >= ENDS_AT_MOST:
            reason = f"not called: {ENDED_PROCESS}, {self.ended[cluster_id]} times"
        else:
            return None
        now = now_ms()
        return Outcome(call_id, "transient_failure", reason, now, now)

    @property
    def progress(self) -> int:
        """Grows with every attempt that leaves less to do for the next one."""
        return len(self.outcomes) + len(self.constructors)


def read_left(folder: Path) -> Left:
    """A line that was not written to its end says nothing."""
    left = Left()
    for file in folder.glob("*.jsonl"):
        _read(file, left)
    return left


def _read(file: Path, left: Left) -> None:
    under_way: dict[str, tuple[str, int]] = {}
    constructing: set[str] = set()
    is_closed = False
    for line in file.read_bytes().splitlines():
        try:
            event, *told = json.loads(line)
        except (ValueError, TypeError):
            continue
        match event:
            case "constructing":
                constructing.add(told[0])
            case "constructed":
                constructing.discard(told[0])
            case "begun":
                call_id, cluster_id, started_at_ms = told
                under_way[call_id] = (cluster_id, started_at_ms)
            case "ended":
                outcome = Outcome(*told)
                under_way.pop(outcome.call_id, None)
                left.outcomes[outcome.call_id] = outcome
            case "closed":
                is_closed = True
    if is_closed:
        return
    left.processes += 1
    if not under_way and len(constructing) == 1:
        left.constructors |= constructing
    left.ended.update({cluster_id for cluster_id, _ in under_way.values()})
    reason = f"{ENDED_PROCESS} (calls under way: {len(under_way)})"
    for call_id, (_, started_at_ms) in under_way.items():
        left.outcomes[call_id] = Outcome(
            call_id, "transient_failure", reason, started_at_ms, now_ms()
        )
