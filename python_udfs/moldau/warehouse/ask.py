"""Query one table without Spark, with the engine that comes with deltalake."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from moldau.warehouse.kept import kept_table
from moldau.warehouse.verify import naming_damage

if TYPE_CHECKING:
    import pyarrow as pa


def ask(warehouse: Path, table: str, sql: str) -> pa.RecordBatchReader:
    """The answer to `sql` about `t`, the rows of `database.table` at its latest version.

    Files whose statistics say that they hold no such row are not read.
    """
    import pyarrow as pa
    from deltalake import QueryBuilder

    opened = kept_table(warehouse.joinpath(*table.split(".")))
    return pa.RecordBatchReader.from_stream(QueryBuilder().register("t", opened).execute(sql))


def ask_rows(warehouse: Path, table: str, sql: str) -> list[tuple[Any, ...]]:
    with naming_damage(warehouse, [table]):
        columns = ask(warehouse, table, sql).read_all().columns
    return list(zip(*(column.to_pylist() for column in columns), strict=True))


def has_rows(warehouse: Path, table: str, condition: str) -> bool:
    return bool(ask_rows(warehouse, table, f"select 1 from t where {condition} limit 1"))


def sql_text(text: str) -> str:
    """A quoted text for `ask`: in it a backslash is one, too."""
    return "'" + text.replace("'", "''") + "'"
