"""What benchmarks measure with: time, statements, Spark jobs, Delta commits and files."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from moldau.sessions.session import Session


@contextmanager
def scratch() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="moldau-bench-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def counted(session: Session) -> Iterator[dict[str, int]]:
    """Statements that were sent to Spark, and jobs that it ran for them."""
    counts = {"statements": 0, "jobs": 0}
    scheduler = session.engines.spark.session.sparkContext._jsc.sc().dagScheduler()
    jobs_before, sql = scheduler.numTotalJobs(), SparkSession.sql

    def counting(*arguments: Any, **options: Any) -> Any:
        counts["statements"] += 1
        return sql(*arguments, **options)

    SparkSession.sql = counting
    try:
        yield counts
    finally:
        SparkSession.sql = sql
        counts["jobs"] = scheduler.numTotalJobs() - jobs_before


def timed(work: Callable[[], Any]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def versions(folder: Path) -> dict[str, int]:
    """Commits of each table of raw, decoded, state, decisions and history."""
    return {
        str(log.parent): sum(1 for _ in log.glob("*.json"))
        for log in folder.glob("*/*/_delta_log")
        if log.parts[-3] != "seeds"
    }


def written(folder: Path, before: dict[str, int]) -> tuple[int, int]:
    """Commits since `before`, and data files that they added."""
    commits = files = 0
    for table in before:
        for log in sorted((Path(table) / "_delta_log").glob("*.json"))[before[table] :]:
            commits += 1
            files += log.read_text().count('{"add":')
    return commits, files
