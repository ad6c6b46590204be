"""Ask DuckDB about the tables that a statement names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from moldau.errors import MoldauError
from moldau.reading.delta import connect_duckdb
from moldau.reading.delta_types import identifier
from moldau.reading.tables import existing_tables, mentioned, resolve

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_ROWS_AT_ONCE = 2_000


@dataclass(frozen=True)
class Rows:
    """Rows as tuples in the order of `columns`; `rows` is read once."""

    columns: tuple[str, ...]
    rows: Iterator[tuple[Any, ...]]

    def as_dicts(self) -> list[dict[str, Any]]:
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


def query(warehouse: Path, sql: str) -> Rows:
    """The answer to one query in DuckDB's SQL; MoldauError with DuckDB's words if it is wrong."""
    import duckdb

    parser = duckdb.connect()
    try:
        statements = parser.extract_statements(sql)
        if len(statements) != 1 or statements[0].type not in (
            duckdb.StatementType.SELECT,
            duckdb.StatementType.EXPLAIN,
        ):
            raise MoldauError("one query is expected: moldau never changes tables from here")
    except duckdb.Error as error:
        raise MoldauError(_first_line(error)) from None
    return _run(_connect_for(warehouse, sql), sql)


def table_rows(
    warehouse: Path, name: str, where: str | None = None, limit: int | None = None
) -> Rows:
    """Rows of a table in the order of its key, `where` a condition in DuckDB's SQL.

    `name`: `marts.groups`, or `groups` if that is unique. MoldauError if there is no such table
    or the condition is wrong.
    """
    connection, sql = table_relation(warehouse, name, where)
    return _run(connection, sql if limit is None else f"{sql} limit {limit:d}")


def table_relation(
    warehouse: Path, name: str, where: str | None = None
) -> tuple[DuckDBPyConnection, str]:
    """A connection, and the query on it that gives the rows of a table in the order of its key."""
    full_name = resolve(warehouse, name)
    sql = f"select * from {'.'.join(identifier(part) for part in full_name.split('.', 1))}"
    if where is not None:
        _require_condition(where)
        sql += f" where (\n{where}\n)"  # its own lines: a trailing comment must end there
    sql += _order(full_name)
    return _connect_for(warehouse, sql), sql


class Tables:
    """Some tables of a warehouse, opened once, for moldau's own questions."""

    def __init__(self, warehouse: Path, names: Iterable[str]) -> None:
        """MoldauError if there is no warehouse or a table is damaged; missing ones are empty."""
        existing = set(existing_tables(warehouse))
        self._missing = {name for name in names if name not in existing}
        self._connection = connect_duckdb(warehouse, names)

    @property
    def is_missing_any(self) -> bool:
        """One of the tables is not in the warehouse."""
        return bool(self._missing)

    def rows(self, name: str, condition: str, parameters: list[Any]) -> list[dict[str, Any]]:
        """Rows of one table: `condition` is what follows `from TABLE`, with ? for parameters."""
        if name in self._missing:
            return []
        return self.ask(f"select * from {name} {condition}", parameters)

    def ask(self, sql: str, parameters: list[Any] | None = None) -> list[dict[str, Any]]:
        return _run(self._connection, sql, parameters).as_dicts()


def _connect_for(warehouse: Path, sql: str) -> DuckDBPyConnection:
    """A connection with every table that the text may mean: DuckDB's own list misses some."""
    return connect_duckdb(warehouse, mentioned(existing_tables(warehouse), sql))


def _require_condition(where: str) -> None:
    """A condition, not the end of the statement and another one."""
    import duckdb

    try:
        parsed = duckdb.connect().extract_statements(f"select 1 where (\n{where}\n)")
    except duckdb.Error as error:
        raise MoldauError(f"--where {where!r} is not a condition: {_first_line(error)}") from None
    if len(parsed) != 1 or parsed[0].type != duckdb.StatementType.SELECT:
        raise MoldauError(f"--where {where!r} is not one condition")


def _order(full_name: str) -> str:
    from moldau.warehouse.contracts import tables

    table = tables().get(full_name)
    if table is None or not table.primary_key:
        return ""
    return f" order by {', '.join(identifier(column) for column in table.primary_key)}"


def _run(connection: DuckDBPyConnection, sql: str, parameters: list[Any] | None = None) -> Rows:
    import duckdb

    try:
        cursor = connection.execute(sql, parameters or [])
    except duckdb.Error as error:
        raise MoldauError(_first_line(error)) from None
    columns = tuple(column[0] for column in cursor.description or [])
    return Rows(columns, _batches(cursor))


def _batches(cursor: DuckDBPyConnection) -> Iterator[tuple[Any, ...]]:
    import duckdb

    while True:
        try:
            batch = cursor.fetchmany(_ROWS_AT_ONCE)
        except duckdb.Error as error:
            raise MoldauError(_first_line(error)) from None
        if not batch:
            return
        yield from batch


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return " ".join(lines[:2])[:500]
