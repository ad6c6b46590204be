"""Make models with Spark, through dbt, on Delta tables of any size."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from moldau.compiled.dbt import dbt
from moldau.compiled.graph import helpers_under, run_views_under, tables_of
from moldau.engines.engine import Looked, Mapped
from moldau.engines.run_views import RunViews
from moldau.engines.spark.catalog import register
from moldau.engines.spark.conf import properties
from moldau.engines.spark.udtf import register_call_plugin
from moldau.plugins.registry import PluginSpec
from moldau.warehouse.contracts import tables
from moldau.warehouse.verify import naming_damage

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

_FEW_ROWS_AT_ONCE = {"spark.sql.execution.arrow.maxRecordsPerBatch": "64"}
_PARTS = "spark.sql.shuffle.partitions"
_LEAST_TASKS = 16  # the partitions of a small table are too few where each row is work


class SparkModels:
    def __init__(self, warehouse: Path, start_spark: Callable[[], SparkSession]) -> None:
        self._warehouse = warehouse
        self._start_spark = start_spark
        self._session: SparkSession | None = None
        self._ends = 0  # of sessions in this process, when this one began
        self._run_views = RunViews(self._make_run_view)
        self._forget()

    def _forget(self) -> None:
        """A session that is new knows of nothing."""
        self._views: set[str] = set()  # that were made in this session
        self._registered: set[str] = set()  # tables that Spark was told of
        self._run_views.forget()

    @property
    def session(self) -> SparkSession:
        """Started when it is first needed, and anew after another warehouse was open."""
        from moldau.engines.spark.spark_session import ends

        if self._session is None or self._ends != ends():
            self._session = self._start_spark()
            self._ends = ends()
            self._forget()
        return self._session

    def begin(self, brought: Mapping[str, str], is_small: bool) -> None:
        """Empty what other runs brought, and bring this: view of `run.*` -> its query."""
        from moldau.engines.spark.spark_session import suit_to

        suit_to(self.session, is_small)
        self._run_views.begin(brought)

    def make_run_views(self, names: Iterable[str]) -> None:
        """Make these views of `run.*`, empty, unless they are there."""
        self._run_views.need(names)

    def bring(self, name: str, sql: str) -> None:
        self._run_views.bring(name, sql)

    def _make_run_view(self, name: str, sql: str) -> None:
        self.register(name for name in tables() if name in sql)
        self.session.sql(f"create or replace view run.{name} as {sql}")

    def look_at(self, model: str, parts: Looked) -> None:
        """It looks at all: what planning costs does not follow the files."""

    def run(self, names: Sequence[str]) -> None:
        """Write these models, in the order of the graph, after the views and lists they read."""
        self._run(names, self._helpers(names))

    def make_views(self, names: Sequence[str]) -> None:
        """These views and what they read: views once a session, lists of the run each time."""
        wanted = self._helpers(names) | (set(names) - self._views)
        if wanted:
            self._run([], wanted, names)

    def _run(self, names: Sequence[str], helpers: set[str], read: Sequence[str] = ()) -> None:
        self.register(tables_of([*names, *read]))
        self.make_run_views(run_views_under([*names, *read]))
        with naming_damage(self._warehouse, tables_of([*names, *helpers, *read])):
            dbt("run", "--select", *names, *sorted(helpers), warehouse=self._warehouse)
        self._views |= helpers

    def _helpers(self, names: Sequence[str]) -> set[str]:
        helpers = helpers_under(names).values()
        return {
            one.name
            for one in helpers
            if one.materialized == "run_list" or one.name not in self._views
        }

    def register(self, names: Iterable[str]) -> None:
        """Tell Spark where these tables lie: to tell it of all would cost a command seconds."""
        missing = set(names) - self._registered
        register(self.session, self._warehouse, missing)
        self._registered |= missing

    @contextlib.contextmanager
    def calling(
        self, specs: Mapping[str, PluginSpec], journal: Path, dies_in_call: Sequence[int]
    ) -> Iterator[None]:
        """In this block models may call these plugins (see moldau.engines.spark.udtf)."""
        register_call_plugin(self.session, specs, journal, dies_in_call)
        yield

    def sql(self, statement: str) -> list[Any]:
        """The rows of a query in Spark SQL."""
        names = [name for name in tables() if name in statement]
        self.register(names)
        self._run_views.need_for(statement)
        with naming_damage(self._warehouse, names):
            return list(self.session.sql(statement).collect())

    def keep(self, view: str, folder: Path) -> str:
        """Write the rows of a view into a folder; gives the relation that reads them."""
        self.make_views([view])
        path = str(folder / view)
        self.session.table(f"intermediate.{view}").write.parquet(path)
        return f"parquet.`{path.replace('`', '``')}`"

    def map(self, view: str, change: Mapped, schema: pa.Schema, folder: Path) -> str:
        """Write what a function over batches makes of the rows of a view; gives the relation.

        Rows are few and long: they go to all tasks, and few of them at once to the function."""
        from pyspark.sql.pandas.types import from_arrow_schema

        self.make_views([view])
        path = str(folder / view)
        tasks = max(int(self.session.conf.get(_PARTS) or 1), _LEAST_TASKS)
        rows = self.session.table(f"intermediate.{view}").repartition(tasks)
        with properties(self.session, _FEW_ROWS_AT_ONCE):
            changed = rows.mapInArrow(change, from_arrow_schema(schema))
            changed.write.parquet(path)
        return f"parquet.`{path.replace('`', '``')}`"
