"""A connection that waits for its client for a while, not forever."""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

PATIENCE_SECONDS = 10


class Connection(H11Protocol):
    """uvicorn waits without end for the rest of a request, and for an answer to be read: few who do
    neither would lock all others out. `PATIENCE_SECONDS` are given for each of the two."""

    def __init__(self, *words: Any, **named: Any) -> None:
        super().__init__(*words, **named)
        self._asked_by: asyncio.TimerHandle | None = self._ended_later()
        self._read_by: asyncio.TimerHandle | None = None

    def handle_events(self) -> None:
        """After each piece of a request, and after each answer."""
        super().handle_events()
        self._wait_for_request()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._read_by = self._ended_later()

    def resume_writing(self) -> None:
        super().resume_writing()
        _forget(self._read_by)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.transport.is_closing():  # which waits until what was written is read
            self._ended_later()

    def timeout_keep_alive_handler(self) -> None:
        super().timeout_keep_alive_handler()
        self._ended_later()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        _forget(self._asked_by)
        _forget(self._read_by)

    def _wait_for_request(self) -> None:
        """A piece of it is no reason for more time."""
        is_awaited = self.conn.their_state in (h11.IDLE, h11.SEND_BODY)
        if not is_awaited:
            _forget(self._asked_by)
            self._asked_by = None
        elif self._asked_by is None:
            self._asked_by = self._ended_later()

    def _ended_later(self) -> asyncio.TimerHandle:
        return self.loop.call_later(PATIENCE_SECONDS, lambda: self.transport.abort())


def _forget(timer: asyncio.TimerHandle | None) -> None:
    if timer:
        timer.cancel()
