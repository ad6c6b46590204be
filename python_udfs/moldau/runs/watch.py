"""The timers of `moldau watch`: each cluster ticks at Kafka's check interval, one run at a time.

A tick is one run of one kind (cycle or sweep) for one cluster. Kafka's cleanup manager and its
group expiry are two timers of a broker; here each kind of each cluster is a timer. The first tick
comes one interval after the start; the interval is start-to-start. A tick that comes while the one
before it runs, or waits until another cluster's has run, is dropped and never made up for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

from moldau.declared import kinds
from moldau.runs.apply import calls_plugins
from moldau.sessions.shutdown import ShutdownRequested
from moldau.warehouse.lock import WarehouseInUse

LOOK_AROUND_MS = 60_000  # so often clusters that were loaded meanwhile are looked for
TRY_AGAIN_MS = 1_000  # so often what could not be recorded is tried again
IN_FLIGHT = "the previous one is still in flight"
WAITS = "the previous one still waits for its turn"


@dataclass(frozen=True)
class Timer:
    """A kind of run (`cycle`, `sweep`) of a cluster."""

    cluster_id: str
    kind: str
    interval_ms: int


class Ticks(Protocol):
    """What ticks come to (`moldau.runs.ticks.WarehouseTicks`)."""

    def timers(self) -> list[Timer]: ...
    def run(self, timer: Timer) -> None: ...
    def drop(self, timer: Timer, late_ms: int, reason: str) -> None: ...
    def fail(self, timer: Timer, error: Exception) -> None: ...
    def settle(self) -> bool: ...


class Watch:
    """`clock`: milliseconds that never go back; `wait`: sleep so many, True = shut down now."""

    def __init__(self, ticks: Ticks, clock: Callable[[], int], wait: Callable[[int], bool]) -> None:
        self._ticks, self._clock, self._wait = ticks, clock, wait
        self._due_ms: dict[Timer, int] = {}
        self._waiting: dict[Timer, int] = {}  # ticks that have come, and when

    def run(self, limit: int | None = None) -> None:
        """Until shutdown, or until so many ticks have come to their turn."""
        done = 0
        try:
            while limit is None or done < limit:
                self._arm()
                is_settled = self._ticks.settle()
                if self._wait(0 if self._waiting else self._pause_ms(is_settled)):
                    return
                self._come()
                if self._waiting:
                    self._fly(min(self._waiting, key=self._waiting.__getitem__))
                    done += 1
        except ShutdownRequested:
            pass
        finally:
            self._ticks.settle()

    def _arm(self) -> None:
        """A timer that is new ticks one interval from now."""
        now = self._clock()
        wanted = self._ticks.timers()
        self._due_ms = {timer: self._due_ms.get(timer, now + timer.interval_ms) for timer in wanted}

    def _pause_ms(self, is_settled: bool) -> int:
        longest = LOOK_AROUND_MS if is_settled else TRY_AGAIN_MS
        first = min(self._due_ms.values(), default=self._clock() + longest)
        return max(0, min(first - self._clock(), longest))

    def _come(self, flying: Timer | None = None) -> None:
        """Ticks that came since the last look: one of a timer waits for its turn, others drop.

        With nothing in flight several of one timer mean that this process slept: they are one.
        """
        now = self._clock()
        for timer, due_ms in self._due_ms.items():
            times = range(due_ms, now + 1, timer.interval_ms)
            self._due_ms[timer] = due_ms + len(times) * timer.interval_ms
            is_busy = timer == flying or timer in self._waiting
            if times and not is_busy:
                self._waiting[timer] = times[0]
                times = times[1:]
            if is_busy or flying is not None:
                reason = IN_FLIGHT if timer == flying else WAITS
                for came_ms in times:
                    self._ticks.drop(timer, now - came_ms, reason)

    def _fly(self, timer: Timer) -> None:
        came_ms = self._waiting.pop(timer)
        try:
            self._ticks.run(timer)
        except ShutdownRequested:
            raise
        except WarehouseInUse as busy:
            self._ticks.drop(timer, self._clock() - came_ms, busy.reason)
        except Exception as error:
            self._ticks.fail(timer, error)
        finally:
            self._come(flying=timer)


def timers_of(clusters: Iterable[tuple[str, int, bool]]) -> list[Timer]:
    """`clusters`: name, check interval in ms, has a plugin. What calls plugins needs one."""
    return [
        Timer(name, kind.name, interval_ms)
        for name, interval_ms, has_plugin in clusters
        for kind in kinds().values()
        if kind.is_watched and (has_plugin or not calls_plugins(kind.name))
    ]
