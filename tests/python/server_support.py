"""A server that a test starts: where it may listen, and when it does."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import time
from pathlib import Path


def free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def wait_for(
    process: subprocess.Popen[bytes], ports: list[int], log: Path, within_seconds: float
) -> None:
    end = time.monotonic() + within_seconds
    waiting = list(ports)
    while waiting:
        if process.poll() is not None or time.monotonic() > end:
            raise RuntimeError(f"the server did not come up: {log.read_text()[-2000:]}")
        try:
            socket.create_connection(("127.0.0.1", waiting[0]), 1).close()
            waiting.pop(0)
        except OSError:
            time.sleep(0.2)
