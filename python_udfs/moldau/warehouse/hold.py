"""Check rows against a table's contract before they are committed.

Delta's library does so only where it writes the files itself, so DuckDB checks first. If a row
breaks the contract, or a check is not one of moldau's, Delta's library gives the error.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from moldau.connecting import connect, errors
from moldau.warehouse.contracts import tables
from moldau.warehouse.delta_log import write_commit
from moldau.warehouse.metadata import CHECK, like

if TYPE_CHECKING:
    import pyarrow as pa
    from deltalake import DeltaTable
    from duckdb import DuckDBPyConnection


class Contract:
    """Of a table that is open. `scratch`: a folder for what is thrown away, made if need be."""

    def __init__(self, opened: DeltaTable, scratch: Path) -> None:
        self._opened = opened
        scratch.mkdir(parents=True, exist_ok=True)
        self._scratch = scratch
        self._required = [field.name for field in opened.schema().fields if not field.nullable]
        found = opened.metadata().configuration
        self._checks = [check for name, check in found.items() if name.startswith(CHECK)]

    def hold(self, rows: pa.Table) -> None:
        """Raise what Delta raises if rows break it."""
        if rows.num_rows and not self._is_kept(rows):
            self._let_delta_say(rows)

    def _is_kept(self, rows: pa.Table) -> bool:
        """False also where it cannot be told."""
        if any(rows[name].null_count for name in self._required):
            return False
        if not self._checks:
            return True
        if not _ours().issuperset(self._checks):
            return False
        broken = " or ".join(f"({check}) is not true" for check in self._checks)
        with _connection().cursor() as connection:
            try:
                return not connection.from_arrow(rows).filter(broken).limit(1).fetchall()
            except errors():
                return False

    def _let_delta_say(self, rows: pa.Table) -> None:
        """In a table of the same contract, thrown away."""
        from deltalake import DeltaTable, write_deltalake

        with TemporaryDirectory(dir=self._scratch) as folder:
            (Path(folder) / "_delta_log").mkdir()
            write_commit(Path(folder), 0, like(self._opened))
            write_deltalake(DeltaTable(folder), rows, mode="append")


@cache
def _ours() -> frozenset[str]:
    """Checks that mean the same to DuckDB as to Delta's library and to Spark."""
    return frozenset(check for table in tables().values() for check in table.checks.values())


@cache
def _connection() -> DuckDBPyConnection:
    return connect()
