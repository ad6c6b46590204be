"""The timers of `moldau watch`, on a clock that only waits and flights move.

The case numbers are those of the specification, section 10.8.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from moldau.runs.watch import IN_FLIGHT, TRY_AGAIN_MS, WAITS, Timer, Watch, timers_of
from moldau.sessions.shutdown import ShutdownRequested
from moldau.warehouse.lock import WarehouseInUse

EAST, WEST = ("east", 1_000, False), ("west", 2_500, False)
BUSY = WarehouseInUse(Path("w"), "`moldau load` (pid 7)")
Flown = tuple[int, str, str]


class Simulation:
    """A run takes `takes_ms`; `at_flight[n]` happens in the n-th. Ends at `ends_ms`."""

    def __init__(
        self,
        *clusters: tuple[str, int, bool],
        ends_ms: int,
        takes_ms: int = 10,
        at_flight: dict[int, Exception | Callable[[], None]] | None = None,
    ) -> None:
        self.clusters = list(clusters)
        self.ends_ms, self.takes_ms, self.at_flight = ends_ms, takes_ms, at_flight or {}
        self.now_ms = 0
        self.flown: list[Flown] = []  # when it began
        self.dropped: list[tuple[int, str, str, str]] = []  # when it had come
        self.failed: list[str] = []
        self.waits: list[int] = []
        self.recorded = 0
        self.is_settleable = True
        self.sleeps: list[int] = []  # how much longer the next wait lasts

    def watch(self, limit: int | None = None) -> Simulation:
        Watch(self, lambda: self.now_ms, self.wait).run(limit)
        return self

    def wait(self, milliseconds: int) -> bool:
        self.waits.append(milliseconds)
        milliseconds += self.sleeps.pop() if self.sleeps else 0
        self.now_ms = min(self.now_ms + milliseconds, self.ends_ms)
        return self.now_ms >= self.ends_ms

    def timers(self) -> Sequence[Timer]:
        return timers_of(self.clusters)

    def run(self, timer: Timer) -> None:
        self.flown.append((self.now_ms, timer.cluster_id, timer.kind))
        self.now_ms += self.takes_ms
        happens = self.at_flight.get(len(self.flown))
        if isinstance(happens, Exception):
            raise happens
        if happens is not None:
            happens()

    def drop(self, timer: Timer, late_ms: int, reason: str) -> None:
        self.dropped.append((self.now_ms - late_ms, timer.cluster_id, timer.kind, reason))

    def fail(self, timer: Timer, error: Exception) -> None:
        self.failed.append(f"{timer.kind} of {timer.cluster_id}: {error}")

    def settle(self) -> bool:
        if self.is_settleable:
            self.recorded = len(self.dropped)
        return self.is_settleable


def test_the_first_tick_comes_one_interval_after_the_start() -> None:
    assert Simulation(EAST, ends_ms=3_500).watch().flown == [
        (1_000, "east", "sweep"),
        (2_000, "east", "sweep"),
        (3_000, "east", "sweep"),
    ], "start-to-start: what a run takes delays no tick"


def test_each_cluster_has_its_own_interval() -> None:
    flown = Simulation(EAST, WEST, ends_ms=5_500).watch().flown
    assert [when for when, cluster, _ in flown if cluster == "west"] == [2_500, 5_010]
    assert [when for when, cluster, _ in flown if cluster == "east"] == [
        1_000, 2_000, 3_000, 4_000, 5_000,
    ]  # fmt: skip


def test_a_cycle_comes_before_the_sweep_of_the_same_instant() -> None:
    flown = Simulation(("east", 1_000, True), ends_ms=1_500).watch().flown
    assert flown == [(1_000, "east", "cycle"), (1_010, "east", "sweep")]


def test_case_124_without_a_plugin_there_is_no_cycle() -> None:
    told = Simulation(EAST, ("west", 1_000, True), ends_ms=10_000).watch()
    assert {flown[1:] for flown in told.flown} == {
        ("east", "sweep"),
        ("west", "cycle"),
        ("west", "sweep"),
    }


def test_case_128_a_tick_while_the_previous_is_in_flight_is_dropped() -> None:
    told = Simulation(EAST, ends_ms=7_200, takes_ms=2_500).watch()
    assert [when for when, *_ in told.flown] == [1_000, 4_000, 7_000], "no burst afterwards"
    assert told.dropped == [
        (when, "east", "sweep", IN_FLIGHT) for when in (2_000, 3_000, 5_000, 6_000, 8_000, 9_000)
    ]
    assert told.recorded == 6


def test_clusters_wait_for_each_other_and_hold_one_tick_each() -> None:
    told = Simulation(("a", 1_000, False), ("b", 1_000, False), ends_ms=4_500, takes_ms=1_400)
    told.watch()
    assert told.flown == [
        (1_000, "a", "sweep"),
        (2_400, "b", "sweep"),
        (3_800, "a", "sweep"),
    ]
    assert (2_000, "a", "sweep", IN_FLIGHT) in told.dropped
    assert (2_000, "b", "sweep", WAITS) in told.dropped
    assert (3_000, "a", "sweep", IN_FLIGHT) not in told.dropped, "it waited until b's had ended"
    assert (3_000, "b", "sweep", IN_FLIGHT) in told.dropped


def test_case_130_after_an_error_the_next_tick_runs() -> None:
    told = Simulation(EAST, ends_ms=2_500, at_flight={1: OSError("disk full")}).watch()
    assert told.failed == ["sweep of east: disk full"]
    assert [when for when, *_ in told.flown] == [1_000, 2_000]
    assert told.dropped == []


def test_case_131_after_a_run_has_ended_the_next_tick_runs() -> None:
    told = Simulation(EAST, ends_ms=10_500, takes_ms=999).watch()
    assert len(told.flown) == 10
    assert told.dropped == []


def test_case_136_shutdown_without_a_plugin() -> None:
    told = Simulation(EAST, ends_ms=500).watch()
    assert (told.flown, told.dropped, told.failed) == ([], [], [])
    assert Simulation(ends_ms=10**9).watch().flown == [], "no cluster at all"


def test_shutdown_while_ticks_wait_for_their_turn() -> None:
    told = Simulation(EAST, ("west", 1_000, True), ends_ms=1_005).watch()
    assert told.flown == [(1_000, "east", "sweep")], "no further tick starts"


def test_a_run_that_stopped_half_way_ends_the_watch() -> None:
    told = Simulation(EAST, ends_ms=9_000, takes_ms=2_500, at_flight={2: ShutdownRequested()})
    told.watch()
    assert len(told.flown) == 2
    assert told.failed == []
    assert [came for came, *_ in told.dropped] == [2_000, 3_000, 5_000, 6_000]
    assert told.recorded == 4, "also what it had dropped until then"


def test_a_tick_that_finds_the_warehouse_in_use_is_dropped() -> None:
    told = Simulation(EAST, ends_ms=2_500, at_flight={1: BUSY}).watch()
    reason = "the warehouse w is in use by `moldau load` (pid 7)"
    assert told.dropped == [(1_000, "east", "sweep", reason)]
    assert [when for when, *_ in told.flown] == [1_000, 2_000]


def test_what_could_not_be_recorded_is_tried_again_soon_and_at_the_end() -> None:
    told = Simulation(("east", 60_000, False), ends_ms=70_500, at_flight={1: BUSY})
    told.is_settleable = False
    told.watch()
    assert max(told.waits) <= TRY_AGAIN_MS
    told.is_settleable = True
    assert told.watch(limit=1).recorded == 1


def test_a_process_that_slept_runs_one_tick_and_drops_none() -> None:
    told = Simulation(EAST, ends_ms=20_500)
    told.sleeps = [10_300]
    assert [when for when, *_ in told.watch().flown][:2] == [11_300, 12_000]
    assert told.dropped == []


def test_clusters_that_are_loaded_meanwhile_tick_one_interval_later() -> None:
    told = Simulation(EAST, ends_ms=5_000)
    told.at_flight[2] = lambda: told.clusters.append(("new", 1_500, False))
    told.watch()
    assert [when for when, cluster, _ in told.flown if cluster == "new"] == [3_510]


def test_the_watch_ends_after_as_many_ticks_as_were_asked_for() -> None:
    assert len(Simulation(EAST, ends_ms=10**6).watch(limit=3).flown) == 3


def test_the_longest_interval_that_the_settings_take() -> None:
    assert Simulation(("east", 2**63 - 1, False), ends_ms=10**9).watch().flown == []
