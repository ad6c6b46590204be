"""The plugin `webhook`, against a real server on this machine."""

from __future__ import annotations

import base64
import gzip
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote

import pytest
from plugin_support import ODD_NAMES, plugin, round_trips, the_last_one_counts

from moldau.plugins import PermanentFailure, TransientFailure
from moldau.plugins.calls import Call, make_calls
from moldau.plugins.protocol import time_limit
from moldau.plugins.registry import PluginSpec
from moldau.plugins.slices import call_all

NAMES = [name for name in ODD_NAMES if len(name) < 1_000]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_any(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        server: Any = self.server
        server.connections.add(self.client_address)
        server.requests.append((self.command, self.path, dict(self.headers), body))
        if server.answer is not None:
            status, answer, *more = server.answer
            server.headers = more[0] if more else {}
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
        for name, value in server.headers.items():
            self.send_header(name, value)
        self.end_headers()
        for piece in answer if server.trickles else [answer]:
            try:
                self.wfile.write(bytes([piece]) if server.trickles else answer)
            except OSError:  # the client has had enough
                return
            if server.trickles and server.release.wait(0.05):
                return

    do_GET = do_PUT = do_DELETE = do_any

    def log_message(self, *_: Any) -> None: ...


@pytest.fixture
def server() -> Iterator[Any]:
    started: Any = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    started.stored, started.requests, started.answer = {}, [], None
    started.headers, started.trickles, started.connections = {}, False, set()
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


@pytest.mark.parametrize("url", ["ftp://u:hush@x", "u:hush@x", "https://u:hu#sh@x", "http://x#"])
def test_the_url_is_checked_and_not_told(tmp_path: Path, url: str) -> None:
    with pytest.raises(ValueError, match=r"webhook.s url (begins with http|has a #)") as caught:
        plugin("webhook", tmp_path, url=url)
    assert "hu" not in str(caught.value).replace("webhook", "")


@pytest.mark.parametrize("path", ["/api?sig=a%2Fb&v=1", "/api/?sig=a%2Fb&v=1"])
def test_a_query_stays_behind_the_path(tmp_path: Path, server: Any, path: str) -> None:
    plugin("webhook", tmp_path, url=server.url + path).delete_topology("a b?c")
    assert server.requests[0][1] == "/api/east/a%20b%3Fc?sig=a%2Fb&v=1"


def test_what_went_wrong_is_told_without_the_query(tmp_path: Path) -> None:
    nobody = plugin("webhook", tmp_path, url="http://u:pw@127.0.0.1:1/x?sig=hush")
    with pytest.raises(TransientFailure, match="refused") as caught:
        nobody.delete_topology("g")
    assert "hush" not in str(caught.value)
    assert "pw" not in str(caught.value)


def test_connections_are_kept(tmp_path: Path, server: Any) -> None:
    stored = plugin("webhook", tmp_path, url=server.url)
    stored.set_topology("g", 1, "x" * 9_000)
    assert stored.get_topology("g", 1) == "x" * 9_000
    stored.delete_topology("g")
    server.answer = (500, b"broken", {"Content-Encoding": "identity"})
    with pytest.raises(TransientFailure, match="broken"):
        stored.delete_topology("g")
    server.answer = None
    stored.delete_topology("h")
    assert len(server.connections) == 1


USER = "Basic " + base64.b64encode(b"user:pass word").decode()
NETRC = "Basic " + base64.b64encode(b"of netrc:secret").decode()


@pytest.mark.parametrize(
    ("user", "headers", "said"),
    [
        ("", {}, NETRC),
        ("user:pass%20word@", {}, USER),
        ("", {"Authorization": "Bearer x"}, "Bearer x"),
        ("", {"aUTHORIZATION": "Bearer x"}, "Bearer x"),
        ("user:pass%20word@", {"authorization": "Bearer x"}, "Bearer x"),
    ],
)
def test_netrc_speaks_only_where_nothing_is_configured(
    tmp_path: Path,
    server: Any,
    monkeypatch: pytest.MonkeyPatch,
    user: str,
    headers: dict[str, str],
    said: str,
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text('machine 127.0.0.1 login "of netrc" password secret\n')
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    url = server.url.replace("://", f"://{user}")
    plugin("webhook", tmp_path, url=url, headers=headers).delete_topology("g")
    sent = {name.lower(): value for name, value in server.requests[0][2].items()}
    assert sent["authorization"] == said


def test_a_proxy_of_the_environment_is_asked(
    tmp_path: Path, server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", server.url)
    plugin("webhook", tmp_path, url="http://nowhere.invalid/x?a=b").delete_topology("g")
    assert server.requests[0][1] == "http://nowhere.invalid/x/east/g?a=b"


@pytest.mark.parametrize("is_compressed", [True, False])
def test_a_description_without_bounds_is_not_read(
    tmp_path: Path, server: Any, monkeypatch: pytest.MonkeyPatch, is_compressed: bool
) -> None:
    told = json.dumps({"topology_epoch": 1, "description": " " * 3_000_000}).encode()
    body = gzip.compress(told) if is_compressed else told
    server.answer = (200, body, {"Content-Encoding": "gzip"} if is_compressed else {})
    stored = plugin("webhook", tmp_path, url=server.url)
    assert len(stored.get_topology("g", 1)) == 3_000_000
    monkeypatch.setattr("moldau.plugins.webhook.LONGEST_ANSWER_BYTES", 2_000_000)
    with pytest.raises(TransientFailure, match="the answer is longer than 2000000 bytes"):
        stored.get_topology("g", 1)
    server.answer = None
    assert stored.get_topology("other", 1) is None, "on a connection of its own"


def test_a_bomb_of_many_layers_and_a_broken_one_are_transient(tmp_path: Path, server: Any) -> None:
    stored = plugin("webhook", tmp_path, url=server.url)
    bomb = gzip.compress(gzip.compress(bytes(400_000_000), 9), 9)
    server.answer = (200, bomb, {"Content-Encoding": "gzip, gzip"})
    with pytest.raises(TransientFailure, match="the answer is longer than"):
        stored.get_topology("g", 1)
    server.answer = (200, b"no gzip", {"Content-Encoding": "gzip"})
    with pytest.raises(TransientFailure, match="failed to decode"):
        stored.get_topology("g", 1)
    server.answer = (404, b"no gzip", {"Content-Encoding": "gzip"})
    assert stored.get_topology("g", 1) is None


def test_an_answer_in_single_bytes_is_given_up(tmp_path: Path, server: Any) -> None:
    server.trickles, server.answer = True, (200, b" " * 100_000)
    stored = plugin("webhook", tmp_path, url=server.url)
    token = time_limit.set(0.1)
    try:
        with pytest.raises(TransientFailure, match="does not come to an end"):
            stored.get_topology("g", 1)
        server.answer = (500, b" " * 100_000)
        with pytest.raises(TransientFailure, match="HTTP 500"):
            stored.delete_topology("g")
    finally:
        time_limit.reset(token)


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:1/hook?sig=abc%2fdefSECRET%3d",  # requests writes %2F
        "http://127.0.0.1:1/hook?sig=SECRET SECRET|x",
        "http://127.0.0.1:1/${env:HOOK_TOKEN}/hook",
    ],
)
def test_a_call_that_fails_tells_no_secret_of_the_url(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    monkeypatch.setenv("HOOK_TOKEN", "a/SECRET")
    row: Any = SimpleNamespace(
        call_id="1", run_id="r", cluster_id="c", group_id="g", operation="delete", topology_epoch=1
    )
    spec = PluginSpec("webhook", {"url": url}, "c", str(tmp_path), str(tmp_path))
    [told] = call_all([row], {"c": spec}, tmp_path)
    assert "refused" in told[7]
    assert "SECRET" not in told[7]
