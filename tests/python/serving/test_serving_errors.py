"""What is moldau's own fault is one line on the page, and a traceback in the warehouse's log."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hostile_rows import HERE
from starlette.testclient import TestClient

from moldau.serving.app import PAGES, application
from moldau.serving.page import Asked, Page
from moldau.settings import Settings, load_settings
from moldau.warehouse.paths import ERRORS

SECRET = "s3cretpass"


@pytest.fixture
def broken(tmp_path: Path, empty: Settings, monkeypatch: pytest.MonkeyPatch) -> Settings:
    config = tmp_path / "moldau.yml"
    config.write_text(
        "clusters:\n  east: {authority: moldau, plugin: {name: webhook, "
        f"url: 'http://user:{SECRET}@127.0.0.1:9/'}}}}\n"
    )

    def fails(_: Asked) -> Page:
        raise ValueError(f"<b>nobody expected {SECRET}</b>")

    monkeypatch.setitem(PAGES, "runs", fails)  # type: ignore[call-overload]
    return load_settings(config, empty.warehouse, checks_plugins=False)


def ask(settings: Settings, path: str) -> tuple[str, str]:
    """What is said, and the number of the error in it."""
    client = TestClient(application(settings), base_url=HERE)
    answer = client.get(path)
    assert answer.status_code == 500
    assert SECRET not in answer.text
    assert "Traceback" not in answer.text
    [number] = re.findall(r"internal error ([0-9a-f]{8}):", answer.text)
    return answer.text, number


def test_the_traceback_is_in_the_log_under_the_number(
    broken: Settings, capfd: pytest.CaptureFixture[str]
) -> None:
    (broken.warehouse / ERRORS).parent.mkdir()
    shown, number = ask(broken, f"/runs?kind={SECRET}")
    assert 'class="problem"' in shown
    told, other = ask(broken, "/runs.json")
    assert '"problem"' in told
    log = (broken.warehouse / ERRORS).read_text()
    assert SECRET not in log
    assert f"moldau serve, error {number}: /runs?kind=***" in log
    assert f"error {other}: /runs.json" in log
    assert log.count("ValueError: <b>nobody expected ***</b>") == 2
    assert "".join(capfd.readouterr()) == ""


def test_without_a_log_it_is_told_where_moldau_was_started(
    broken: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    _, number = ask(broken, "/runs")
    assert number in caplog.text
    assert "nobody expected ***" in caplog.text


def test_a_path_is_escaped_once(empty: Settings) -> None:
    answer = TestClient(application(empty), base_url=HERE).get("/<b>nothing")
    assert answer.status_code == 404
    assert "there is no page /&lt;b&gt;nothing" in answer.text
