"""`dbt run --selector cycle` does what `moldau cycle` does, and so do the other kinds of run."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from shell_support import Shell
from spark_support import spark_apart
from whole_runs import AT, COMPARED, DBT, KINDS, LOADS, YML, invoked, rows_of, run, words

from moldau.engines.spark.spark_session import BRIEF_OPTIONS
from moldau.errors import MoldauError
from moldau.project import ROOT, SAMPLES
from moldau.reading.health.status import lock_holder
from moldau.reading.tables.query import query
from moldau.runs.in_dbt import DbtRun, start_spark
from moldau.sessions.session import Session
from moldau.settings import load_settings

pytestmark = pytest.mark.spark


@dataclass
class Warehouses:
    """Two of the same loads. `told`: what dbt said at the end of each kind of run."""

    by_moldau: Path
    by_dbt: Path
    told: dict[str, list[str]]


@pytest.fixture(scope="module")
def loaded(shell: Shell, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    (folder / "moldau.yml").write_text(YML)
    (folder / "loads").write_text("".join(f"load {SAMPLES}/{load}\n" for load in LOADS))
    config = ["--config", str(folder / "moldau.yml"), "--warehouse", str(folder / "w")]
    answer = shell("exec", str(folder / "loads"), *config, folder=ROOT)
    assert answer.code == 0, answer.err
    return folder


@pytest.fixture(scope="module")
def made(session: Session, loaded: Path, shell: Shell) -> Iterator[Warehouses]:
    made = Warehouses(loaded / "moldau", loaded / "dbt", {})
    for one in (made.by_moldau, made.by_dbt):
        shutil.copytree(loaded / "w", one)
    (loaded / "verbs").write_text("".join(f"{kind} --at {AT}\n" for kind in KINDS))
    config = ["--config", str(loaded / "moldau.yml"), "--warehouse", str(made.by_moldau)]
    answer = shell("exec", str(loaded / "verbs"), *config, folder=ROOT)
    assert answer.code in (0, 2), answer.err
    with spark_apart(session, made.by_dbt), pytest.MonkeyPatch.context() as patch:
        patch.chdir(loaded)
        for kind in KINDS:
            made.told[kind] = run_dbt(loaded, kind)
            assert lock_holder(made.by_dbt) is None
    yield made


def run_dbt(folder: Path, kind: str) -> list[str]:
    verb = "build" if kind == "cycle" else "run"  # one of them with its tests
    ran = invoked(words(folder, kind, verb=verb))
    assert not ran.wrong
    kinds = {result.node.resource_type for result in ran.outcome.result.results}
    assert (verb == "build") == ({"test", "unit_test"} <= kinds)
    return ran.said


@pytest.mark.parametrize("table", COMPARED)
def test_dbt_leaves_what_moldau_leaves(made: Warehouses, table: str) -> None:
    assert rows_of(made.by_dbt, table) == rows_of(made.by_moldau, table)


def test_each_run_has_its_row_and_what_it_counted(made: Warehouses) -> None:
    asked = "select kind, status, decided_at_ms, counts, engine from state.runs order by run_id"
    by_moldau, by_dbt = (list(query(one, asked).rows) for one in (made.by_moldau, made.by_dbt))
    runs = [row for row in by_dbt if row[0] in KINDS]
    assert [row[0] for row in runs] == list(KINDS)
    assert {row[-1] for row in runs} == {"spark"}
    assert [row[:3] for row in by_dbt] == [row[:3] for row in by_moldau]
    for mine, other in zip(by_dbt, by_moldau, strict=True):
        counts, expected = (
            {name: count for name, count in dict(row[3]).items() if count} for row in (mine, other)
        )
        assert counts == expected, mine[0]


def test_dbt_says_what_a_run_did(made: Warehouses) -> None:
    opened, closed = made.told["cycle"]
    assert opened.endswith("-cycle is open")
    assert "is closed: decided" in closed
    assert "deletes_success" in closed
    assert not list((made.by_dbt / "_moldau" / "runs").iterdir())


@pytest.mark.parametrize("point", ["after_call"])
def test_a_run_of_dbt_that_was_killed_is_finished_by_the_next_command(
    loaded: Path, made: Warehouses, shell: Shell, point: str
) -> None:
    """Under its run_id, and no call is made twice."""
    killed = loaded / f"killed-{point}"
    shutil.copytree(loaded / "w", killed)
    variables = {"MOLDAU_FAIL_AT": point, "MOLDAU_JAVA_OPTIONS": BRIEF_OPTIONS}
    ended = run(loaded, killed, DBT, *words(loaded, "cycle"), **variables)
    assert ended.code == -9, ended.said[-2000:]
    config = ["--config", str(loaded / "moldau.yml"), "--warehouse", str(killed)]
    sweep = ["sweep", "--at", AT, "--cluster", "tiered"]
    answer = shell(*sweep, *config, folder=ROOT)
    assert answer.code == 0, answer.err
    assert "-cycle, which was interrupted" in answer.err
    calls = "select group_id, outcome from history.plugin_calls order by all"
    cycles = "select kind, count(*) from state.runs where kind = 'cycle' group by kind"
    assert list(query(killed, cycles).rows) == [("cycle", 1)]
    assert list(query(killed, calls).rows)
    undisturbed = loaded / "undisturbed"
    shutil.copytree(loaded / "w", undisturbed)
    config[-1] = str(undisturbed)
    for verb in (["cycle", "--at", AT], sweep):
        assert shell(*verb, *config, folder=ROOT).code == 0
    for table in COMPARED:
        assert rows_of(killed, table) == rows_of(undisturbed, table), table


def test_without_a_warehouse_dbt_says_what_makes_one(tmp_path: Path) -> None:
    with pytest.raises(MoldauError, match="`moldau init` makes one"):
        start_spark(load_settings(None, tmp_path / "none"))
    assert not (tmp_path / "none").exists()


def test_a_wrong_instant_lets_go_of_the_warehouse(loaded: Path) -> None:
    run = DbtRun(load_settings(loaded / "moldau.yml", loaded / "w"))
    with pytest.raises(MoldauError, match="yesterday"):
        run.open("cycle", "yesterday", [])
    assert lock_holder(loaded / "w") is None
