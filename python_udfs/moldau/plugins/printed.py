"""Log what plugins print, without their secrets and with escapes for what does not print."""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import struct
import termios
import time
from collections.abc import Callable, Collection, Iterable
from threading import Lock, Thread

from moldau.escapes import visible
from moldau.plugins.masking import without
from moldau.plugins.registry import PluginSpec, public_options, secrets_of

_PIECE = 32_768  # bytes of a line that does not end
Secrets = Callable[[], Collection[str]]


def secrets_of_all(specs: Iterable[PluginSpec]) -> Secrets:
    """Asked for in the process of the command, which has loaded the plugins' modules already: one
    that prints while it is loaded would wait for itself."""
    known = [(spec, public_options(spec.name)) for spec in specs]
    return lambda: {text for spec, public in known for text in secrets_of(spec, public)}


class Printed:
    """A thread that writes, line by line and without secrets, what comes through a pipe.

    It ends with the pipe.
    """

    def __init__(self, reader: int, write: Callable[[bytes], object], secrets: Secrets) -> None:
        self._reader, self._write, self._secrets = reader, write, secrets
        self._writing = Lock()
        self._thread = Thread(target=self._pass_on, name="moldau-printed", daemon=True)
        self._thread.start()

    def settle(self, seconds: float = 1) -> None:
        """Come back when all that was printed is written, or after so long."""
        end = time.monotonic() + seconds
        while self._thread.is_alive() and self._is_waiting() and time.monotonic() < end:
            time.sleep(0.001)
        with self._writing:
            return

    def join(self, seconds: float) -> None:
        self._thread.join(timeout=seconds)

    def _is_waiting(self) -> bool:
        with contextlib.suppress(OSError):
            return any(fcntl.ioctl(self._reader, termios.FIONREAD, struct.pack("i", 0)))
        return False

    def _pass_on(self) -> None:
        waiting, is_open = b"", True
        while is_open:
            select.select([self._reader], [], [])
            with self._writing:
                part = os.read(self._reader, _PIECE)
                waiting, is_open = waiting + part, bool(part)
                end = waiting.rfind(b"\n") + 1
                if not is_open or (not end and len(waiting) >= _PIECE):
                    end = len(waiting)
                self._tell(waiting[:end])
                waiting = waiting[end:]
        os.close(self._reader)

    def _tell(self, said: bytes) -> None:
        if said:
            secrets = self._secrets()
            lines = said.decode(errors="backslashreplace").split("\n")
            told = "\n".join(visible(without(secrets, line) or "") for line in lines)
            with contextlib.suppress(OSError, ValueError):  # a full disk holds nothing up
                self._write(told.encode())


_told_here: set[str] = set()
_printed_here: list[Printed] = []


def print_without(secrets: Collection[str]) -> None:
    """From now on what this process prints goes to its standard error without these secrets."""
    _told_here.update(secrets)
    if _printed_here:
        return
    reader, writer = os.pipe()
    before = os.dup(2)
    for number in (1, 2):
        os.dup2(writer, number)
    os.close(writer)
    _printed_here.append(Printed(reader, lambda told: os.write(before, told), _told_here.copy))
