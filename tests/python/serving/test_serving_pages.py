"""Every page on a warehouse with hostile names, and on an empty one; the same rows as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlencode

import pytest
from hostile_rows import AT_MS, CLUSTER, HERE, LONG, NAMES, SCRIPT
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from rows_support import writer
from starlette.testclient import TestClient

from moldau.errors import MoldauError
from moldau.metrics.exposition import MARTS, OFTEN, exposition
from moldau.reading.tables.query import query
from moldau.reading.tables.values import to_json
from moldau.serving.app import PAGES, application
from moldau.serving.charts import lines
from moldau.serving.pages.group import address_of
from moldau.serving.question import Answer, Question, text
from moldau.serving.reader import Reader
from moldau.settings import Settings, load_settings
from moldau.warehouse.contracts import tables

AT = {"at": str(AT_MS)}
OF_GROUP = AT | {"cluster": CLUSTER, "group": SCRIPT}
GIVEN = {name: OF_GROUP if name in ("group", "topology") else AT for name in PAGES}
HEAVIEST = 300_000  # bytes


class Tags(HTMLParser):
    """Elements, and what scripts and handlers there are."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[str] = []
        self.handlers: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append(tag)
        self.handlers += [name for name, _ in attrs if name.startswith("on") or name == "style"]
        self.links += [value or "" for name, value in attrs if name in ("href", "src", "action")]


def tags(html: str) -> Tags:
    parsed = Tags()
    parsed.feed(html)
    return parsed


@pytest.mark.parametrize("name", PAGES)
def test_no_name_becomes_a_part_of_the_page(client: TestClient, name: str) -> None:
    answer = client.get(f"/{name}", params=GIVEN[name])
    assert answer.status_code == 200
    assert len(answer.content) <= HEAVIEST
    parsed = tags(answer.text)
    assert parsed.found.count("script") == 1  # our own
    assert not {"img", "iframe", "style", "object"} & set(parsed.found)
    assert parsed.handlers == []
    assert [link for link in parsed.links if not link.startswith(("/", "#"))] == []
    assert 'class="problem"' not in answer.text
    for letter in ("\x1b", "\x00", "\u202e"):
        assert letter not in answer.text.replace("\n", "")
    assert "{{ 7 * 7 }}" in answer.text or "49{%" not in answer.text


@pytest.mark.parametrize("name", PAGES)
def test_json_has_the_names_as_they_are(client: TestClient, name: str) -> None:
    answer = client.get(f"/{name}.json", params=GIVEN[name])
    assert answer.headers["content-type"] == "application/json"
    told = answer.json()
    assert [s for s in told["sections"].values() if s.get("problem")] == []
    if name == "groups":
        rows = told["sections"]["groups"]["rows"]
        assert {row["group_id"] for row in rows} == set(NAMES)


@pytest.mark.parametrize("name", PAGES)
def test_an_empty_warehouse_has_every_page(empty: Settings, name: str) -> None:
    answer = TestClient(application(empty), base_url=HERE).get(f"/{name}", params=GIVEN[name])
    assert answer.status_code == (400 if name in ("group", "topology") else 200)


@pytest.mark.parametrize("group", NAMES, ids=range(len(NAMES)))
def test_every_group_is_found_by_its_link(client: TestClient, group: str) -> None:
    given = AT | dict(address_of(CLUSTER, group))
    assert len(urlencode(given)) < 2000
    told = client.get("/group.json", params=given).json()
    assert told["title"] == group
    assert told["sections"]["facts"]["rows"][0]["group_state"] == "EMPTY"
    assert told["sections"]["offsets"]["rows"][0]["topic_name"] == group
    assert "(DEFERRED_BY_GATE)" in " ".join(told["sections"]["explain"]["lines"])


def queries(client: TestClient) -> Iterator[tuple[str, str, list[dict[str, object]]]]:
    for name, given in GIVEN.items():
        sections = client.get(f"/{name}.json", params=given).json()["sections"]
        for section, told in sections.items():
            if "query" in told:
                yield f"{name}, {section}", told["query"], told["rows"]


