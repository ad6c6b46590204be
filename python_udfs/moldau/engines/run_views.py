"""The views `run.*` of a session: what the run that is open brings, and nothing of others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from moldau.literals import rows_sql
from moldau.warehouse.contracts import run_views


class RunViews:
    """Each costs a moment, so an empty one is made when it is first needed."""

    def __init__(self, make: Callable[[str, str], None]) -> None:
        """`make`: what makes a view, by its name below `run`, of a query in Spark's SQL."""
        self._make = make
        self.forget()

    def forget(self) -> None:
        """A session that is new has none."""
        self._unmade = set(run_views())
        self._brought: set[str] = set()  # those that are not known to be empty

    def begin(self, brought: Mapping[str, str]) -> None:
        """Empty what other runs brought, and bring this: view -> its query."""
        self._empty(self._brought - brought.keys())
        for name, sql in brought.items():
            self.bring(name, sql)

    def bring(self, name: str, sql: str) -> None:
        self._make(name, sql)
        self._brought.add(name)
        self._unmade.discard(name)

    def need(self, names: Iterable[str]) -> None:
        """Make these, empty, unless they are there."""
        self._empty(self._unmade & set(names))

    def need_for(self, statement: str) -> None:
        """The same of those that a statement may name."""
        self.need(name for name in run_views() if f"run.{name}" in statement)

    def _empty(self, names: set[str]) -> None:
        for name in sorted(names):
            self._make(name, rows_sql(run_views()[name], []))
        self._brought -= names
        self._unmade -= names
