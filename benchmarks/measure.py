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
from duckdb import DuckDBPyConnection
from pyspark.sql import SparkSession

from moldau.engines.duckdb.delta_views import create_view, open_duckdb
from moldau.engines.duckdb.models import DuckDBModels
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
    """Add the rows of a query in Spark SQL."""
    write(session, table, session.engines.duckdb.arrow(query))


def write(session: Session, table: str, rows: pa.Table) -> None:
    """Append rows as runs write them; columns that they lack are null."""
    for column in tables()[table].columns:
        if column.name not in rows.column_names:
            rows = rows.append_column(column.name, pa.nulls(rows.num_rows))
    append(session.warehouse, table, rows.to_batches(max_chunksize=1_000_000))


def connect_peer(session: Session, *schemas: str) -> DuckDBPyConnection:
    """DuckDB on the tables as they are, for a peer that makes tables and views of its own."""
    connection = open_duckdb([*(name.split(".")[0] for name in tables()), *schemas])
    for name in tables():
        create_view(connection, session.warehouse, name)
    return connection


@contextmanager
def counted() -> Iterator[dict[str, int]]:
    """Statements: those sent to Spark, or models and queries of DuckDB."""
    counts = {"statements": 0}
    asked = [(SparkSession, "sql"), (DuckDBModels, "sql"), (DuckDBModels, "_telling")]
    plain = [getattr(engine, name) for engine, name in asked]

    def counting(method: Any) -> Any:
        def noted(*arguments: Any, **options: Any) -> Any:
            counts["statements"] += 1
            return method(*arguments, **options)

        return noted

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
