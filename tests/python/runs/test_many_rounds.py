"""A run costs what the first did, however many came before it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import deltalake
import pytest
from log_support import Log
from spark_support import commits, dying_at, fresh, statements

from moldau.runs.decide import decide
from moldau.runs.idle import idle_run
from moldau.runs.load import load
from moldau.runs.opening import open_session
from moldau.runs.resume import finish_interrupted
from moldau.sessions.journal import interrupted
from moldau.sessions.session import Session
from moldau.settings import load_settings
from moldau.warehouse.contracts import tables
from moldau.warehouse.damage import data_files, open_table
from moldau.warehouse.upkeep import MANY

ROUNDS = 50  # of three runs each
AT_MS = 1_800_000_000_000


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    warehouse = tmp_path_factory.mktemp("rounds") / "w"
    with open_session(load_settings(None, warehouse), "pytest") as opened:
        yield opened


@pytest.fixture(scope="module")
def costs(session: Session) -> list[dict[str, int]]:
    """Of each round: opened tables, statements, commits other than those of upkeep."""
    log = Log()
    for number in range(20):
        log.streams(f"g{number}", stored=3)
    found = []
    for number in range(ROUNDS):
        log.commit(f"g{number % 20}")
        file = session.warehouse.parent / "records.jsonl"
        file.write_text("".join(json.dumps(one.as_line()) + "\n" for one in log.records))
        log.records = [log.records[-1]]
        with pytest.MonkeyPatch.context() as patch, statements() as given:
            opened = counting(patch)
            before = commits(session.warehouse)
            load(fresh(session), [file], "c", "records")
            for kind in ("cycle", "sweep"):
                decide(fresh(session), kind, ["c"], AT_MS + 60_000 * number, is_dry_run=False)
            made = commits(session.warehouse) - before
            found.append({"opened": len(opened), "statements": len(given), "commits": made})
    return found


def counting(patch: pytest.MonkeyPatch) -> list[str]:
    opened: list[str] = []
    plain = deltalake.DeltaTable.__init__

    def noting(table: Any, uri: Any, *words: Any, **more: Any) -> None:
        opened.append(str(uri))
        plain(table, uri, *words, **more)

    patch.setattr(deltalake.DeltaTable, "__init__", noting)
    return opened


def test_a_round_costs_what_the_first_ones_did(costs: list[dict[str, int]]) -> None:
    first, last = (
        {name: sorted(cost[name] for cost in some)[len(some) // 2] for name in costs[0]}
        for some in (costs[5:15], costs[-10:])
    )
    assert last == first
    assert first["commits"] <= 12
    assert not any(cost["opened"] for cost in costs[1:]), "tables stay open"


def test_each_table_has_few_files(costs: list[dict[str, int]], session: Session) -> None:
    for name in tables():
        opened = open_table(session.warehouse.joinpath(*name.split(".")))
        assert len(data_files(opened)) <= MANY + 4, name


def test_an_idle_tick_costs_what_the_first_did(session: Session) -> None:
    """It opens nothing: state.runs alone is written, and stays open."""
    settings = load_settings(None, session.warehouse)
    decide(fresh(session), "cycle", [], AT_MS, is_dry_run=False)
    decide(fresh(session), "cycle", [], AT_MS, is_dry_run=False)
    found = []
    for _ in range(3 * MANY):
        with pytest.MonkeyPatch.context() as patch:
            opened = counting(patch)
            assert idle_run(settings, "cycle", [], AT_MS + 1, is_dry_run=False)
            found += opened
    assert not found


def numbers(session: Session) -> list[int]:
    found = session.sql("select run_id from state.runs order by run_id")
    return [int(run_id[:8]) for (run_id,) in found]


def test_no_run_is_lost(costs: list[dict[str, int]], session: Session) -> None:
    assert numbers(session)[: 3 * len(costs)] == list(range(1, 3 * len(costs) + 1))


def test_a_run_that_dies_before_its_upkeep_is_complete(
    costs: list[dict[str, int]], session: Session
) -> None:
    before = numbers(session)
    with dying_at("after_run_row"):
        decide(fresh(session), "cycle", ["c"], AT_MS, is_dry_run=False)
    assert interrupted(session.warehouse)
    assert finish_interrupted(fresh(session)) == []
    assert not interrupted(session.warehouse)
    assert numbers(session) == [*before, len(before) + 1]
