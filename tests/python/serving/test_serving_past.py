"""Groups as they were: pages say what `moldau explain` and `moldau show` say with `--as-of`."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from click.testing import CliRunner
from hostile_rows import HERE
from starlette.testclient import TestClient

from moldau.cli import moldau
from moldau.project import SAMPLES
from moldau.runs.load import load
from moldau.serving.app import PAGES, application
from moldau.serving.past import NO_PAST, PAST
from moldau.sessions.session import Session
from moldau.settings import Settings

GROUP = {"cluster": "served", "group": "c-txn-off"}
THEN = "2026-11-21T07:56:00Z"


def test_a_group_is_shown_as_it_was(session: Session) -> None:
    load(session, [SAMPLES / "west" / "__consumer_offsets.jsonl"], "served", "records")
    words = ["explain", GROUP["group"], "--cluster", "served", "--as-of", THEN]
    told = CliRunner().invoke(moldau, [*words, "--warehouse", str(session.warehouse)])
    client = TestClient(application(session.settings), base_url=HERE)
    then = client.get("/group.json", params=GROUP | {"as_of": THEN}).json()
    assert "\n".join(then["sections"]["explain"]["lines"]) == told.stdout.rstrip("\n")
    assert then["sections"]["facts"]["rows"][0]["group_state"] == "EMPTY"
    events = then["sections"]["timeline"]["rows"]
    assert events
    offsets = then["sections"]["offsets"]["rows"]
    assert [(row["topic_name"], row["partition_index"]) for row in offsets] == sorted(
        (row["topic_name"], row["partition_index"]) for row in shown_then(session, "group_offsets")
    )
    assert {"committed_at", "expires_at"} <= offsets[0].keys()
    assert max(row["event_at"] for row in events) < THEN
    now = client.get("/group.json", params=GROUP).json()
    assert len(now["sections"]["timeline"]["rows"]) > len(events)
    assert then["sections"].keys() < now["sections"].keys()
    refused = client.get("/group.json", params=GROUP | {"as_of": "then"})
    assert "'then' is not an instant" in refused.json()["problem"]


def shown_then(session: Session, mart: str) -> list[dict[str, Any]]:
    """Rows of the group, as `moldau show` says them of the same instant."""
    where = f"group_id = '{GROUP['group']}' and cluster_id = 'served' and not is_deleted"
    words = ["show", f"marts.{mart}", "--as-of", THEN, "--where", where, "--format", "json"]
    told = CliRunner().invoke(moldau, [*words, "--warehouse", str(session.warehouse)])
    rows: list[dict[str, Any]] = json.loads(told.stdout)
    return rows


def test_before_its_first_record_nothing_was_known_of_a_group(session: Session) -> None:
    load(session, [SAMPLES / "west" / "__consumer_offsets.jsonl"], "served", "records")
    client = TestClient(application(session.settings), base_url=HERE)
    told = client.get("/group.json", params=GROUP | {"as_of": "2020-01-01"}).json()["sections"]
    assert told["explain"]["lines"] == ["Nothing was known of it then."]
    assert told["facts"]["rows"] == []


def test_pages_of_all_groups_are_shown_as_they_were(session: Session) -> None:
    load(session, [SAMPLES / "west" / "__consumer_offsets.jsonl"], "served", "records")
    client = TestClient(application(session.settings), base_url=HERE)
    then = {"cluster": "served", "as_of": THEN}

    words = ["show", "marts.groups", "--as-of", THEN, "--where", "not is_deleted", "--format"]
    told = CliRunner().invoke(moldau, [*words, "json", "--warehouse", str(session.warehouse)])
    shown = {row["group_id"] for row in json.loads(told.stdout) if row["cluster_id"] == "served"}
    listed = client.get("/groups.json", params=then).json()
    assert {row["group_id"] for row in listed["sections"]["groups"]["rows"]} == shown
    now = client.get("/groups.json", params={"cluster": "served"}).json()
    assert shown != {row["group_id"] for row in now["sections"]["groups"]["rows"]}
    assert listed["at"] == THEN
    assert f"Rebuilt as of {THEN}" in client.get("/groups", params=then).text

    decided = client.get("/decisions.json", params=then | {"group": "c-txn-off"}).json()["sections"]
    assert "history" not in decided
    assert [section["query"] for section in decided.values()] == ["", ""]
    words[1:2] = ["decisions.group_sweeps"]
    told = CliRunner().invoke(
        moldau, [*words[:4], "--format", "json", "--warehouse", str(session.warehouse)]
    )
    [sweep] = [row for row in json.loads(told.stdout) if row["group_id"] == "c-txn-off"]
    found = {row["subject"]: row["decision"] for row in decided["decisions"]["rows"]}
    assert found["sweep c-txn-off"] == sweep["decision"]


def test_links_of_the_past_lead_to_the_past(session: Session) -> None:
    load(session, [SAMPLES / "west" / "__consumer_offsets.jsonl"], "served", "records")
    client = TestClient(application(session.settings), base_url=HERE)
    html = client.get("/groups", params={"cluster": "served", "as_of": THEN}).text
    links = re.findall(r'<td[^>]*><a href="(/group[^"]*)"', html)
    assert links
    assert all("as_of=2026" in link for link in links)
    assert re.findall(r'href="(/tiers[^"]*)"', html) == ["/tiers"]


@pytest.mark.parametrize("name", sorted({*PAGES} - {*PAST, "topology"}))
def test_other_pages_say_that_they_have_no_past(empty: Settings, name: str) -> None:
    client = TestClient(application(empty), base_url=HERE)
    assert client.get(f"/{name}.json", params={"as_of": THEN}).json()["note"] == NO_PAST
    assert NO_PAST in client.get(f"/{name}", params={"as_of": THEN}).text


def test_a_moment_of_too_many_records_is_refused(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    load(session, [SAMPLES / "west" / "__consumer_offsets.jsonl"], "served", "records")
    monkeypatch.setattr("moldau.serving.past.MOST_RECORDS", 3)
    client = TestClient(application(session.settings), base_url=HERE)
    answer = client.get("/groups.json", params={"as_of": THEN})
    assert answer.status_code == 400
    assert "would be gone through, and a page does so with 3" in answer.json()["problem"]
