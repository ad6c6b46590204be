"""The past, and what would be, asked of Spark: what the embedded engine answers."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from history_support import INSTANTS, Step, by_moldau, history, opened
from spark_support import statements
from test_as_of import DECIDED, STATE, YML, contents

from moldau.declared import domains
from moldau.engines.engine import EngineName
from moldau.engines.spark import spark_session
from moldau.errors import MoldauError
from moldau.instants import format_instant, parse_instant
from moldau.runs.as_of import SHOWN, About, as_of
from moldau.runs.otherwise import decide_otherwise
from moldau.settings import Settings, load_settings

pytestmark = pytest.mark.spark

SEED, STEPS, ASKED, CHANCE = 4, 4, 4, 135
FIRST_MS, HOURS = parse_instant(INSTANTS[1]), 20  # of the first run, from one to the next
CLUSTERS = ("east", "west", "A", "B", "logged")
# beside it all tables, for which a moment is made by default
FEW = ("state.group_offsets",)
OTHERWISE = {
    "groups": ({"offsets.retention.minutes": "10"}, "kafka_4_4"),
    "mirrors": ({"anchored": "true"}, "sparse_restart_forgets"),
    "producers": ({"metadata.max.age.ms": "600000"}, "kip_526_draft"),
}


@dataclass(frozen=True)
class Left:
    """What a run decided, and the state up to the next one: what is loaded until then counts, for
    no record is later than any run. Each run of the history has an instant of its own."""

    step: Step
    rows: dict[str, list[str]]

    @property
    def at_ms(self) -> int:
        return parse_instant(self.step.at)


@dataclass(frozen=True)
class Past:
    warehouse: Path
    runs: list[Left]

    def settings(self, engine: EngineName) -> Settings:
        return load_settings(self.warehouse.parent / "moldau.yml", self.warehouse, engine=engine)

    def rows(
        self, engine: EngineName, at_ms: int, names: tuple[str, ...], asked: Collection[str]
    ) -> dict[str, list[str]]:
        with as_of(self.settings(engine), at_ms, About(), asked) as moment:
            return contents(moment.settings.warehouse, names)


@pytest.fixture(scope="module")
def past(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Past]:
    """A random history with kills. Spark has one warehouse open: it goes from the one that tests
    share, which starts anew."""
    folder = tmp_path_factory.mktemp("past")
    (folder / "files").mkdir()
    (folder / "moldau.yml").write_text(YML)
    runs: list[Left] = []
    with opened(folder / "w") as embedded:
        for step in history(SEED, STEPS, folder / "files"):
            if not step.at and step.typed.split(" ")[2] in CLUSTERS:
                by_moldau(embedded, [step])
                runs[-1].rows.update(contents(folder / "w", STATE))
            elif step.typed in DECIDED:
                at = format_instant(FIRST_MS + len(runs) * HOURS * 3_600_000)
                timed = dataclasses.replace(step, at=at)
                by_moldau(embedded, [timed])
                runs.append(Left(timed, contents(folder / "w", STATE + DECIDED[step.typed])))
    spark_session.end()
    yield Past(folder / "w", runs)
    spark_session.end()


def test_any_run_is_found_again_by_either_engine(past: Past) -> None:
    """Whatever came since. Of the last one that is what is there now."""
    some = [run for run in past.runs if run.rows["state.groups"]]
    asked = random.Random(CHANCE).sample(some, ASKED)
    assert past.runs[-1].rows == contents(past.warehouse, tuple(past.runs[-1].rows))
    for run in some:
        assert past.rows("duckdb", run.at_ms, tuple(run.rows), SHOWN) == run.rows, run.step
    for run in asked:
        assert past.rows("spark", run.at_ms, tuple(run.rows), SHOWN) == run.rows, run.step


def test_a_question_costs_what_it_reads(past: Past) -> None:
    """Models that no table is made from that is asked about are not planned: here none of a run,
    for none decided for the very instant, and none before changed anything."""
    first = next(run for run in past.runs if run.rows["state.groups"])
    with statements() as given:
        found = past.rows("spark", first.at_ms + 1, FEW, FEW)
    assert found == {name: first.rows[name] for name in FEW}
    assert not any("state.groups" in told for told in given)
    assert sum("staging." in told or "intermediate." in told for told in given) <= 4


@pytest.mark.parametrize("name", OTHERWISE)
def test_what_would_be_is_the_same_by_either_engine(past: Past, name: str) -> None:
    [domain] = [one for one in domains() if one.name == name]
    assert domain.what_if
    changes, ruleset = OTHERWISE[name]
    by = next(iter(domain.what_if.told))
    told = {
        engine: decide_otherwise(past.settings(engine), domain, changes, ruleset, (), FIRST_MS, by)
        for engine in ("duckdb", "spark")
    }
    assert told["spark"] == told["duckdb"]
    assert told["spark"][1]


def test_a_spark_server_has_no_room_for_a_moment(
    past: Past, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPARK_REMOTE", "sc://127.0.0.1:1")
    with pytest.raises(MoldauError, match="--as-of needs a Spark of its own"):
        past.rows("spark", FIRST_MS, FEW, FEW)
