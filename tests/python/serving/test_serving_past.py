"""A group as it was: the page says what `moldau explain --as-of` and `moldau timeline` say."""

from __future__ import annotations

from click.testing import CliRunner
from hostile_rows import HERE
from starlette.testclient import TestClient

from moldau.cli import moldau
from moldau.project import SAMPLES
from moldau.runs.load import load
from moldau.serving.app import application
from moldau.sessions.session import Session

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
    assert max(row["event_at"] for row in events) < THEN
    now = client.get("/group.json", params=GROUP).json()
    assert len(now["sections"]["timeline"]["rows"]) > len(events)
    assert then["sections"].keys() < now["sections"].keys()
    refused = client.get("/group.json", params=GROUP | {"as_of": "then"})
    assert "'then' is not an instant" in refused.json()["problem"]
