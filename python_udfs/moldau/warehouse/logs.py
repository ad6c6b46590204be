"""Logs beside the tables: what goes wrong every minute fills no disk."""

from __future__ import annotations

import contextlib
from datetime import UTC, datetime
from pathlib import Path

from moldau.escapes import visible

LOG_BYTES = 10 * 1024 * 1024  # as dbt's


def begun(log: Path) -> Path:
    """The log to append to. One that is full stands beside it from now on as `<log>.1`."""
    with contextlib.suppress(FileNotFoundError):
        if log.stat().st_size >= LOG_BYTES:
            log.replace(log.with_name(f"{log.name}.1"))
    return log


def add_error(log: Path, about: str, stack: str) -> None:
    """An error of moldau's own, of which nothing is secret; OSError if it cannot be written.

    `about`: in which command it was; `stack`: its traceback.
    """
    at = datetime.now(UTC).isoformat(timespec="milliseconds")
    with begun(log).open("a", encoding="utf-8", errors="replace") as file:
        file.write(f"{at} moldau {visible(about)}\n")
        file.writelines(f"{visible(line)}\n" for line in [*stack.split("\n"), ""])
