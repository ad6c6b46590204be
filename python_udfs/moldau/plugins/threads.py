"""Run tasks in a bounded number of daemon threads; one that hangs is left behind, not waited for.

The threads of `concurrent.futures` are joined when the process ends, so they would hold it.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Generic, TypeVar

from moldau.instants import now_ms

Task = TypeVar("Task")
Value = TypeVar("Value")
_LONGEST_NAP_SECONDS = 3_600.0
HANGING_AT_MOST = 32
"""Threads that are left behind before whatever else waits fails without being run."""


@dataclass(frozen=True)
class Ended(Generic[Task, Value]):
    """How a task ended: with a value, with an error, or (neither) not in time."""

    task: Task
    started_at_ms: int
    finished_at_ms: int
    value: Value | None = None
    error: BaseException | None = None


class _Slot(Generic[Task, Value]):
    """A thread that runs one task at a time. RuntimeError when no thread can be started."""

    def __init__(
        self,
        run: Callable[[Task], Value],
        ended: SimpleQueue[tuple[_Slot[Task, Value], Ended[Task, Value]]],
    ) -> None:
        self._run, self._ended = run, ended
        self._tasks: SimpleQueue[tuple[Task] | None] = SimpleQueue()
        self.deadline = 0.0
        Thread(target=self._serve, name="moldau-plugin-call", daemon=True).start()

    def give(self, task: Task, seconds: float) -> None:
        self.task, self.given_at_ms = task, now_ms()
        self.deadline = time.monotonic() + seconds
        self._tasks.put((task,))

    def dismiss(self) -> None:
        """Let the thread end once it has nothing to do."""
        self._tasks.put(None)

    def _serve(self) -> None:
        while given := self._tasks.get():
            (task,), started_at_ms, value, error = given, now_ms(), None, None
            try:
                value = self._run(task)
            except BaseException as raised:
                error = raised
            self._ended.put((self, Ended(task, started_at_ms, now_ms(), value, error)))


def in_threads(
    tasks: Iterable[Task], run: Callable[[Task], Value], seconds: float, limit: int
) -> Iterator[Ended[Task, Value]]:
    """Every task once, in the order in which they end; at most `limit` run at a time.

    One that has not ended after `seconds` is given without value and error; should it end later,
    nobody hears of it. When HANGING_AT_MOST of them hang, those that wait end with an error.
    """
    waiting = deque(tasks)
    ended: SimpleQueue[tuple[_Slot[Task, Value], Ended[Task, Value]]] = SimpleQueue()
    busy: set[_Slot[Task, Value]] = set()
    idle: list[_Slot[Task, Value]] = []
    hanging: set[_Slot[Task, Value]] = set()
    try:
        while waiting or busy:
            while waiting and len(hanging) >= HANGING_AT_MOST:
                stuck = RuntimeError(f"not called: {len(hanging)} calls before it hang")
                yield Ended(waiting.popleft(), now_ms(), now_ms(), error=stuck)
            while waiting and len(busy) < max(1, limit):
                try:
                    slot = idle.pop() if idle else _Slot(run, ended)
                except RuntimeError as no_thread:
                    if busy:
                        break
                    yield Ended(waiting.popleft(), now_ms(), now_ms(), error=no_thread)
                    continue
                slot.give(waiting.popleft(), seconds)
                busy.add(slot)
            if not busy:
                continue
            next_late = min(busy, key=lambda slot: slot.deadline)
            left = next_late.deadline - time.monotonic()
            try:
                slot, end = ended.get(timeout=min(max(0.0, left), _LONGEST_NAP_SECONDS))
            except Empty:
                if next_late.deadline <= time.monotonic():
                    busy.remove(next_late)
                    hanging.add(next_late)
                    next_late.dismiss()
                    yield Ended(next_late.task, next_late.given_at_ms, now_ms())
                continue
            hanging.discard(slot)
            if slot in busy:
                busy.remove(slot)
                idle.append(slot)
                yield end
    finally:
        for slot in [*idle, *busy]:
            slot.dismiss()
