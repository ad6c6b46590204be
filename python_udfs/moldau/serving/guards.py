"""Who may ask, how, and what a browser may do with the answer."""

from __future__ import annotations

import base64
import binascii
import hmac
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, Response

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
HEADERS = {
    # nothing runs, and nothing is loaded, but files of our own
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    # names of groups stand in addresses
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


class Guard:
    """`token`: without it everybody is turned away; None = whoever reaches this machine may ask.

    Without a token only this machine's own names are answered to: a page on the web whose name
    was made to lead here (DNS rebinding) names another one. With it such a page knows no token.
    """

    def __init__(self, application: Application, token: str | None) -> None:
        self._application = application
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        answer = self._refusal(scope) or self._application

        async def guarded(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(raw=message["headers"])
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await answer(scope, receive, guarded)

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        if scope["method"] not in ("GET", "HEAD"):
            return _no("moldau only reads: GET and HEAD are answered", 405, allow="GET, HEAD")
        if self._token is None:
            if _name_of(headers.get("host", "")) not in LOOPBACK:
                return _no("this host is not one of this machine's own names", 421)
        elif not _knows(headers.get("authorization", ""), self._token):
            realm = 'Basic realm="moldau", charset="UTF-8"'
            return _no("the token is asked for as the password", 401, **{"www-authenticate": realm})
        if headers.get("sec-fetch-site") == "cross-site" and (
            headers.get("sec-fetch-mode") != "navigate"
        ):
            return _no("pages of others may lead here, and nothing else", 403)
        return None


def _name_of(host: str) -> str:
    """A Host header without its port, in lower case."""
    name, colon, port = host.lower().rpartition(":")
    return name if colon and port.isdigit() else host.lower()


def _knows(told: str, token: str) -> bool:
    """`Bearer TOKEN`, or a browser's name and password, of which the password is the token."""
    scheme, _, given = told.partition(" ")
    if scheme.lower() == "basic":
        try:
            given = base64.b64decode(given, validate=True).decode().partition(":")[2]
        except (binascii.Error, UnicodeDecodeError):
            return False
    elif scheme.lower() != "bearer":
        return False
    return hmac.compare_digest(given.encode(errors="replace"), token.encode())


def _no(words: str, status: int, **headers: str) -> Response:
    return PlainTextResponse(words + "\n", status, headers)
