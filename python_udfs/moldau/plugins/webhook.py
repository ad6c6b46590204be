"""Descriptions behind an HTTP service: `PUT|DELETE|GET <url>/<cluster_id>/<group_id>`."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from moldau.plugins.protocol import (
    PermanentFailure,
    TopologyDescriptionPlugin,
    TransientFailure,
    idempotency_key,
    time_limit,
)

if TYPE_CHECKING:
    from requests import Response, Session

_LONGEST_MESSAGE = 16_000
_LONGEST_WAIT_SECONDS = 60.0


class WebhookPlugin(TopologyDescriptionPlugin):
    """2xx is a success; so is 404 for DELETE and GET, where nothing was there. Any other 4xx is a
    permanent failure, everything else (no answer, a redirect) a transient one. The message is
    the body, or `HTTP <status>`."""

    def __init__(self, url: str, headers: dict[str, str] | None = None) -> None:
        """`url`: what the paths are appended to; `headers` are sent with every request."""
        if not url.startswith(("http://", "https://")):
            raise ValueError(f"the webhook's url begins with http:// or https://, not {url[:40]!r}")
        self._url = url.rstrip("/")
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
        with self._send(method, group_id, body) as response:
            status = response.status_code
            if 200 <= status < 300 and method == "GET":
                return response.content
            start = _start(response)
        if 200 <= status < 300 or (status == 404 and method != "PUT"):
            return None
        message = start.decode(errors="replace").strip() or f"HTTP {status}"
        raise (PermanentFailure if 400 <= status < 500 else TransientFailure)(message)

    def _send(self, method: str, group_id: str, body: bytes | None) -> Response:
        from requests import Request

        headers = {"Accept": "application/json"} | self._headers
        if body is not None:
            headers = {"Content-Type": "application/json"} | headers
        key = idempotency_key.get()
        if key is not None:
            headers["Idempotency-Key"] = quote(key, safe="!#$&'()*+,/:;=?@[]|~ ").strip()
        session = self._session()
        request = session.prepare_request(Request(method, self._url, headers=headers, data=body))
        # set afterwards: requests would write %2E as a dot and read `..` as a step upwards
        request.url = f"{self._url}/{path_segment(self._cluster_id)}/{path_segment(group_id)}"
        # a little longer than anybody waits, so that it is the caller who says `timeout`
        seconds = 1 + (time_limit.get() or _LONGEST_WAIT_SECONDS)
        settings = session.merge_environment_settings(request.url, {}, True, None, None)
        return session.send(request, timeout=seconds, allow_redirects=False, **settings)

    def _session(self) -> Session:
        """One a thread: connections are kept, and sessions are not for several threads."""
        from requests import Session

        if not hasattr(self._local, "session"):
            self._local.session = Session()
        session: Session = self._local.session
        return session


def _start(response: Response) -> bytes:
    """What the body begins with; once a short one is read the connection can be used again."""
    from requests import RequestException

    try:
        return next(response.iter_content(_LONGEST_MESSAGE), b"")
    except RequestException:
        return b""  # the status has been read, and it is what counts


def path_segment(name: str) -> str:
    """The name percent-encoded, so that no client or server reads it as a step in the path."""
    if not name:
        raise PermanentFailure("a name without a letter has no address of its own")
    return quote(name, safe="") if name.strip(".") else name.replace(".", "%2E")
