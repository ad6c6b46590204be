"""Rows that are taken once, for as long as a page asks: those of one group of each table, so that
what is asked about it costs no look at the others, or a mart that is read several times."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING

from moldau.engines.duckdb.translation import identifier
from moldau.serving.question import text
from moldau.warehouse.contracts import tables

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Group = tuple[str, str]
"""Cluster and id."""
_ALL = "of all"
_CHANGES = "history.decision_changes"


def of_groups(names: Iterable[str]) -> list[str]:
    """Those of the tables that have rows of groups."""
    return [name for name in names if name in _with_groups()]


def make_room(connection: DuckDBPyConnection, names: Iterable[str]) -> None:
    """In the place of each of these views an empty table, which marts read from now on."""
    for name in names:
        database, bare = name.split(".")
        view = f"{identifier(database)}.{identifier(bare)}"
        connection.execute(f"alter view {view} rename to {identifier(f'{bare} {_ALL}')}")
        connection.execute(f"create table {view} as from {_of_all(name)} limit 0")


def taking(name: str) -> str:
    """The statement that takes all rows; when it is rolled back they are gone."""
    return f"insert into {name} from {_of_all(name)}"


def taking_group(names: Iterable[str], group: Group) -> list[str]:
    """Likewise the rows of the group, of tables of groups."""
    cluster, group_id = group
    return [
        f"{taking(name)} where cluster_id = {text(cluster)} and {condition}"
        for name in names
        for condition in _conditions(name, group_id)
    ]


def _conditions(name: str, group_id: str) -> list[str]:
    """Each of rows that others do not have; statistics of files say of all where they may be."""
    if name != _CHANGES:
        return [f"group_id = {text(group_id)}"]
    subjects = ", ".join(text(f"{kind} {group_id}") for kind in ("cleanup", "sweep"))
    first, last = text(f"offset {group_id} "), text(f"offset {group_id}!")
    return [f"subject in ({subjects})", f"subject >= {first} and subject < {last}"]


def _of_all(name: str) -> str:
    database, bare = name.split(".")
    return f"{identifier(database)}.{identifier(f'{bare} {_ALL}')}"


@cache
def _with_groups() -> frozenset[str]:
    key = {"cluster_id", "group_id"}
    found = {
        name for name, table in tables().items() if key <= {column.name for column in table.columns}
    }
    return frozenset(found | {_CHANGES})
