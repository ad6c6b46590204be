"""The instants of a broker's sweeps and cycles, chosen so that few runs replay many groups.

All groups act in the same few runs, each by a clock of its own: its whole log is moved in time, so
that the first sweep that did something falls on the instant of run `FIRST`, to the millisecond.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import pyarrow as pa
import pyarrow.compute as pc
from cleanup_support import Act, Life, expected_of, lives_of
from spark_support import Record, decoded_table

# two runs before the first act of a group, at the ticks at which the broker did nothing yet
RUNS = ("sweep", "cycle", "sweep", "cycle", "sweep", "cycle", "sweep")
FIRST = 2
# a timer loses about a millisecond a tick: records so close before an idle one came after it
LOST_MS = 5
INTERVAL = "offsets.retention.check.interval.ms"
AT_MS = [1_800_000_000_000 + offset for offset in (-1000, -500, 0, 500, 1000, 1500, 2000)]


@dataclass(frozen=True)
class Timers:
    """The broker's cycle is timed by one timer, the sweep of each partition by one of its own."""

    interval_ms: int
    seen: list[tuple[str, int, int]]  # kind, partition, instant of ticks that wrote something

    def before(self, kind: str, partition: int, ms: int) -> int:
        """The last tick before this instant, or a little earlier."""
        near = self._near(kind, partition, ms)
        return near - ((near - ms) // self.interval_ms + 1) * self.interval_ms - LOST_MS

    def after(self, kind: str, partition: int, ms: int) -> int:
        near = self._near(kind, partition, ms)
        return near + ((ms - near) // self.interval_ms + 1) * self.interval_ms

    def _near(self, kind: str, partition: int, ms: int) -> int:
        """A tick that is known: whole intervals are counted from there."""
        of_kind = [tick for tick in self.seen if tick[0] == kind]
        own = [tick for tick in of_kind if kind == "cycle" or tick[1] == partition]
        return min((at_ms for _, _, at_ms in own or of_kind), key=lambda at_ms: abs(at_ms - ms))


@dataclass
class Replay:
    """A group of a capture as a cluster of its own."""

    life: Life
    acts: dict[int, Act]  # by number of the run
    instants: list[int]  # of the runs, by the broker's clock

    @property
    def cluster(self) -> str:
        return f"{self.life.capture}.{self.life.group}"

    @property
    def expected(self) -> list[str]:
        """Everything that the broker's clean-up wrote, by the run in which moldau has to."""
        return [f"{number} {step}" for number, act in self.acts.items() for step in act.steps]

    def ended_ms(self, number: int) -> int:
        """Until when records were written before or in the run: a cycle waits for the plugin."""
        act = self.acts.get(number)
        return act.until_ms if act else self.instants[number]

    def pushed(self, number: int) -> int | None:
        """The epoch that a push left which came while the run's plugin call was in progress."""
        return self.life.pushed(self.instants[number], self.ended_ms(number))

    def records(self, number: int) -> list[Record]:
        """What clients caused since the run before, up to this run's instant."""
        start = self.instants[number - 1] if number else 0
        return [it for it in self.life.records if start < it.timestamp_ms <= self.instants[number]]

    def decoded(self, number: int) -> pa.Table:
        """The same as rows of decoded.group_records, every time in them moved."""
        table = decoded_table({self.cluster: self.records(number)})
        moved_by = pa.scalar(AT_MS[FIRST] - self.instants[FIRST], pa.int64())
        for place, name in enumerate(table.schema.names):
            if name.endswith("_at_ms"):
                table = table.set_column(place, name, pc.add(table[name], moved_by))
        return table


def replays_of(capture: str) -> list[Replay]:
    lives = lives_of(capture)
    timers = Timers(
        expected_of(capture)["config"][INTERVAL],
        [(act.kind, life.partition, act.at_ms) for life in lives for act in life.acts],
    )
    return [_replay(life, timers) for life in lives]


def _replay(life: Life, timers: Timers) -> Replay:
    acts = _placed(life.acts, timers.interval_ms)
    instants = {number: act.at_ms for number, act in acts.items()}
    if not instants:  # clients removed the group: see that the runs around that do nothing
        instants[FIRST] = timers.after("sweep", life.partition, life.records[-1].timestamp_ms)
    for number in reversed(range(max(instants))):
        if number not in instants:
            later = instants[number + 1]
            instants[number] = timers.before(RUNS[number], life.partition, later)
    for number in range(len(RUNS)):
        if number not in instants:
            before = number - 1
            ended = acts[before].until_ms if before in acts else instants[before]
            instants[number] = timers.after(RUNS[number], life.partition, ended)
    replay = Replay(life, acts, [instants[number] for number in range(len(RUNS))])
    ends = [replay.ended_ms(number) for number in range(len(RUNS))]
    assert all(end < start for end, start in zip(ends, replay.instants[1:], strict=False)), life
    return replay


def _placed(acts: list[Act], interval_ms: int) -> dict[int, Act]:
    """Runs for the acts, in their order; after a pause at least one run comes that does nothing."""
    placed: dict[int, Act] = {}
    number = FIRST - 1
    for before, act in pairwise([None, *acts]):
        assert act is not None
        has_paused = before is not None and act.at_ms - before.until_ms > interval_ms
        number += 2 if has_paused else 1
        while RUNS[number] != act.kind:
            number += 1
        placed[number] = act
    return placed
