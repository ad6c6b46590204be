"""Answer on an address until a signal comes."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ipaddress import ip_address
from pathlib import Path

import uvicorn

from moldau.errors import MoldauError
from moldau.serving.app import application
from moldau.serving.connection import Connection
from moldau.serving.guards import Application
from moldau.settings import Settings

_SHORTEST_TOKEN = 16
_LONGEST_REQUEST = 256 * 1024  # a group's name may have 32 KB, each byte three letters
_AT_ONCE = 64
_GRACE_SECONDS = 3


class _Server(uvicorn.Server):
    """`ready`: called when it answers, and ends as it should when a signal comes."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        self._ready()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """uvicorn's own would end the process by the signal, not by an exit code."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._end, number)
        yield

    def _end(self, number: int) -> None:
        # who still waits for an answer when the time is up is cut off: that is no error
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
        self.handle_exit(number, None)


def serve(
    settings: Settings, host: str, port: int, token: str | None, told: Callable[[str], None]
) -> None:
    """Until SIGTERM or SIGINT. `told`: is given the address when it answers.

    MoldauError without a warehouse, when the address is taken, or is one that others reach and
    there is no token.
    """
    if token is None and not _is_loopback(host):
        raise MoldauError(
            f"others may reach {host}: give a token of {_SHORTEST_TOKEN} letters or more, by "
            "--token-file or MOLDAU_SERVE_TOKEN, or leave --host out"
        )
    with _listen(host, port) as listening:
        config = config_of(application(settings, token, is_beforehand=True))
        name = f"[{host}]" if ":" in host else host
        address = f"http://{name}:{listening.getsockname()[1]}/"
        asyncio.run(_Server(config, lambda: told(address)).serve(sockets=[listening]))


def config_of(answering: Application) -> uvicorn.Config:
    """What a client may take: of a request, at once, and of time."""
    return uvicorn.Config(
        answering,
        log_level="warning",
        access_log=False,
        server_header=False,
        lifespan="off",
        http=Connection,
        ws="none",
        h11_max_incomplete_event_size=_LONGEST_REQUEST,
        limit_concurrency=_AT_ONCE,
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )


def token_of(file: Path | None, variable: str | None) -> str | None:
    """The token, from a file (its first line) or the value of a variable; MoldauError if it is too
    short or cannot be read."""
    token, source = variable, "MOLDAU_SERVE_TOKEN"
    if file is not None:
        source = str(file)
        try:
            token = file.read_text().partition("\n")[0].strip()
        except (OSError, UnicodeDecodeError) as error:
            raise MoldauError(f"the token cannot be read from {file}: {error}") from None
    if token is not None and len(token) < _SHORTEST_TOKEN:
        raise MoldauError(f"the token of {source} has fewer than {_SHORTEST_TOKEN} letters")
    return token


def _listen(host: str, port: int) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listening = socket.create_server((host, port), family=family)
    except OSError as error:
        raise MoldauError(
            f"{host}, port {port} cannot be listened on ({error.strerror}): "
            "name another one with --port"
        ) from None
    return listening


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
