"""One command on the warehouse, or every line of `moldau exec`: Spark, and dbt's views on it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from moldau.engine.dbt import Model, dbt, helpers_under, models_tagged, tables_of
from moldau.engine.literals import rows_sql
from moldau.reading.spark_views import make_marts
from moldau.reading.tables import mentioned
from moldau.reading.views import tables_under
from moldau.settings import Settings
from moldau.warehouse.catalog import register
from moldau.warehouse.contracts import marts, run_views, tables

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from moldau.sessions.run import Run
    from moldau.warehouse.aside import Aside


@dataclass
class Session:
    settings: Settings
    warehouse: Path
    start_spark: Callable[[], SparkSession]
    views: set[str] = field(default_factory=set)  # that were made in this session
    registered: set[str] = field(default_factory=set)  # tables that Spark was told of
    # views of `run.*` that are not known to be empty
    brought: set[str] = field(default_factory=lambda: set(run_views()))
    # nobody was told yet: runs that were interrupted, and what could not be finished
    finished: list[Run] = field(default_factory=list)
    set_aside: list[Aside] = field(default_factory=list)

    @cached_property
    def spark(self) -> SparkSession:
        """Started when it is first needed: what brings nothing new does not."""
        return self.start_spark()

    def bring(self, name: str, sql: str) -> None:
        """Make the view `run.<name>`: what the run that is open is about, or brings."""
        self.register(name for name in tables() if name in sql)
        self.spark.sql(f"create or replace view run.{name} as {sql}")
        self.brought.add(name)

    def bring_nothing(self) -> None:
        """Empty what other runs brought; what a run is about is made anew by each."""
        for name in self.brought - {"parameters", "settings"}:
            self.bring(name, rows_sql(run_views()[name], []))
        self.brought.clear()

    def register(self, names: Iterable[str]) -> None:
        """Tell Spark where these tables lie: to tell it of all would cost a command seconds."""
        missing = set(names) - self.registered
        register(self.spark, self.warehouse, missing)
        self.registered |= missing

    def dbt(self, *arguments: str) -> None:
        dbt(*arguments, warehouse=self.warehouse)

    def models(self, stage: str, kind: str) -> list[Model]:
        """The models of a stage (`fold`, `decide`, `apply`) of a kind of file or run.

        One that is `for_each` entry of a section of moldau.yml has no work where there is none.
        """
        sections = {None} | {name for name, told in self.settings.sections.items() if told}
        models = models_tagged(f"{stage}_{kind}", self.warehouse)
        return [model for model in models if model.meta.get("for_each") in sections]

    def make_views(self, *names: str) -> None:
        """These views and what they read: views once a session, lists of the run each time."""
        wanted = self._helpers(names) | (set(names) - self.views)
        if wanted:
            self.register(tables_of(names, self.warehouse))
            self.dbt("run", "--select", *sorted(wanted))
            self.views |= wanted

    def run_models(self, *names: str) -> None:
        """Write these models, in the order of the graph, after the views and lists they read."""
        wanted = self._helpers(names)
        self.register(tables_of(names, self.warehouse))
        self.dbt("run", "--select", *names, *sorted(wanted))
        self.views |= wanted

    def _helpers(self, names: Sequence[str]) -> set[str]:
        helpers = helpers_under(names, self.warehouse)
        return {n for n, kind in helpers.items() if kind == "run_list" or n not in self.views}

    def sql(self, statement: str, at_ms: int | None = None) -> list[Any]:
        """The rows of a query, which may name marts. `at_ms`: their clock; None = now."""
        self.register(name for name in tables() if name in statement)
        if "marts." in statement:
            asked = mentioned(list(marts()), statement)
            self.register(tables_under(asked))
            make_marts(self.spark, self.warehouse, asked, at_ms)
        return list(self.spark.sql(statement).collect())
