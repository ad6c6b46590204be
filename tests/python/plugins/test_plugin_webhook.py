"""The plugin `webhook`, against a real server on this machine."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from plugin_support import ODD_NAMES, plugin, round_trips, the_last_one_counts

from moldau.plugins import PermanentFailure, TransientFailure
from moldau.plugins.calls import Call, make_calls

NAMES = [name for name in ODD_NAMES if len(name) < 1_000]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_any(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        server: Any = self.server
        server.requests.append((self.command, self.path, dict(self.headers), body))
        if server.answer is not None:
            status, answer = server.answer
            server.release.wait(20) if status == 0 else None
        elif self.command == "PUT":
            server.stored[self.path] = body
            status, answer = 204, b""
        else:
            method = server.stored.get if self.command == "GET" else server.stored.pop
            found = method(self.path, None)
            status, answer = (404, b"unknown") if found is None else (200, found)
        self.send_response(status or 200)
        self.send_header("Content-Length", str(len(answer)))
        self.send_header("Location", "/elsewhere")
        self.end_headers()
        self.wfile.write(answer)

    do_GET = do_PUT = do_DELETE = do_any

    def log_message(self, *_: Any) -> None: ...


@pytest.fixture
def server() -> Iterator[Any]:
    started: Any = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    started.stored, started.requests, started.answer = {}, [], None
    started.release = threading.Event()
    started.url = f"http://127.0.0.1:{started.server_port}"
    threading.Thread(target=started.serve_forever, args=(0.01,), daemon=True).start()
    yield started
    started.release.set()
    started.shutdown()
    started.server_close()


def test_descriptions_of_odd_names_come_back(tmp_path: Path, server: Any) -> None:
    url = server.url + "/v1/"
    stored = plugin("webhook", tmp_path, "a b/c", url=url)
    round_trips(stored, plugin("webhook", tmp_path, "west", url=url), NAMES)
    assert server.stored == {}
    assert all(
        path.startswith(("/v1/a%20b%2Fc/", "/v1/west/")) for _, path, _, _ in server.requests
    )


def test_the_last_one_counts(tmp_path: Path, server: Any) -> None:
    the_last_one_counts(plugin("webhook", tmp_path, url=server.url))


@pytest.mark.parametrize("name", NAMES)
def test_the_address_is_what_is_documented(tmp_path: Path, server: Any, name: str) -> None:
    plugin("webhook", tmp_path, url=server.url).delete_topology(name)
    segment = quote(name, safe="") if name.strip(".") else "%2E" * len(name)
    assert server.requests[0][:2] == ("DELETE", f"/east/{segment}")


def test_a_group_without_a_name_is_not_the_whole_cluster(tmp_path: Path, server: Any) -> None:
    with pytest.raises(PermanentFailure):
        plugin("webhook", tmp_path, url=server.url).delete_topology("")
    assert server.requests == []


def test_what_is_sent(tmp_path: Path, server: Any) -> None:
    options = {"url": server.url, "headers": {"Authorization": "Bearer x"}}
    calls = [Call("run 1/é", "east", "g", "set", 5, {"a": ["é"]})]
    (outcome,) = make_calls(lambda: plugin("webhook", tmp_path, **options), calls, 5)
    assert outcome.outcome == "success"
    method, path, headers, body = server.requests[0]
    assert (method, path) == ("PUT", "/east/g")
    assert json.loads(body) == {"topology_epoch": 5, "description": {"a": ["é"]}}
    assert headers["Authorization"] == "Bearer x"
    assert headers["Content-Type"] == "application/json"
    assert headers["Idempotency-Key"] == "run 1/%C3%A9"


@pytest.mark.parametrize(
    ("operation", "status", "body", "failure", "message"),
    [
        ("set", 201, b"made", None, None),
        ("delete", 404, b"unknown", None, None),
        ("get", 404, b"unknown", None, None),
        ("get", 204, b"", None, None),
        ("set", 404, b"no such tenant", PermanentFailure, "no such tenant"),
        ("delete", 400, "schlecht \u00fc\n".encode(), PermanentFailure, "schlecht \u00fc"),
        ("delete", 403, b" ", PermanentFailure, "HTTP 403"),
        ("delete", 429, b"", PermanentFailure, "HTTP 429"),
        ("delete", 500, b"broken", TransientFailure, "broken"),
        ("delete", 503, b"", TransientFailure, "HTTP 503"),
        ("delete", 302, b"", TransientFailure, "HTTP 302"),
        ("get", 200, b"<html>", TransientFailure, "the answer to GET is not JSON"),
    ],
)
def test_what_an_answer_means(
    tmp_path: Path,
    server: Any,
    operation: str,
    status: int,
    body: bytes,
    failure: type[Exception] | None,
    message: str | None,
) -> None:
    server.answer = (status, body)
    stored = plugin("webhook", tmp_path, url=server.url)
    arguments = {"set": ("g", 1, {}), "delete": ("g",), "get": ("g", 1)}[operation]
    method = getattr(stored, f"{operation}_topology")
    if failure is None:
        assert method(*arguments) is None
    else:
        with pytest.raises(failure) as caught:
            method(*arguments)
        assert str(caught.value) == message
    assert len(server.requests) == 1


def test_nobody_there_is_transient_and_no_answer_a_timeout(tmp_path: Path, server: Any) -> None:
    calls = [Call("1", "east", "g", "delete", -1)]
    server.answer = (0, b"")
    stored = plugin("webhook", tmp_path, url=server.url)
    (hanging,) = make_calls(stored, calls, 0.2)
    assert (hanging.outcome, hanging.message) == ("timeout", "no answer in 0.2 s")

    nobody = plugin("webhook", tmp_path, url="http://127.0.0.1:1")
    (refused,) = make_calls(nobody, calls, 5)
    assert refused.outcome == "transient_failure"
    assert "refused" in (refused.message or "")


def test_the_url_is_checked(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="begins with http"):
        plugin("webhook", tmp_path, url="ftp://x")
