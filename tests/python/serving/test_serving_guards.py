"""Who is answered, and what a browser may do with the answer."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from click.testing import CliRunner
from hostile_rows import AT_MS, HERE
from starlette.testclient import TestClient

from moldau.cli import moldau
from moldau.errors import MoldauError
from moldau.serving.app import PAGES, application
from moldau.serving.server import serve, token_of
from moldau.settings import Settings

TOKEN = "correct-horse-battery"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_only_reading_is_answered(client: TestClient, method: str) -> None:
    answer = client.request(method, "/groups")
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD")


def test_head_is_get_without_the_page(client: TestClient) -> None:
    for path in ("/", "/groups.json", "/static/style.css"):
        answer = client.head(path)
        assert (answer.status_code, answer.content) == (200, b"")


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example:8181", "", "[::2]"])
def test_a_page_elsewhere_cannot_take_this_machine_s_name(client: TestClient, host: str) -> None:
    assert client.get("/", headers={"host": host}).status_code == 421


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8181", "127.0.0.1:1", "[::1]:8181"])
def test_this_machine_s_own_names_are_answered_to(client: TestClient, host: str) -> None:
    assert client.get("/runs", headers={"host": host}).status_code == 200


def test_pages_of_others_may_lead_here_and_nothing_else(client: TestClient) -> None:
    def status(mode: str) -> int:
        headers = {"sec-fetch-site": "cross-site", "sec-fetch-mode": mode}
        return client.get("/runs.json", headers=headers).status_code

    assert (status("navigate"), status("cors"), status("no-cors")) == (200, 403, 403)


@pytest.mark.parametrize("path", ["/", "/runs.json", "/nothing", "/static/moldau.js"])
def test_nothing_runs_or_is_loaded_but_our_own(client: TestClient, path: str) -> None:
    headers = client.get(path).headers
    policy = headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-resource-policy"] == "same-origin"


def test_a_token_is_asked_for(hostile: Settings) -> None:
    client = TestClient(application(hostile, TOKEN), base_url="http://moldau.example")

    def status(**headers: str) -> int:
        return client.get("/runs", headers=headers).status_code

    assert status() == 401
    assert status(authorization="Bearer wrong") == 401
    assert status(authorization="Basic !!") == 401
    assert status(authorization=f"Digest {TOKEN}") == 401
    assert status(authorization=f"Bearer {TOKEN}") == 200
    assert client.get("/runs", auth=("anybody", TOKEN)).status_code == 200
    assert client.get("/runs", auth=(TOKEN, "")).status_code == 401
    refused = client.get("/static/style.css")
    assert refused.status_code == 401
    assert TOKEN not in refused.text


def test_others_are_not_let_in_without_a_token(hostile: Settings) -> None:
    for host in ("0.0.0.0", "::", "10.0.0.1", "moldau.example"):
        with pytest.raises(MoldauError, match="others may reach"):
            serve(hostile, host, 0, None, print)


def test_a_token_comes_from_a_file_or_a_variable(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\nsecond line\n")
    assert token_of(file, "of-the-variable-here") == TOKEN
    assert token_of(None, TOKEN) == TOKEN
    assert token_of(None, None) is None
    with pytest.raises(MoldauError, match="fewer than 16 letters"):
        token_of(None, "short")
    with pytest.raises(MoldauError, match="cannot be read"):
        token_of(tmp_path / "none", None)


def test_a_port_that_is_taken_is_told(hostile: Settings) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(MoldauError, match=f"port {port} cannot be listened on"):
            serve(hostile, "127.0.0.1", port, None, print)


def test_no_secret_is_in_a_page(tmp_path: Path, hostile: Settings) -> None:
    config = tmp_path / "moldau.yml"
    config.write_text(
        "clusters:\n  'east<b>': {authority: moldau, plugin: {name: webhook, "
        "url: 'http://user:s3cretpass@127.0.0.1:9/'}}\n"
    )
    from moldau.settings import load_settings

    settings = load_settings(config, hostile.warehouse, checks_plugins=False)
    client = TestClient(application(settings), base_url=HERE)
    given = {"cluster": "east<b>", "group": "<script>alert('moldau')</script>"}
    for name in PAGES:
        assert "s3cretpass" not in client.get(f"/{name}", params=given).text


def test_the_report_is_one_file_that_needs_no_other(hostile: Settings, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    words = ["report", "--to", str(file), "--warehouse", str(hostile.warehouse)]
    assert CliRunner().invoke(moldau, [*words, "--at", str(AT_MS)]).exit_code == 0
    html = file.read_text()
    assert "<script" not in html
    assert "<link" not in html
    assert "src=" not in html.replace("&lt;img src=x", "").replace("src=x onerror", "")
    assert "&lt;script&gt;alert(&#39;moldau&#39;)&lt;/script&gt;" in html
    assert len(html.encode()) < 300_000
    bad = CliRunner().invoke(moldau, ["report", "--to", str(tmp_path), *words[3:]])
    assert isinstance(bad.exception, MoldauError)
    assert "cannot be written" in str(bad.exception)


@pytest.mark.processes
def test_it_answers_until_it_is_told_to_end(hostile: Settings) -> None:
    words = [sys.executable, "-c", "from moldau.cli import main; main()", "serve", "--port", "0"]
    command = [*words, "--warehouse", str(hostile.warehouse)]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("MOLDAU_")}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout
        address = process.stdout.readline().split()[0]
        with urllib.request.urlopen(f"{address}runs") as answer:
            assert b"All runs" in answer.read()
            assert "server" not in {name.lower() for name in answer.headers}
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=30) == 0
