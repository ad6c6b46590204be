"""A server on 127.0.0.1 that gives tokens for a client's id and secret (RFC 6749, 4.4)."""

from __future__ import annotations

import base64
import contextlib
import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qs

CLIENT, SECRET, SCOPE = "moldau", "client-secret-word", "kafka"


@contextlib.contextmanager
def token_server(user: str) -> Iterator[str]:
    """Its URL. The tokens are of this user, hold for an hour, and are signed by nobody."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
            login = base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
            is_right = self.headers["Authorization"] == f"Basic {login}" and form == {
                "grant_type": ["client_credentials"], "scope": [SCOPE],
            }  # fmt: skip
            told = {"access_token": _token(user), "token_type": "Bearer", "expires_in": 3600}
            body = json.dumps(told if is_right else {"error": "invalid_client"}).encode()
            self.send_response(200 if is_right else 401)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/token"
    finally:
        server.shutdown()
        server.server_close()


def _token(user: str) -> str:
    now = int(time.time())
    claims = {"sub": user, "iat": now, "exp": now + 3600, "scope": SCOPE}
    return ".".join([*map(_part, ({"alg": "none"}, claims)), ""])


def _part(told: dict[str, object]) -> str:
    return base64.urlsafe_b64encode(json.dumps(told).encode()).rstrip(b"=").decode()
