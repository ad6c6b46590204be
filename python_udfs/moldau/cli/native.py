"""Route what native libraries print: a Rust thread's panic goes to a log, the rest to stderr.

When Delta's library raises an error, one of its threads may panic as it is shut down: that text
would appear before the line that says what went wrong.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
from collections.abc import Callable, Iterator
from threading import Thread

_PANIC = re.compile(rb"thread '.*' (\(\d+\) )?panicked at ")
_LAST = b"note: "  # how to see more of the stack


@contextlib.contextmanager
def panics_go_to(log: Callable[[str], bool]) -> Iterator[None]:
    """In this block what is printed to descriptor 2 passes by here; Python's own stderr does not.

    `log`: takes a panic when the block ends; False = it could not, and the panic goes where all
    else goes.
    """
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.flush()
    try:
        kept, (reader, writer) = os.dup(2), os.pipe()
    except OSError:  # there is no descriptor 2, or there are too many
        yield
        return
    os.dup2(writer, 2)
    os.close(writer)
    before, sys.stderr = sys.stderr, _stream_to(kept)
    panics: list[bytes] = []
    thread = Thread(target=_sort, args=(reader, kept, panics), name="moldau-native", daemon=True)
    thread.start()
    try:
        yield
    finally:
        os.dup2(kept, 2)
        thread.join(timeout=1)  # longer where a process that was started here lives on
        for said in panics:
            if not log(said.decode(errors="backslashreplace").rstrip("\n")):
                _write(kept, said)
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.flush()
        sys.stderr = before


def _stream_to(descriptor: int) -> io.TextIOWrapper:
    return open(
        descriptor, "w", buffering=1, errors="backslashreplace", closefd=False,
        encoding=getattr(sys.stderr, "encoding", None) or "utf-8",
    )  # fmt: skip


def _sort(reader: int, to: int, panics: list[bytes]) -> None:
    panic = b""
    blank = b""  # one stands before a panic
    with open(reader, "rb") as pipe:
        for line in iter(pipe.readline, b""):
            if panic or _PANIC.match(line):
                panic, blank = panic + line, b""
                if line.startswith(_LAST):
                    panics.append(panic)
                    panic = b""
            elif line == b"\n":
                blank += line
            else:
                _write(to, blank + line)
                blank = b""
    if panic:
        panics.append(panic)
    _write(to, blank)


def _write(to: int, said: bytes) -> None:
    with contextlib.suppress(OSError):
        while said:
            said = said[os.write(to, said) :]
