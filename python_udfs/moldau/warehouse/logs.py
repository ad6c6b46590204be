"""Logs beside the tables: what goes wrong every minute fills no disk."""

from __future__ import annotations

import contextlib
from pathlib import Path

LOG_BYTES = 10 * 1024 * 1024  # as dbt's


def begun(log: Path) -> Path:
    """The log to append to. One that is full stands beside it from now on as `<log>.1`."""
    with contextlib.suppress(FileNotFoundError):
        if log.stat().st_size >= LOG_BYTES:
            log.replace(log.with_name(f"{log.name}.1"))
    return log
