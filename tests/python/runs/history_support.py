"""A random history: the samples of every domain in slices, and runs and kills between them."""

from __future__ import annotations

import contextlib
import random
import signal
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from spark_support import Killed, fresh
from whole_runs import DBT, KINDS, LOADS, invoked, run, words

from moldau.instants import parse_instant
from moldau.project import SAMPLES
from moldau.reading.health.status import lock_holder
from moldau.runs.decide import decide
from moldau.runs.idle import idle_run
from moldau.runs.load import load
from moldau.runs.opening import open_session
from moldau.runs.resume import finish_interrupted
from moldau.sessions import faults
from moldau.sessions.session import Session
from moldau.settings import load_settings

INSTANTS = ("2026-11-21T07:56:00Z", "2026-11-27T09:13:54Z", "2026-12-24T00:00:00Z")


@dataclass(frozen=True)
class Step:
    """`typed`: a load as moldau takes it, or the kind of a run at an instant; `fault`: where it is
    killed, for whatever comes next to finish."""

    typed: str
    at: str = ""
    fault: str = ""


def history(seed: int, steps: int, folder: Path) -> list[Step]:
    """Every slice is loaded, in the order of its file, in so many steps or more; in the end comes
    a run of each kind."""
    chance = random.Random(seed)
    waiting = [list(_slices(chance, load, folder)) for load in LOADS]
    found: list[Step] = []
    while any(waiting) or len(found) < steps:
        files = [file for file in waiting if file]
        fault = chance.choice(faults.POINTS) if chance.random() < 0.25 else ""
        # whoever makes a call ends the process itself: here that is pytest's
        fault = "after_call" if fault == "in_call" else fault
        if files and chance.random() < 0.6:
            found.append(Step(chance.choice(files).pop(0), fault=fault))
        elif found:
            instant = INSTANTS[min(len(found) * len(INSTANTS) // steps, len(INSTANTS) - 1)]
            found.append(Step(chance.choice(KINDS), instant, fault))
    return [*found, *(Step(kind, INSTANTS[-1]) for kind in KINDS)]


def _slices(chance: random.Random, load: str, folder: Path) -> Iterator[str]:
    name, options = load.split(" ", 1)
    lines = (SAMPLES / name).read_text().splitlines(keepends=True)
    cuts = sorted(chance.sample(range(1, len(lines)), min(chance.randrange(3), len(lines) - 1)))
    for index, (begin, end) in enumerate(zip([0, *cuts], [*cuts, len(lines)], strict=True)):
        part = folder / f"{name.replace('/', '-')}.{index}.jsonl"
        part.write_text("".join(lines[begin:end]))
        yield f"{part} {options}"


def by_moldau(session: Session, steps: Sequence[Step]) -> None:
    """The steps, each as a command of its own would do it."""
    for step in steps:
        command = fresh(session)
        finish_interrupted(command)
        assert not command.set_aside, step
        with _killed_at(step.fault):
            if not step.at:
                _load(command, step)
            elif not idle_run(session.settings, step.typed, [], _ms(step), is_dry_run=False):
                decide(command, step.typed, [], _ms(step), is_dry_run=False)
    finish_interrupted(fresh(session))


def opened(warehouse: Path) -> contextlib.AbstractContextManager[Session]:
    """Under the moldau.yml beside it."""
    return open_session(load_settings(warehouse.parent / "moldau.yml", warehouse), "pytest")


def by_dbt(warehouse: Path, steps: Sequence[Step], runs: int, kills: int) -> dict[str, list[str]]:
    """The last `runs` of the runs by dbt, whose Spark is at hand, the rest by moldau, embedded.

    Of the runs that are killed the first `kills` are dbt's, in processes of their own. The last
    cycle is `dbt build`, with its tests. Gives what dbt said of the last run of each kind."""
    told: dict[str, list[str]] = {}
    left = sum(bool(step.at) for step in steps)
    for number, step in enumerate(steps):
        left -= bool(step.at)
        if step.at and step.fault and kills:
            kills -= 1
            _kill_dbt(warehouse, step)
        elif step.at and left < runs:
            is_last = all(later.typed != step.typed for later in steps[number + 1 :])
            verb = "build" if is_last and step.typed == "cycle" else "run"
            ran = invoked(words(warehouse.parent, step.typed, verb=verb, at=step.at))
            assert not ran.wrong, step
            kinds = {result.node.resource_type for result in ran.outcome.result.results}
            assert (verb == "build") == ({"test", "unit_test"} <= kinds)
            assert lock_holder(warehouse) is None
            told[step.typed] = ran.said
        else:
            with opened(warehouse) as session:
                by_moldau(session, [step])
    return told


def _kill_dbt(warehouse: Path, step: Step) -> None:
    """It ends well where it has no such point."""
    folder = warehouse.parent
    typed = words(folder, step.typed, at=step.at)
    ended = run(folder, warehouse, DBT, *typed, **{faults.VARIABLE: step.fault})
    assert ended.code in (-signal.SIGKILL, 0), ended.said[-3000:]


def _load(command: Session, step: Step) -> None:
    file, *options = step.typed.split(" ")
    told = dict(zip(options[::2], options[1::2], strict=True))
    load(command, [Path(file)], told["--cluster"], told["--kind"])


def _ms(step: Step) -> int:
    return parse_instant(step.at)


@contextlib.contextmanager
def _killed_at(point: str) -> Iterator[None]:
    """A point that the step has not is passed."""

    def die() -> None:
        raise Killed(point)

    with pytest.MonkeyPatch.context() as patch, contextlib.suppress(Killed):
        if point:
            patch.setenv(faults.VARIABLE, point)
            patch.setattr(faults, "die", die)
        yield
