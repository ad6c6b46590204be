"""Two answers of Spark to one question, and where they differ: nothing is written."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from moldau.engines.sizes import is_small
from moldau.engines.spark.answers import in_words, rows_of
from moldau.engines.spark.catalog import register
from moldau.engines.spark.spark_session import start, suit_to
from moldau.reading.tables.told import told
from moldau.reading.tables.views import (
    PARAMETERS,
    View,
    instead,
    is_view,
    tables_under,
    views_under,
    with_named,
)
from moldau.warehouse.parameters import of_a_reader

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def differing(
    warehouse: Path,
    question: str,
    reads: Sequence[str],
    sides: tuple[Sequence[View], Sequence[View]],
    keys: Sequence[str],
    values: Sequence[str],
    at_ms: int,
    properties: Mapping[str, str],
) -> list[tuple[Any, ...]]:
    """Keys, and each value of both sides, where one differs, in the order of the keys.

    `question`: Spark SQL on the views `reads`; `sides`: what stands in the place of views under
    them; `properties`: Spark's own of moldau.yml. Of what one side has not at all its values are
    null. MoldauError with Spark's words if it cannot answer.
    """
    spark = start(warehouse.resolve(), told=properties)
    suit_to(spark, is_small(warehouse))
    with in_words(), contextlib.ExitStack() as stack:
        for side in sides:
            register(spark, warehouse.resolve(), tables_under(reads, side))
        was, would_be = (
            _Side(spark, stack, warehouse, name, at_ms).answer(question, reads, side)
            for name, side in zip(("now", "then"), sides, strict=True)
        )
        both = ", ".join(f"n.{name}, t.{name} as {name}_then" for name in values)
        same = " and ".join(f"n.{name} <=> t.{name}" for name in values)
        listed = ", ".join(keys)
        return rows_of(
            spark.sql(
                f"select {listed}, {both} from {was} as n full outer join {would_be} as t "
                f"using ({listed}) where not ({same}) order by {listed}"
            )
        )


class _Side:
    """Views of the session alone, until the stack is closed. What a run computes once is kept."""

    def __init__(
        self,
        spark: SparkSession,
        stack: contextlib.ExitStack,
        warehouse: Path,
        name: str,
        at_ms: int,
    ) -> None:
        self._spark, self._stack, self._name = spark, stack, name
        self._warehouse, self._at_ms = warehouse, at_ms
        self._sql: dict[str, str] = {}  # of views that stand in each query that needs them
        self._reads: dict[str, tuple[str, ...]] = {}
        self._kept: dict[str, str] = {}

    def answer(self, question: str, reads: Sequence[str], brought: Sequence[View]) -> str:
        views = views_under(reads, brought)
        self._sql[PARAMETERS] = of_a_reader(self._at_ms)
        self._sql |= dict(told(self._warehouse, views))
        for view in views:
            if view.is_list:
                self._kept[view.name] = self._keep(view.name, view.spark_sql, view.reads)
            else:
                self._sql[view.name], self._reads[view.name] = view.spark_sql, view.reads
        return self._keep("answer", question, reads, is_list=False)

    def _keep(self, name: str, sql: str, reads: Sequence[str], is_list: bool = True) -> str:
        """A temporary view; gives its name."""
        kept = f"what_if_{self._name}__{name.replace('.', '__')}"
        within = {view: view.replace(".", "__") for view in self._under(reads)}
        names = within | self._kept
        named = {within[view]: instead(self._sql[view], names) for view in within}
        frame = self._spark.sql(with_named(named, instead(sql, names)))
        if is_list:
            frame = frame.localCheckpoint()  # and it is no part of the plans that read it
        frame.createOrReplaceTempView(kept)
        self._stack.callback(self._spark.catalog.dropTempView, kept)
        return kept

    def _under(self, reads: Sequence[str]) -> list[str]:
        """What has to stand in a query that reads these, parents first."""
        found: dict[str, None] = {}

        def add(name: str) -> None:
            if name in self._sql and name not in found:
                for parent in self._reads.get(name, ()):
                    add(parent)
                found[name] = None

        for name in reads:
            if is_view(name):
                add(name)
        return list(found)
