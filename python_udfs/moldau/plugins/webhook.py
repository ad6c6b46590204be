"""Descriptions behind an HTTP service: `PUT|DELETE|GET <url>/<cluster_id>/<group_id>?<query>`."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote, urlsplit

from moldau.plugins.protocol import (
    PermanentFailure,
    TopologyDescriptionPlugin,
    TransientFailure,
    idempotency_key,
    time_limit,
)

if TYPE_CHECKING:
    from requests import PreparedRequest, Response, Session

LONGEST_ANSWER_BYTES = 16 * 1024 * 1024
"""Of a description, also when it came compressed: what is longer is not read."""
_LONGEST_MESSAGE_BYTES = 16_000
_READ_BYTES = 65_536
_LONGEST_WAIT_SECONDS = 60.0


class WebhookPlugin(TopologyDescriptionPlugin):
    """2xx is a success; so is 404 for DELETE and GET, where nothing was there. Any other 4xx is a
    permanent failure, everything else (no answer, a redirect) a transient one. The message is
    the body, or `HTTP <status>`."""

    public_options = ("url",)

    def __init__(self, url: str, headers: dict[str, str] | None = None) -> None:
        """`url`: what the paths are appended to, before its query; `headers` go with every request.

        Who asks is said by an `Authorization` among the headers, else by the user in the url, else
        by ~/.netrc.
        """
        if not url.startswith(("http://", "https://")):
            raise ValueError("the webhook's url begins with http:// or https://")
        if "#" in url:
            raise ValueError("the webhook's url has a # (in a user or a query it is written %23)")
        base, mark, query = url.partition("?")
        self._base, self._query = base.rstrip("/"), mark + query
        self._headers = headers or {}
        self._local = threading.local()

    def open(self, cluster_id: str, warehouse: Path, folder: Path) -> None:
        self._cluster_id = cluster_id

    def set_topology(self, group_id: str, topology_epoch: int, description: Any) -> None:
        body = {"topology_epoch": topology_epoch, "description": description}
        self._call("PUT", group_id, json.dumps(body).encode())

    def delete_topology(self, group_id: str) -> None:
        self._call("DELETE", group_id)

    def get_topology(self, group_id: str, topology_epoch: int) -> Any:
        text = self._call("GET", group_id)
        if not text:
            return None
        try:
            stored = json.loads(text)
        except ValueError:
            raise TransientFailure("the answer to GET is not JSON") from None
        if not isinstance(stored, dict) or stored.get("topology_epoch") != topology_epoch:
            return None
        return stored.get("description")

    def _call(self, method: str, group_id: str, body: bytes | None = None) -> bytes | None:
        """The body of a successful GET; None where nothing was there."""
        from requests import RequestException
        from urllib3.exceptions import HTTPError

        # a little longer than anybody waits, so that it is the caller who says `timeout`
        seconds = 1 + (time_limit.get() or _LONGEST_WAIT_SECONDS)
        deadline = time.monotonic() + seconds
        try:
            with self._send(method, group_id, body, seconds) as response:
                status = response.status_code
                if 200 <= status < 300 and method == "GET":
                    return _whole(response, deadline)
                start = _start(response, deadline)
        except (RequestException, HTTPError) as error:
            raise TransientFailure(self._without_query(str(error))) from None
        if 200 <= status < 300 or (status == 404 and method != "PUT"):
            return None
        message = start.decode(errors="replace").strip() or f"HTTP {status}"
        raise (PermanentFailure if 400 <= status < 500 else TransientFailure)(message)

    def _send(self, method: str, group_id: str, body: bytes | None, seconds: float) -> Response:
        from requests import Request

        headers = {"Accept": "application/json"} | self._headers
        if body is not None:
            headers = {"Content-Type": "application/json"} | headers
        key = idempotency_key.get()
        if key is not None:
            headers["Idempotency-Key"] = quote(key, safe="!#$&'()*+,/:;=?@[]|~ ").strip()
        # given here, or requests would put what .netrc says in its place
        address = urlsplit(self._base)
        user = (unquote(address.username or ""), unquote(address.password or ""))
        auth = _as_it_is if _says_who(headers) else user if any(user) else None
        session = self._session()
        asked = Request(method, self._base, headers=headers, data=body, auth=auth)
        request = session.prepare_request(asked)
        # set afterwards: requests would write %2E as a dot and read `..` as a step upwards
        place = f"{path_segment(self._cluster_id)}/{path_segment(group_id)}"
        request.url = f"{self._base}/{place}{self._query}"
        settings = session.merge_environment_settings(request.url, {}, True, None, None)
        return session.send(request, timeout=seconds, allow_redirects=False, **settings)

    def _without_query(self, told: str) -> str:
        """requests names the address, and encodes anew what stands in it."""
        from urllib3.exceptions import LocationParseError
        from urllib3.util import parse_url

        if not self._query:
            return told
        asked = {self._query}
        with contextlib.suppress(LocationParseError):
            asked.add(f"?{parse_url(self._base + self._query).query}")
        for query in asked:
            told = told.replace(query, "?***")
        return told

    def _session(self) -> Session:
        """One a thread: connections are kept, and sessions are not for several threads."""
        from requests import Session

        if not hasattr(self._local, "session"):
            self._local.session = Session()
        session: Session = self._local.session
        return session


def _says_who(headers: dict[str, str]) -> bool:
    return any(name.lower() == "authorization" for name in headers)


def _as_it_is(request: PreparedRequest) -> PreparedRequest:
    """An authentication that adds nothing."""
    return request


def _whole(response: Response, deadline: float) -> bytes:
    body = _read(response, LONGEST_ANSWER_BYTES + 1, deadline)
    if len(body) > LONGEST_ANSWER_BYTES:
        raise TransientFailure(f"the answer is longer than {LONGEST_ANSWER_BYTES} bytes")
    return body


def _start(response: Response, deadline: float) -> bytes:
    """What the body begins with; once a short one is read the connection can be used again."""
    from urllib3.exceptions import HTTPError

    try:
        return _read(response, _LONGEST_MESSAGE_BYTES, deadline)
    except (HTTPError, TransientFailure):
        return b""  # the status has been read, and it is what counts


def _read(response: Response, most: int, deadline: float) -> bytes:
    """The body, decompressed no further than to this many bytes.

    TransientFailure when it still comes at the deadline, however little at a time.
    """
    body = bytearray()
    while len(body) < most:
        part = response.raw.read1(min(_READ_BYTES, most - len(body)), decode_content=True)
        if not part:
            break
        body += part
        if time.monotonic() > deadline:
            raise TransientFailure("the answer does not come to an end")
    return bytes(body)


def path_segment(name: str) -> str:
    """The name percent-encoded, so that no client or server reads it as a step in the path."""
    if not name:
        raise PermanentFailure("a name without a letter has no address of its own")
    return quote(name, safe="") if name.strip(".") else name.replace(".", "%2E")
