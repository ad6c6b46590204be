"""A notebook's session of Spark, in which tables and marts are made when somebody names them.

Spark looks through the log of each table, and analyses each mart: of all of them that takes longer
than most answers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from moldau.engines.spark.catalog import register
from moldau.reading.tables.names_of import mentioned
from moldau.reading.tables.spark_views import make_marts
from moldau.reading.tables.views import is_view, tables_under

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# what follows may leave out the database
_USES = re.compile(r"^\s*use\b", re.IGNORECASE)


def lazy_session(spark: SparkSession, warehouse: Path, names: Iterable[str]) -> SparkSession:
    """The same session, whose `sql`, `table`, `read.table` and `catalog` find these tables and
    marts.

    `spark` itself stays as it is: other ways to the catalog, which they share, see what was named
    before. `catalog`, and a statement that lists tables, make them all.
    """
    of_session = type(type(spark).__name__, (_Session, type(spark)), {})
    lazy: Any = object.__new__(of_session)  # `copy` gives a server's session itself
    vars(lazy).update(vars(spark), _unmade=_Unmade(warehouse, names))
    return cast("SparkSession", lazy)


class _Unmade:
    """Tables and marts that the catalog does not have yet."""

    def __init__(self, warehouse: Path, names: Iterable[str]) -> None:
        self._warehouse = warehouse
        self._names = list(names)

    def make(self, spark: Any, statement: str | None) -> None:
        """Those that the statement may mean; None = all."""
        if statement is None or _USES.match(statement):
            wanted = set(self._names)
        else:
            wanted = set(mentioned(self._names, statement))
        marts = [name for name in self._names if name in wanted and is_view(name)]
        wanted |= tables_under(marts) & set(self._names)
        # making them asks the session, too
        names, self._names = self._names, []
        try:
            register(spark, self._warehouse, wanted - set(marts))
            if marts:
                make_marts(spark, self._warehouse, marts)
        except BaseException:
            self._names = names
            raise
        self._names = [name for name in names if name not in wanted]


class _Session:
    """Before what every session of Spark has."""

    _unmade: _Unmade

    def __del__(self) -> None:
        """A server's session would end: it is closed by whose it is."""

    def sql(self, sqlQuery: str, *arguments: Any, **named: Any) -> Any:
        self._unmade.make(self, sqlQuery)
        return super().sql(sqlQuery, *arguments, **named)  # type: ignore[misc]

    def table(self, tableName: str) -> Any:
        return self.read.table(tableName)

    @property
    def read(self) -> Any:
        reader = super().read  # type: ignore[misc]
        known = reader.table

        def table(name: str) -> Any:
            self._unmade.make(self, name)
            return known(name)

        reader.table = table
        return reader

    @property
    def catalog(self) -> Any:
        self._unmade.make(self, None)
        return super().catalog  # type: ignore[misc]
