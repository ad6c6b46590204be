"""Ask DuckDB about the tables that a statement names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from moldau.engines.duckdb.confined import telling
from moldau.engines.duckdb.delta_types import literal
from moldau.engines.duckdb.statements import require_condition, require_query
from moldau.engines.duckdb.translation import identifier
from moldau.reading.tables.duckdb_views import connect_duckdb
from moldau.reading.tables.names_of import existing_relations, existing_tables, mentioned, resolve
from moldau.reading.tables.values import object_keys
from moldau.reading.tables.views import View, is_view, tables_under
from moldau.warehouse.contracts import marts, tables

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyConnection

_ROWS_AT_ONCE = 2_000
GROUP_KEY = ["cluster_id", "group_id"]
# a cluster's subjects are in this order, and those of `cleanup GROUP` come first
FIRST_DOMAIN, FIRST_DECISIONS = "domain = 'groups'", "decision_table = 'cleanup_eligibility'"


@dataclass(frozen=True)
class Rows:
    """Rows as tuples in the order of `columns`; `rows` is read once."""

    columns: tuple[str, ...]
    rows: Iterator[tuple[Any, ...]]

    def as_dicts(self) -> list[dict[str, Any]]:
        keys = object_keys(self.columns)
        return [dict(zip(keys, row, strict=True)) for row in self.rows]


def query(warehouse: Path, sql: str, at_ms: int | None = None) -> Rows:
    """The answer to one query in DuckDB's SQL; MoldauError with DuckDB's words if it is wrong.

    `at_ms`: the clock of the marts; None = now.
    """
    require_query(sql)
    return run(_connect_for(warehouse, sql, at_ms=at_ms), sql)


def arrow_answer(warehouse: Path, sql: str, at_ms: int | None = None) -> pa.Table:
    """Likewise as one table of Arrow."""
    require_query(sql)
    return arrow_table(_connect_for(warehouse, sql, at_ms=at_ms), sql)


def table_rows(
    warehouse: Path,
    name: str,
    where: str | None = None,
    limit: int | None = None,
    at_ms: int | None = None,
) -> Rows:
    """Rows of a table or mart in the order of its key, `where` a condition in DuckDB's SQL.

    `name`: `marts.tier_lag`, or `tier_lag` if that is unique; `at_ms`: the clock of a mart, None =
    now. MoldauError if there is no such table or the condition is wrong.
    """
    connection, sql = table_relation(warehouse, name, where, at_ms=at_ms)
    if limit is None:
        return run(connection, sql)
    first = _first_rows(warehouse, connection, resolve(warehouse, name), where, limit)
    return first or run(connection, f"{sql} limit {limit:d}")


def _first_rows(
    warehouse: Path, connection: DuckDBPyConnection, full_name: str, where: str | None, limit: int
) -> Rows | None:
    """Few rows of a mart of groups, from the first groups alone; None = those have too few."""
    first: tuple[str, ...] = ()
    if full_name == "marts.decisions":
        first = (FIRST_DOMAIN, FIRST_DECISIONS)
    elif not full_name.startswith("marts.") or _key(full_name)[:2] != GROUP_KEY:
        return None
    # groups that tell nothing are passed over
    last = _group_at(warehouse, 4 * limit + 100)
    if last is None:
        return None
    cluster, group = map(literal, last)
    earlier = _select(full_name, *first[:1], f"cluster_id < {cluster}")
    if list(run(connection, f"{earlier} limit 1").rows):
        return None
    bound = f"cluster_id = {cluster} and group_id <= {group}"
    rows = run(connection, f"{_select(full_name, *first, bound, where)} limit {limit:d}")
    found = list(rows.rows)
    return Rows(rows.columns, iter(found)) if len(found) == limit else None


def _group_at(warehouse: Path, place: int) -> tuple[str, str] | None:
    """Cluster and id of a group by its place in the order of the key, in the first cluster."""
    found = Tables(warehouse, ["state.groups"]).rows(
        "state.groups",
        "where cluster_id = (select min(cluster_id) from state.groups) "
        "order by group_id limit 1 offset ?",
        [place],
    )
    return (found[0]["cluster_id"], found[0]["group_id"]) if found else None


def table_relation(
    warehouse: Path,
    name: str,
    where: str | None = None,
    target: Path | None = None,
    at_ms: int | None = None,
) -> tuple[DuckDBPyConnection, str]:
    """A connection, and the query on it that gives the rows of a table in the order of its key.

    `target`: the one file that the connection may write.
    """
    full_name = resolve(warehouse, name)
    if where is not None:
        require_condition(where)
    sql = _select(full_name, where)
    return _connect_for(warehouse, sql, target, at_ms), sql


def _select(full_name: str, *conditions: str | None) -> str:
    """The rows for which all conditions hold, in the order of the key."""
    sql = f"select * from {'.'.join(identifier(part) for part in full_name.split('.', 1))}"
    # each on lines of its own: a trailing comment must end there
    told = [f"(\n{condition}\n)" for condition in conditions if condition is not None]
    if told:
        sql += f" where {' and '.join(told)}"
    if key := _key(full_name):
        sql += f" order by {', '.join(map(identifier, key))}"
    return sql


class Tables:
    """Some tables of a warehouse, opened once, for moldau's own questions."""

    def __init__(
        self,
        warehouse: Path,
        names: Iterable[str],
        at_ms: int | None = None,
        brought: Sequence[View] = (),
        makes_lists: bool = False,
    ) -> None:
        """MoldauError if there is no warehouse or a table is damaged; missing ones are empty.

        The rest as for `connect_duckdb`.
        """
        existing = set(existing_tables(warehouse))
        self._missing = {
            name
            for name in names
            if not (tables_under([name], brought) if is_view(name) else {name}) <= existing
        }
        there = [name for name in names if name not in self._missing]
        self._connection = connect_duckdb(
            warehouse, there, at_ms=at_ms, brought=brought, makes_lists=makes_lists
        )

    @classmethod
    def over(cls, connection: DuckDBPyConnection, missing: Iterable[str] = ()) -> Tables:
        """Those of a connection that is open already; `missing`: what it lacks."""
        tables = cls.__new__(cls)
        tables._missing = set(missing)
        tables._connection = connection
        return tables

    @property
    def is_missing_any(self) -> bool:
        """One of the tables is not in the warehouse."""
        return bool(self._missing)

    def has(self, name: str) -> bool:
        """It is in the warehouse, or all that it is made from."""
        return name not in self._missing

    def rows(self, name: str, condition: str, parameters: list[Any]) -> list[dict[str, Any]]:
        """Rows of one table: `condition` is what follows `from TABLE`, with ? for parameters."""
        if name in self._missing:
            return []
        return self.ask(f"select * from {name} {condition}", parameters)

    def first(self, name: str, condition: str, parameters: list[Any]) -> dict[str, Any] | None:
        return next(iter(self.rows(name, condition, parameters)), None)

    def ask(self, sql: str, parameters: list[Any] | None = None) -> list[dict[str, Any]]:
        return self.answer(sql, parameters).as_dicts()

    def answer(self, sql: str, parameters: list[Any] | None = None) -> Rows:
        """The same as tuples, which are cheaper where there are many."""
        return run(self._connection, sql, parameters)