def test_each_query_that_is_copied_gives_the_rows_that_are_shown(
    client: TestClient, hostile: Settings
) -> None:
    asked = list(queries(client))
    assert len(asked) > 25
    for where, sql, rows in asked:
        again = query(hostile.warehouse, sql, AT_MS).as_dicts()
        assert sorted(map(to_json, again)) == sorted(map(to_json, rows)), where


def test_search_takes_letters_for_what_they_are(client: TestClient) -> None:
    def found(words: str, **more: str) -> set[str]:
        told = client.get("/groups.json", params=AT | {"q": words} | more).json()
        return {row["group_id"] for row in told["sections"]["groups"]["rows"]}

    assert found("<SCRIPT>") == {SCRIPT}
    assert found("%") == {name for name in NAMES if "%" in name}
    assert found("' or 1=1 --") == set()
    assert found("'; DROP") == {"'; drop table state.groups; --"}
    assert found("\x00") == {name for name in NAMES if "\x00" in name}
    assert found("xxx", sort="members", state="EMPTY", next_sweep="defer") == {LONG}
    assert found("", type="classic") == set()


def test_a_query_is_that_of_what_was_asked_for(client: TestClient) -> None:
    """Also where other words had the same rows, which are kept."""
    for words in ("nobody", "nothing"):
        told = client.get("/groups.json", params=AT | {"q": words}).json()["sections"]["groups"]
        assert (told["rows"], f"'{words}'" in told["query"]) == ([], True)


def test_groups_are_sorted_and_turned_page_by_page(hostile: Settings) -> None:
    sorts = ["name", "next change", "offsets to expire", "members", "empty longest"]
    client = TestClient(application(hostile), base_url=HERE)
    for sort in sorts:
        told = client.get("/groups.json", params=AT | {"sort": sort}).json()
        assert len(told["sections"]["groups"]["rows"]) == len(NAMES)
    told = client.get("/groups.json", params={"page": "2"}).json()
    assert told["sections"]["groups"]["rows"] == []
    assert (told["page"], told["in_all"]) == (2, len(NAMES))


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/groups?page=0", "page='0' is not a number from 1"),
        ("/groups?page=-1", "is not a number"),
        ("/runs?page=two", "is not a number"),
        ("/?at=yesterday", "'yesterday' is not an instant"),
        ("/group?cluster=east&group=nobody", "cluster 'east' has no group 'nobody'"),
        ("/topology", "cluster=… and group=… say which"),
        ("/group?cluster=east", "cluster=… and group=… say which"),
        ("/group?cluster=east&group=", "cluster 'east' has no group ''"),
        ("/groups?sort=size", "sort='size' is none of name, next change,"),
    ],
)
def test_what_cannot_be_answered_is_said(client: TestClient, path: str, words: str) -> None:
    page, question, rest = path.partition("?")
    told = client.get(f"{page if page != '/' else '/overview'}.json{question}{rest}")
    assert told.status_code == 400
    assert words in told.json()["problem"]
    shown = client.get(path)
    assert shown.status_code == 400
    assert 'class="problem"' in shown.text


def test_there_is_no_other_page(client: TestClient) -> None:
    for path in ("/nothing", "/static/../app.py", "/static/%2e%2e/app.py", "/metrics2"):
        answer = client.get(path)
        assert answer.status_code == 404
        assert "import" not in answer.text
    assert client.get("/nothing.json").json() == {"problem": "there is no page /nothing.json"}


def test_the_clock_is_in_every_link_on(client: TestClient) -> None:
    html = client.get("/groups", params=AT).text
    links = [link for link in tags(html).links if link.startswith(("/group?", "/tiers"))]
    assert links
    assert all(f"at={AT_MS}" in link or "at=2026-" in link for link in links)


@pytest.mark.parametrize("at", ["0", "253402300799999"])
@pytest.mark.parametrize("name", [name for name in PAGES if name not in ("group", "topology")])
def test_a_clock_may_be_the_first_or_the_last(client: TestClient, name: str, at: str) -> None:
    told = client.get(f"/{name}.json", params={"at": at}).json()
    assert [s["problem"] for s in told["sections"].values() if s.get("problem")] == []


