"""Many rows that moved are shown as they stood until they are open again, and pages say so."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hostile_rows import HERE
from rows_support import writer
from starlette.testclient import TestClient

from moldau.errors import MoldauError
from moldau.reading.tables.duckdb_views import connect_duckdb
from moldau.serving import open_tables, reader
from moldau.serving.app import application
from moldau.serving.open_tables import Opened
from moldau.serving.question import Answer, Once, Question
from moldau.serving.reader import Reader
from moldau.settings import Settings
from moldau.warehouse.contracts import tables

COUNT = "select count(*) as groups from state.groups"


class Doors:
    """`opened`: what was connected to; while they are closed who connects waits."""

    def __init__(self) -> None:
        self.opened: list[tuple[str, ...]] = []
        self.are_open = threading.Event()
        self.are_open.set()

    def connect(self, warehouse: Path, names: tuple[str, ...], **named: Any) -> object:
        assert self.are_open.wait(30)
        self.opened.append(names)
        return connect_duckdb(warehouse, names, **named)


@pytest.fixture
def doors(monkeypatch: pytest.MonkeyPatch) -> Iterator[Doors]:
    """Every warehouse has many rows, and nobody waits for those that moved."""
    found = Doors()
    monkeypatch.setattr(open_tables, "connect_duckdb", found.connect)
    monkeypatch.setattr(open_tables, "is_small", lambda _: False)
    monkeypatch.setattr(open_tables, "_SOON", 0.0)
    monkeypatch.setattr(open_tables, "_POLITE", 0.0)
    yield found
    found.are_open.set()
    for thread in threading.enumerate():
        if thread.name == open_tables.RENEWING:
            thread.join()  # in native code it would abort the end of the process


@pytest.fixture
def write(empty: Settings) -> Callable[..., None]:
    found = writer(empty.warehouse)
    for name in tables():
        found(name)
    found("state.groups", {"cluster_id": "east", "group_id": "first"})
    return found


@pytest.fixture
def opened(empty: Settings, write: object) -> Reader:
    return Reader(empty.warehouse)


def ask(reader: Reader, sql: str, at_ms: int = 0, *once: Once) -> Answer:
    [answer] = reader.ask([Question("q", "Q", sql, once=once)], at_ms)
    assert answer.problem is None
    return answer


def held(reader: Reader) -> Opened:
    [found] = reader._tables._open.values()
    return found


def add(write: Callable[..., None], name: str) -> None:
    write("state.groups", {"cluster_id": "east", "group_id": name})


def until_open_again(reader: Reader, doors: Doors) -> None:
    renewing = held(reader).renewing
    doors.are_open.set()
    if renewing:
        renewing.join()


def test_any_question_is_answered_of_rows_as_they_stood(
    opened: Reader, write: Callable[..., None], doors: Doors
) -> None:
    assert ask(opened, COUNT).rows == ((1,),)
    add(write, "second")
    doors.are_open.clear()
    # another question, at another clock: asked now, of rows of before
    for at_ms, sql in enumerate((COUNT, "select group_id from state.groups", COUNT)):
        answer = ask(opened, sql, at_ms)
        assert answer.rows == (("first",) if "group_id" in sql else (1,),)
        assert answer.behind and list(answer.behind.commits) == ["state.groups"]
        assert answer.behind.seen_ms <= held(opened).seen_ms
    until_open_again(opened, doors)
    answer = ask(opened, COUNT)
    assert (answer.rows, answer.behind) == (((2,),), None)
    assert len(doors.opened) == 2


def test_few_rows_are_always_the_latest(
    opened: Reader,
    write: Callable[..., None],
    doors: Doors,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(open_tables, "is_small", lambda _: True)
    for count, name in enumerate(("second", "third"), start=2):
        ask(opened, COUNT)
        add(write, name)
        answer = ask(opened, COUNT)
        assert (answer.rows, answer.behind) == (((count,),), None)


def test_who_wants_the_latest_waits_for_it(
    opened: Reader, write: Callable[..., None], doors: Doors
) -> None:
    ask(opened, COUNT)
    add(write, "second")
    [answer] = opened.ask([Question("q", "Q", COUNT)], 0, is_latest=True)
    assert (answer.rows, answer.behind) == (((2,),), None)


def test_nothing_stands_for_long(opened: Reader, write: Callable[..., None], doors: Doors) -> None:
    ask(opened, COUNT)
    add(write, "second")
    doors.are_open.clear()
    assert ask(opened, COUNT, 1).behind
    with ThreadPoolExecutor(1) as pool:
        held(opened).seen_ms -= 60_000
        waiting = pool.submit(ask, opened, COUNT, 2)
        assert not waiting.done()
        doors.are_open.set()
        assert waiting.result().rows == ((2,),)


def test_what_is_wrong_is_not_told_of_rows_that_stood(
    opened: Reader, write: Callable[..., None], doors: Doors
) -> None:
    wrong_once = "select case when count(*) = 1 then error('one') end from state.groups"
    ask(opened, COUNT)
    add(write, "second")
    answer = ask(opened, wrong_once)
    assert (answer.rows, answer.behind) == (((None,),), None)


def test_damage_is_told_as_soon_as_it_is_seen(
    opened: Reader, write: Callable[..., None], doors: Doors
) -> None:
    ask(opened, COUNT)
    add(write, "second")
    *_, last = sorted((opened.warehouse / "state" / "groups" / "_delta_log").glob("*.json"))
    last.write_text("torn")
    opened.renew()
    [answer] = opened.ask([Question("q", "Q", COUNT)], 0)
    assert "the commit is torn" in str(answer.problem)


def test_damage_of_another_table_is_not_told(
    opened: Reader, write: Callable[..., None], doors: Doors, monkeypatch: pytest.MonkeyPatch
) -> None:
    def damaged(_: Path) -> bool:
        raise MoldauError("another table is damaged")

    ask(opened, COUNT)
    add(write, "second")
    monkeypatch.setattr(open_tables, "is_small", damaged)
    assert ask(opened, COUNT).rows == ((2,),)


def test_what_stays_is_found_again_before_it_is_asked_for(
    opened: Reader, write: Callable[..., None], doors: Doors
) -> None:
    stays = Once("every", "select group_id from state.groups", stays=True)
    asked = "select count(*) from every"
    ask(opened, asked, 0, stays)
    add(write, "second")
    opened.renew()
    made = held(opened).connection.cursor().execute("select table_name from duckdb_tables()")
    assert made.fetchall() == [("every",)]
    assert ask(opened, asked, 0, stays).rows == ((2,),)


def test_tables_that_move_all_the_time_stand_for_a_while(
    opened: Reader, write: Callable[..., None], doors: Doors
) -> None:
    ask(opened, COUNT)
    add(write, "second")
    opened.renew()
    held(opened).stands_until += 1000
    add(write, "third")
    answer = ask(opened, COUNT)
    assert (answer.rows, bool(answer.behind)) == (((2,),), True)
    assert len(doors.opened) == 2


def test_what_nobody_asks_for_any_more_is_not_opened_again(
    opened: Reader, write: Callable[..., None], doors: Doors
) -> None:
    ask(opened, COUNT)
    add(write, "second")
    held(opened).asked_at -= 1e9
    opened.renew()
    assert len(doors.opened) == 1


def test_a_table_in_the_place_of_another_one_is_known_by_its_time(
    opened: Reader, write: Callable[..., None], tmp_path: Path
) -> None:
    table = opened.warehouse / "state" / "groups"
    shutil.copytree(table, tmp_path / "before", copy_function=shutil.copy)
    add(write, "second")
    assert ask(opened, COUNT).rows == ((2,),)
    shutil.rmtree(table)
    shutil.move(tmp_path / "before", table)
    add(write, "other")  # as many commits as there were
    name = "select max(group_id) from state.groups"
    assert (ask(opened, COUNT).rows, ask(opened, name).rows) == (((2,),), (("other",),))


def test_what_many_ask_at_once_is_asked_once(
    opened: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Question] = []

    def noting(asking: Any, question: Question, names: Any) -> Answer:
        asked.append(question)
        return _answer(asking, question, names)

    _answer = reader._answer
    monkeypatch.setattr(reader, "_answer", noting)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: ask(opened, COUNT), range(8)))
    assert [answer.rows for answer in found] == [((1,),)] * 8
    assert len(asked) == 1


def test_a_page_says_that_newer_data_has_come_in(
    empty: Settings, write: Callable[..., None], doors: Doors
) -> None:
    write("state.runs", {"run_id": "00000001-load", "kind": "load"})
    client = TestClient(application(empty), base_url=HERE)
    first = client.get("/runs.json")
    assert "behind" not in first.json()
    write("state.runs", {"run_id": "00000002-load", "kind": "load"})
    doors.are_open.clear()
    answer = client.get("/runs.json", params={"kind": "load"})
    told = answer.json()
    assert [row["run_id"] for row in told["sections"]["runs"]["rows"]] == ["00000001-load"]
    assert list(told["behind"]["commits"]) == ["state.runs"]
    assert answer.headers["moldau-behind"] == told["behind"]["stood_at"]
    html = client.get("/runs").text
    assert "this page shows tables as they stood at 20" in html


def test_a_group_is_found_as_soon_as_it_is_there(
    empty: Settings, write: Callable[..., None], doors: Doors
) -> None:
    client = TestClient(application(empty), base_url=HERE)
    for name in ("first", "second"):
        told = client.get("/group.json", params={"cluster": "east", "group": name}).json()
        assert told["sections"]["facts"]["rows"], name
        add(write, "second")
