"""DuckDB, for what is no table of the warehouse: files, rows at hand, the text of a statement."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


def connect(spilled: Path | None = None) -> DuckDBPyConnection:
    """A connection in UTC. `spilled`: a folder for what does not fit into memory."""
    import duckdb  # it takes a tenth of a second, which not every command has to spend

    connection = duckdb.connect()
    connection.execute("set timezone = 'UTC'")
    if spilled is not None:
        connection.execute("set temp_directory = ?", [str(spilled)])
    return connection


def errors() -> type[Exception]:
    """What DuckDB raises, whatever is wrong."""
    import duckdb

    error: type[Exception] = duckdb.Error
    return error