def test_runs_that_decide_nothing_lead_nowhere(client: TestClient) -> None:
    html = client.get("/runs", params=AT).text
    assert "/decisions?run=00000002-sweep" in html
    assert "00000001-load" in html
    assert "/decisions?run=00000001-load" not in html


def test_nothing_that_is_later_than_the_clock_failed_in_the_last_day(client: TestClient) -> None:
    def failed(at_ms: int) -> int:
        told = client.get("/overview.json", params={"at": at_ms}).json()["sections"]
        return len(told["failed_runs"]["rows"])

    day_ms = 86_400_000
    assert [failed(AT_MS + step) for step in (-day_ms, 0, day_ms - 60_000, day_ms)] == [0, 1, 1, 0]


def test_pages_are_answered_without_spark_whatever_the_engine_of_runs_is(
    empty: Settings,
) -> None:
    writer(empty.warehouse)("state.runs", {"run_id": "00000001-load", "kind": "load"})
    settings = empty.model_copy(update={"engine": "spark"})
    told = TestClient(application(settings), base_url=HERE).get("/runs.json").json()
    assert [row["run_id"] for row in told["sections"]["runs"]["rows"]] == ["00000001-load"]


def test_what_another_command_writes_is_seen(empty: Settings) -> None:
    writer(empty.warehouse)("state.runs", {"run_id": "00000001-load", "kind": "load"})
    client = TestClient(application(empty), base_url=HERE)

    def runs() -> list[str]:
        rows = client.get("/runs.json", params=AT).json()["sections"]["runs"]["rows"]
        return [row["run_id"] for row in rows]

    assert runs() == runs() == ["00000001-load"]
    writer(empty.warehouse)("state.runs", {"run_id": "00000002-load", "kind": "load"})
    assert runs() == ["00000002-load", "00000001-load"]


class TestReader:
    def asked(self, settings: Settings, sql: str, seconds: float = 20.0) -> object:
        [answer] = Reader(settings.warehouse, seconds).ask([Question("q", "Q", sql)], AT_MS)
        return answer.problem or answer.rows

    def test_the_clock_is_that_of_the_page(self, hostile: Settings) -> None:
        reader = Reader(hostile.warehouse)
        question = Question("q", "Q", "select age_ms from marts.freshness")
        assert reader.ask([question], AT_MS)[0].problem is None
        of_clock = "select getvariable('at_ms'), count(*) >= 0 from marts.freshness"
        clock = Question("q", "Q", of_clock)
        for at_ms in (AT_MS, 5):
            assert reader.ask([clock], at_ms)[0].rows == ((at_ms, True),)

    def test_it_reads_tables_and_nothing_else(self, hostile: Settings) -> None:
        for sql, words in {
            "delete from state.groups": "one query is expected",
            "select 1; select 2": "one query is expected",
            "select * from read_text('/etc/hostname'), state.groups": "nothing else",
            "copy (select * from state.groups) to '/tmp/x.csv'": "one query is expected",
        }.items():
            assert words in str(self.asked(hostile, sql))

    def test_what_takes_too_long_is_ended(self, hostile: Settings) -> None:
        sql = "select count(*) from range(1000000) a, range(1000000) b, state.groups"
        assert "took longer than 0.2 s" in str(self.asked(hostile, sql, 0.2))

    def test_rows_are_bounded(self, hostile: Settings) -> None:
        assert len(self.asked(hostile, "select r.* from range(5000) r, state.runs")) == 1000  # type: ignore[arg-type]

    def test_a_damaged_table_is_told_in_its_section(self, empty: Settings) -> None:
        writer(empty.warehouse)("state.groups", {"cluster_id": "east", "group_id": "g"})
        for file in (empty.warehouse / "state" / "groups").glob("*.parquet"):
            file.write_bytes(b"spoilt")
        assert "state.groups" in str(self.asked(empty, "select * from state.groups"))

    def test_a_group_is_not_missing_where_its_table_is_damaged(self, empty: Settings) -> None:
        writer(empty.warehouse)("state.groups", {"cluster_id": "east", "group_id": "g"})
        for file in (empty.warehouse / "state" / "groups" / "_delta_log").glob("*.json"):
            file.write_text("torn")
        client = TestClient(application(empty), base_url=HERE)
        told = client.get("/group.json", params={"cluster": "east", "group": "g"})
        assert told.status_code == 400
        assert "the commit is torn" in told.json()["problem"]

    def test_no_warehouse_is_told_at_the_start(self, empty: Settings) -> None:
        nowhere = empty.model_copy(update={"warehouse": empty.warehouse / "none"})
        with pytest.raises(MoldauError, match="there is no warehouse in"):
            application(nowhere)


