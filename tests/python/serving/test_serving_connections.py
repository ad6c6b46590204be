"""Clients that keep a connection and do nothing with it, on real sockets."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import socket
import threading
import time
from collections.abc import Callable, Iterator

import pytest
import uvicorn
from starlette.responses import PlainTextResponse

from moldau.serving import connection
from moldau.serving.server import config_of

AT_ONCE = 64
ASKED = b"GET /%d HTTP/1.1\r\nHost: localhost\r\n"
LETTERS = 50_000  # more than a socket takes, less than makes asyncio pause
ANSWER = PlainTextResponse("x" * LETTERS)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[uvicorn.Server]:
    monkeypatch.setattr(connection, "PATIENCE_SECONDS", 0.5)
    running = uvicorn.Server(config_of(ANSWER))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        running.config.port = listening.getsockname()[1]
        thread = threading.Thread(
            target=lambda: asyncio.run(running.serve(sockets=[listening])), daemon=True
        )
        thread.start()
        yield running
        running.should_exit = True
        thread.join(timeout=30)


def test_half_requests_do_not_lock_others_out(server: uvicorn.Server) -> None:
    halves = [_connect(server, ASKED % n) for n in range(AT_ONCE)]
    _until(lambda: len(server.server_state.connections) == AT_ONCE)
    for half in halves:
        assert _rest(half) == b""
    assert _status(server) == 200


def test_a_letter_now_and_then_is_no_whole_request(server: uvicorn.Server) -> None:
    dripping = _connect(server, ASKED % 1)

    def is_ended() -> bool:
        try:
            dripping.send(b"x")
        except ConnectionError:
            return True
        return False

    _until(is_ended)


@pytest.mark.parametrize("end", [b"\r\n", b"Connection: close\r\n\r\n"])
def test_answers_that_nobody_reads_are_thrown_away(server: uvicorn.Server, end: bytes) -> None:
    deaf = [_connect(server, (ASKED % n + end) * 100) for n in range(8)]
    _until(lambda: server.server_state.total_requests > 0)
    _until(lambda: not server.server_state.connections)
    assert _status(server) == 200
    for one in deaf:
        one.close()


def test_who_asks_again_keeps_his_connection(server: uvicorn.Server) -> None:
    asking = http.client.HTTPConnection("127.0.0.1", server.config.port, timeout=30)
    for _ in range(3):
        asking.request("GET", "/", headers={"Host": "localhost"})
        first = asking.sock
        assert len(asking.getresponse().read()) == LETTERS
        assert asking.sock is first is not None
    asking.close()


def _connect(server: uvicorn.Server, words: bytes) -> socket.socket:
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.settimeout(30)
    client.connect(("127.0.0.1", server.config.port))
    client.sendall(words)
    return client


def _rest(client: socket.socket) -> bytes:
    with contextlib.suppress(ConnectionResetError), client:
        return client.recv(1)
    return b""


def _status(server: uvicorn.Server) -> int:
    asking = http.client.HTTPConnection("127.0.0.1", server.config.port, timeout=30)
    asking.request("GET", "/", headers={"Host": "localhost"})
    with contextlib.closing(asking):
        return asking.getresponse().status


def _until(holds: Callable[[], bool]) -> None:
    """Of a server in another thread, which tells nobody what becomes of its connections."""
    for _ in range(600):
        if holds():
            return
        time.sleep(0.05)
    pytest.fail("it never came to that")
