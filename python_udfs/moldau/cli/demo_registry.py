"""A small HTTP registry of topology descriptions on 127.0.0.1, such as a company might run.

It serves the protocol of the plugin `webhook`, and fails on request.
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote


class Registry(ThreadingHTTPServer):
    """`stored`: cluster/group -> what was put; `fails_next`: groups whose next call gets 503."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.stored: dict[str, dict[str, Any]] = {}
        self.fails_next: set[str] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def rows(self) -> list[tuple[Any, ...]]:
        """group_id, topology_epoch, number of subtopologies."""
        return [
            (name.split("/")[1], row["topology_epoch"], len(row["description"]["subtopologies"]))
            for name, row in sorted(self.stored.items())
        ]


class _Handler(BaseHTTPRequestHandler):
    server: Registry
    protocol_version = "HTTP/1.1"

    def do_PUT(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if not self._fails():
            self.server.stored[self._name()] = json.loads(body)
            self._answer(204)

    def do_GET(self) -> None:
        row = self.server.stored.get(self._name())
        self._answer(404) if row is None else self._answer(200, json.dumps(row))

    def do_DELETE(self) -> None:
        if not self._fails():
            self._answer(204 if self.server.stored.pop(self._name(), None) else 404)

    def _fails(self) -> bool:
        is_failing = self._name() in self.server.fails_next
        if is_failing:
            self.server.fails_next.discard(self._name())
            self._answer(503, "the registry is being upgraded, come back later")
        return is_failing

    def _name(self) -> str:
        return unquote(self.path.lstrip("/"))

    def _answer(self, status: int, text: str = "") -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet: the demo shows what the plugin said."""


@contextlib.contextmanager
def running_registry() -> Iterator[Registry]:
    with Registry() as registry:
        threading.Thread(target=registry.serve_forever, daemon=True).start()
        yield registry
        registry.shutdown()
