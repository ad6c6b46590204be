"""MOLDAU_FAIL_AT: kill the process at a named point of a run, to test what survives.

Points are named by the stages of a run (`moldau.runs.stages`) and hold for every kind that has the
stage; what is cleared is the state that a run changes by what it decided.
"""

from __future__ import annotations

import os
import signal
import sys

from moldau.errors import MoldauError

VARIABLE = "MOLDAU_FAIL_AT"
POINTS = (
    "after_bring",
    "after_fold",
    "after_decide",
    "in_call",
    "after_call",
    "before_clear",
    "after_clear",
    "before_run_row",
    "after_run_row",
)


def fault() -> str | None:
    """The point named in the environment; MoldauError if there is no such point."""
    point = os.environ.get(VARIABLE) or None
    if point is not None and point not in POINTS:
        raise MoldauError(f"{VARIABLE}={point}: one of {', '.join(POINTS)} is allowed")
    return point


def die_at(point: str) -> None:
    """Die here if this is the point."""
    if fault() == point:
        die()


def die() -> None:
    """Kill this process and its JVM, with no chance to clean up."""
    for pid in pids():
        os.kill(pid, signal.SIGKILL)


def pids() -> list[int]:
    """The JVM, then this process."""
    pyspark = sys.modules.get("pyspark")  # who has not imported it has no JVM
    gateway = pyspark and pyspark.SparkContext._gateway
    jvm = [gateway.proc.pid] if gateway is not None and hasattr(gateway, "proc") else []
    return [*jvm, os.getpid()]
