"""What benchmarks measure with: rows, time, statements, Delta commits and files."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession

from moldau.sessions.duckdb_models import DuckDBModels
from moldau.sessions.session import Session
from moldau.warehouse.append import append
from moldau.warehouse.contracts import tables

_ROWS_AT_ONCE = 2_000_000


@contextmanager
def scratch() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="moldau-bench-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def insert(session: Session, table: str, query: str, rows: int) -> None:
    """Add what `query` says of each `id` below `rows`."""
    for first in range(0, rows, _ROWS_AT_ONCE):
        ids = f"range({first}, {min(rows, first + _ROWS_AT_ONCE)}) as r(id)"
        add(session, table, f"{query} from {ids}")


def add(session: Session, table: str, query: str) -> None:
    """Rows of a query in Spark SQL, written as runs write; columns that it leaves out are null."""
    found = session.engines.duckdb.arrow(query)
    for column in tables()[table].columns:
        if column.name not in found.column_names:
            found = found.append_column(column.name, pa.nulls(found.num_rows))
    append(session.warehouse, table, found.to_batches())


@contextmanager
def counted() -> Iterator[dict[str, int]]:
    """Statements: those sent to Spark, or models and queries of DuckDB."""
    counts = {"statements": 0}
    asked = [(SparkSession, "sql"), (DuckDBModels, "sql"), (DuckDBModels, "_telling")]
    plain = [getattr(engine, name) for engine, name in asked]

    def counting(method: Any) -> Any:
        def counted(*arguments: Any, **options: Any) -> Any:
            counts["statements"] += 1
            return method(*arguments, **options)

        return counted

    for (engine, name), method in zip(asked, plain, strict=True):
        setattr(engine, name, counting(method))
    try:
        yield counts
    finally:
        for (engine, name), method in zip(asked, plain, strict=True):
            setattr(engine, name, method)


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