def _connect_for(
    warehouse: Path, sql: str, target: Path | None = None, at_ms: int | None = None
) -> DuckDBPyConnection:
    """A connection with every table that the text may mean: DuckDB's own list misses some."""
    return connect_duckdb(warehouse, mentioned(existing_relations(warehouse), sql), target, at_ms)


def key_of(warehouse: Path, name: str) -> list[str]:
    """The key of a table or mart; MoldauError as for `table_rows`."""
    return _key(resolve(warehouse, name))


def _key(full_name: str) -> list[str]:
    table = (tables() | marts()).get(full_name)
    return [] if table is None else list(table.primary_key)


def run(connection: DuckDBPyConnection, sql: str, parameters: list[Any] | None = None) -> Rows:
    """MoldauError with DuckDB's words if the statement is wrong, or asks for another file."""
    with telling(connection):
        cursor = connection.execute(sql, parameters or [])
    columns = tuple(column[0] for column in cursor.description or [])
    return Rows(columns, _batches(cursor))


def arrow_table(connection: DuckDBPyConnection, sql: str) -> pa.Table:
    """The same as one table of Arrow."""
    with telling(connection):
        return connection.sql(sql).to_arrow_table()


def arrow_batches(connection: DuckDBPyConnection, sql: str) -> Iterator[pa.RecordBatch]:
    """The same batch by batch, of any size."""
    with telling(connection):
        yield from connection.sql(sql).to_arrow_reader()


def _batches(cursor: DuckDBPyConnection) -> Iterator[tuple[Any, ...]]:
    while True:
        with telling(cursor):
            batch = cursor.fetchmany(_ROWS_AT_ONCE)
        if not batch:
            return
        yield from batch
