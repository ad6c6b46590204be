"""`moldau demo --live` at a real Kafka: what a newcomer is told of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from broker_support import CHECK_INTERVAL_MS, USERS, Broker, password_login, properties_text
from groups_support import TOPIC, Groups

from moldau.cli import run
from moldau.collecting.asker import asking
from moldau.collecting.clean_up import clean_up_settings
from moldau.dumping.client_settings import client_settings
from moldau.reading.tables.query import query

FINE, REFUSED = 0, 1
DEMO = Path("moldau-demo")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path


def test_it_tells_who_lags_and_what_expires(
    groups: Groups, broker: Broker, capfd: pytest.CaptureFixture[str]
) -> None:
    groups.commit("g-newcomer", p0=0, p1=0)
    groups.produce(TOPIC, {"value": b"v", "partition": 0})
    assert run(["demo", "--live", "--bootstrap-servers", broker.plaintext]) == FINE
    told = capfd.readouterr()
    assert told.err == ""
    for said in (f'offsets.retention.check.interval.ms: "{CHECK_INTERVAL_MS}"', "InMemory",
                 "How far behind is who?", "When does each offset expire?"):  # fmt: skip
        assert said in told.out
    lag = "select partition_index, lag > 0 from marts.group_lag where group_id = 'g-newcomer'"
    assert (0, True) in query(DEMO, lag).rows
    ends = "select next_cycle, next_sweep from marts.cleanup_preview where group_id = 'g-newcomer'"
    assert list(query(DEMO, ends).rows) == [("not_eligible", "keep")]

    assert (
        run(["demo", "--live", "--bootstrap-servers", "127.0.0.1:1", "--timeout", "2"]) == REFUSED
    )
    assert "127.0.0.1:1" in capfd.readouterr().err
    assert query(DEMO, lag).rows, "the demo before is still there"


def test_settings_that_the_client_may_not_see_are_named(
    folder: Path, broker: Broker, capfd: pytest.CaptureFixture[str]
) -> None:
    file = folder / "bob.properties"
    file.write_text(properties_text(password_login("PLAIN", "bob", USERS["bob"])))
    with asking(client_settings(broker.sasl, file), 20) as asker:
        settings, [finding] = clean_up_settings(asker)
    assert settings == {}
    assert "CLUSTER_AUTHORIZATION_FAILED (DESCRIBE_CONFIGS)" in finding
    assert run(["demo", "--properties", str(file)]) == REFUSED
    assert "are for --live" in capfd.readouterr().err
