"""What a page asks about one group it asks of the rows of that group alone, taken once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hostile_rows import HERE
from rows_support import writer
from starlette.testclient import TestClient

from moldau.reading.tables.duckdb_views import connect_duckdb
from moldau.reading.tables.query import Tables
from moldau.serving.app import application
from moldau.serving.question import Answer, Once, Question
from moldau.serving.reader import Reader
from moldau.serving.taken import of_groups
from moldau.settings import load_settings
from moldau.warehouse.contracts import tables
from moldau.warehouse.paths import POLLS
from moldau.warehouse.polls import note_poll

CLUSTER = "east"
GROUPS = ("app", "app b", "apps", "it's {cluster}")
ABOUT = Question("about", "About", "words")


@pytest.fixture
def reader(tmp_path: Path) -> Reader:
    write = writer(tmp_path / "warehouse")
    for name in tables():
        write(name)
    keys = [{"cluster_id": c, "group_id": g} for c in (CLUSTER, "west") for g in GROUPS]
    write("state.groups", *keys)
    subjects = ("cleanup {}", "sweep {}", "offset {} orders-0", "offset {} orders-1")
    changes = [
        {"domain": "groups", "cluster_id": key["cluster_id"], "run_id": "00000002-sweep"}
        | {"subject": subject.format(key["group_id"]), "decision": "keep"}
        for key in keys
        for subject in subjects
    ]
    write("history.decision_changes", *changes)
    return Reader(tmp_path / "warehouse")


def ask(reader: Reader, group: str, *sql: str) -> list[Answer]:
    questions = [Question(f"q{place}", "Q", one) for place, one in enumerate(sql)]
    _, answers = reader.ask_of_group((CLUSTER, group), questions, 0, ABOUT, lambda _: [], ())
    return answers


@pytest.mark.parametrize("group", GROUPS)
def test_no_row_of_another_group_is_read(reader: Reader, group: str) -> None:
    found, changes, of_mart = ask(
        reader,
        group,
        "select cluster_id, group_id from state.groups",
        "select subject from history.decision_changes order by all",
        "select count(*) from marts.groups",
    )
    assert found.rows == ((CLUSTER, group),)
    # a name may begin like another one and a topic: the mart knows them apart
    mine = {s.format(group) for s in ("cleanup {}", "sweep {}", "offset {} orders-0")}
    assert mine <= {subject for (subject,) in changes.rows}
    assert len(changes.rows) == (6 if group == "app" else 4)
    assert of_mart.rows == ((1,),)


def test_tables_that_moved_are_opened_before_they_are_asked_for_again(
    reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[object] = []

    def noting(*given: object, **named: Any) -> object:
        opened.append(given)
        return connect_duckdb(*given, **named)

    monkeypatch.setattr("moldau.serving.open_tables.connect_duckdb", noting)
    asked = "select count(*) from state.groups"
    assert ask(reader, "new", asked)[0].rows == ((0,),)
    reader.renew()
    assert len(opened) == 1, "nothing moved"
    ask(reader, "app", asked)
    writer(reader.warehouse)("state.groups", {"cluster_id": CLUSTER, "group_id": "new"})
    reader.renew()
    reader.renew()
    assert len(opened) == 2, "nobody asked since"
    assert [ask(reader, name, asked)[0].rows for name in ("new", "none")] == [((1,),), ((0,),)]
    assert len(opened) == 2


def test_after_an_error_the_rows_are_taken_again(reader: Reader) -> None:
    wrong, found = ask(reader, "app", "select nothing from state.groups", "from state.groups")
    assert "nothing" in str(wrong.problem)
    assert [row[:2] for row in found.rows] == [(CLUSTER, "app")]


def test_words_are_of_the_same_rows(reader: Reader) -> None:
    def words(opened: Tables) -> list[str]:
        return [row["group_id"] for row in opened.rows("state.groups", "", [])]

    asked = (CLUSTER, "apps"), [], 0, ABOUT, words, ["state.groups"]
    assert reader.ask_of_group(*asked) == (("apps",), [])


def test_words_that_fail_take_nothing_from_the_answers(reader: Reader) -> None:
    def words(opened: Tables) -> list[str]:
        return [str(opened.rows("state.groups", "where nothing", []))]

    question = Question("q", "Q", "select group_id from state.groups")
    for _ in range(2):
        [said], [found] = reader.ask_of_group((CLUSTER, "app"), [question], 0, ABOUT, words, ())
        assert "nothing" in said
        assert found.rows == (("app",),)


def test_every_table_with_a_group_is_narrowed() -> None:
    named = {name for name in tables() if name.startswith(("state.group", "decisions.group"))}
    assert named - set(of_groups(tables())) == set()


def test_rows_that_questions_share_are_found_once(reader: Reader) -> None:
    once = Once("few", "select group_id from state.groups where cluster_id = 'east'")
    questions = [
        Question(name, "Q", sql, once=(once,))
        for name, sql in {"a": "select count(*) from few", "b": "select max(group_id) from few"}
        .items()
    ]  # fmt: skip
    assert [answer.rows for answer in reader.ask(questions, 0)] == [((4,),), ((GROUPS[-1],),)]
    [alone] = reader.ask([Question("c", "C", questions[0].whole_sql)], 0)
    assert alone.rows == ((4,),)


def test_rows_that_stay_are_found_once_whoever_asks(reader: Reader) -> None:
    stays = Once("every", "select group_id from state.groups", stays=True)
    few = Once("few", "select group_id from every where group_id <> 'app'")
    last = Once("last_one", "select max(group_id) as group_id from every", stays=True)
    asked = [
        Question("a", "Q", "select count(*) from few", once=(stays, few)),
        Question("b", "Q", "select group_id from last_one", once=(stays, last)),
    ]
    again = [Question("c", "Q", "select min(group_id) from every", once=(stays,))]
    expected = [((2 * (len(GROUPS) - 1),),), ((GROUPS[-1],),)]
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda at_ms: reader.ask(asked, at_ms), range(4)))
    assert [[answer.rows for answer in found] for found in answers] == [expected] * 4
    [opened] = reader._tables._open.values()
    asked_of = "select table_name, estimated_size from duckdb_tables()"
    made = opened.connection.cursor().execute(asked_of)
    assert sorted(made.fetchall()) == [("every", 2 * len(GROUPS)), ("last_one", 1)]
    # what is gone from them is not made anew
    opened.connection.cursor().execute("delete from every where group_id <> 'apps'")
    assert [answer.rows for answer in reader.ask(again, 0)] == [(("apps",),)]
    [alone] = reader.ask([Question("d", "Q", asked[0].whole_sql)], 0)
    assert alone.rows == expected[0]


def test_rows_that_stay_are_those_of_the_tables_as_they_are(reader: Reader) -> None:
    stays = Once("every", "select group_id from state.groups", stays=True)
    question = Question("a", "Q", "select count(*) from every", once=(stays,))
    [before] = reader.ask([question], 0)
    writer(reader.warehouse)("state.groups", {"cluster_id": CLUSTER, "group_id": "new"})
    [after] = reader.ask([question], 0)
    assert after.rows[0][0] == before.rows[0][0] + 1


def test_rows_that_stay_and_are_wrong_are_no_more_than_a_problem(reader: Reader) -> None:
    wrong = Once("every", "select nothing from state.groups", stays=True)
    questions = [
        Question("a", "Q", "select count(*) from every", once=(wrong,)),
        Question("b", "Q", "select count(*) from state.groups"),
    ]
    of_wrong, found = reader.ask(questions, 0)
    assert "nothing" in str(of_wrong.problem)
    assert found.rows == ((2 * len(GROUPS),),)


def test_what_no_clock_changes_is_asked_once(reader: Reader) -> None:
    of_groups_now, of_clock = (
        Question("a", "Q", f"select count(*) from marts.{name}") for name in ("groups", "freshness")
    )
    first, second = (reader.ask([of_groups_now, of_clock], at_ms) for at_ms in (1, 2))
    assert first[0].rows is second[0].rows
    assert first[1].rows is not second[1].rows


def test_what_a_page_is_not_made_from_does_not_move_it(reader: Reader) -> None:
    tables, names = reader._tables, ("marts.groups", "state.runs")
    before, every = tables.versions(names), reader.versions()
    write = writer(reader.warehouse)
    write("history.plugin_calls", {"cluster_id": CLUSTER, "group_id": "app"})
    (reader.warehouse / POLLS).parent.mkdir()
    note_poll(reader.warehouse, CLUSTER, 1, [])
    assert tables.versions(names) == before
    assert reader.versions() != every
    assert tables.versions(["marts.freshness"])[-1][0] == f"poll {CLUSTER}.json"
    write("state.groups", {"cluster_id": CLUSTER, "group_id": "new"})
    assert tables.versions(names) != before


def test_an_answer_is_of_the_words_in_which_it_was_asked_for(reader: Reader) -> None:
    sql = "select count(*) from state.groups"
    for told in ("one", "another"):
        [answer] = reader.ask([Question("q", "Q", sql, told=told)], 0)
        assert answer.question.told == told


@pytest.mark.parametrize("group", GROUPS)
def test_history_is_that_of_the_group(reader: Reader, group: str) -> None:
    settings = load_settings(None, reader.warehouse)
    client = TestClient(application(settings), base_url=HERE)
    given = {"cluster": CLUSTER, "group": group}
    rows = client.get("/decisions.json", params=given).json()["sections"]["history"]["rows"]
    expected = ("cleanup {}", "sweep {}", "offset {} orders-0", "offset {} orders-1")
    assert {row["subject"] for row in rows} == {s.format(group) for s in expected}
