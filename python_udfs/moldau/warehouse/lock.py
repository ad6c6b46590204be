"""One run at a time: an OS lock on the warehouse, held for the run.

Delta on a local disk does not keep two processes apart (both can win the same version), so the
process that writes holds `<warehouse>/_moldau/lock`.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

from moldau.errors import MoldauError
from moldau.warehouse.inside import put_aside, put_in_order
from moldau.warehouse.paths import LOCK

_held: set[Path] = set()  # warehouses whose lock this process has


class WarehouseInUse(MoldauError):
    """Another command holds the lock: `reason` names it."""

    def __init__(self, warehouse: Path, holder: str) -> None:
        self.reason = f"the warehouse {warehouse} is in use by {holder}"
        super().__init__(f"{self.reason}; try again later or wait with --wait SECONDS")


@contextlib.contextmanager
def locked(warehouse: Path, command: str, wait_seconds: float = 0) -> Iterator[None]:
    """Hold the warehouse's lock; raises WarehouseInUse naming the holder after wait_seconds.

    MoldauError if the warehouse cannot be written.
    """
    path = warehouse / LOCK
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        put_aside(path, is_folder=False)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        told = f"the warehouse {warehouse} cannot be written: {error.filename}: {error.strerror}"
        raise MoldauError(told) from None
    try:
        _take(descriptor, path, time.monotonic() + wait_seconds)
        put_in_order(warehouse)
        holder = {"pid": os.getpid(), "command": command, "since_ms": int(time.time() * 1000)}
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, json.dumps(holder).encode(), 0)
        _held.add(warehouse.resolve())
        try:
            yield
        finally:
            _held.discard(warehouse.resolve())
        os.ftruncate(descriptor, 0)
    finally:
        os.close(descriptor)  # gives the lock back, as does the end of the process


def is_held(warehouse: Path) -> bool:
    """This process holds the warehouse's lock, so nobody else writes."""
    return warehouse.resolve() in _held


def _take(descriptor: int, path: Path, deadline: float) -> None:
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            left = deadline - time.monotonic()
            if left <= 0:
                raise WarehouseInUse(path.parent.parent, holder(path)) from None
            time.sleep(min(left, 0.2))


def holder(path: Path) -> str:
    """Who holds the lock, as far as the lock file tells."""
    try:
        told = json.loads(path.read_text())
        return f"`{told['command']}` (pid {told['pid']})"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"