def test_pages_are_answered_while_many_ask_and_another_command_writes(empty: Settings) -> None:
    write = writer(empty.warehouse)
    for name in tables():
        write(name)
    client = TestClient(application(empty), base_url=HERE)
    paths = [f"/{name}.json?at={AT_MS}" for name in PAGES if name not in ("group", "topology")]

    def ask(number: int) -> tuple[int, list[str]]:
        if number % 20 == 7:
            write("state.runs", {"run_id": f"{number:08d}-load", "kind": "load"})
        answer = client.get(paths[number % len(paths)])
        problems = [s["problem"] for s in answer.json()["sections"].values() if s.get("problem")]
        return answer.status_code, problems

    with ThreadPoolExecutor(20) as pool:
        assert set(map(str, pool.map(ask, range(100)))) == {"(200, [])"}
    runs = client.get(f"/runs.json?at={AT_MS}").json()["sections"]["runs"]["rows"]
    assert len(runs) == 5


def test_texts_are_themselves_in_sql(hostile: Settings) -> None:
    for name in NAMES:
        assert list(query(hostile.warehouse, f"select {text(name)}").rows) == [(name,)]


def test_no_letter_below_a_chart_is_cut_off() -> None:
    question = Question("q", "Q", "")
    curve = lines(Answer(question, ("of", "x_ms", "y"), (("a", 1000, 1), ("a", 604_800_000, 2))))
    of_time = Answer(question, ("of", "x_at_ms", "y"), (("a", 0, 1), ("a", 60_000, 2)))
    drawn = lines(of_time)
    assert curve and [(mark.label, mark.side) for mark in curve.below] == [
        ("1 s", "middle"), ("7 d", "end")
    ]  # fmt: skip
    assert drawn and [mark.side for mark in drawn.below] == ["start", "end"]


def test_json_is_json_whatever_a_name_is(client: TestClient) -> None:
    raw = client.get("/groups.json", params=AT).content
    assert json.loads(raw)
    assert not re.search(rb"[\x00-\x09\x0b-\x1f]", raw)


def test_prometheus_reads_the_same_as_from_the_verb(client: TestClient) -> None:
    answer = client.get("/metrics")
    assert answer.headers["content-type"].startswith("application/openmetrics-text")
    found = {family.name for family in text_string_to_metric_families(answer.text)}
    assert {"moldau_build_info", "kafka_consumergroup_group_lag"} <= found


def test_a_page_s_metrics_are_those_of_the_verb(hostile: Settings) -> None:
    with Reader(hostile.warehouse).tables(MARTS, AT_MS, OFTEN) as tables:
        served = exposition(hostile.warehouse, AT_MS, opened=tables)
    assert served == exposition(hostile.warehouse, AT_MS)


def test_a_topology_that_no_plugin_is_asked_for_says_so(tmp_path: Path) -> None:
    """Its group's page calls it stored, as the records do."""
    write = writer(tmp_path)
    for name in tables():
        write(name)
    group = {"cluster_id": "east", "group_id": "app"}
    epochs = {"topology_epoch": 4, "stored_description_topology_epoch": 4}
    write("state.groups", group | epochs | {"group_type": "streams", "is_readable": True})
    client = TestClient(application(load_settings(None, tmp_path)), base_url=HERE)
    told = client.get("/topology.json", params={"cluster": "east", "group": "app"}).json()
    lines = told["sections"]["status"]["lines"]
    assert lines[0] == "Status: NOT_STORED, topology epoch 4."
    assert "name no plugin" in lines[1]
