"""`call_plugin(table(calls) partition by slice)`: the only SQL function with an outside effect.

Run it in one append, with task retries and speculation off (both are, in local mode): Spark then
calls once and records what it called (`moldau.plugins.slices`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from moldau.plugins.printed import print_without, secrets_of_all
from moldau.plugins.registry import PluginSpec
from moldau.plugins.slices import RETURNS, call_all

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def register_call_plugin(
    spark: SparkSession,
    specs: Mapping[str, PluginSpec],
    journal: Path,
    dies_in_call: Sequence[int] = (),
) -> None:
    """Register `call_plugin` with these plugins by cluster.

    `journal`: a folder of this command alone, in which each slice notes the calls that it makes.
    `dies_in_call`: processes to kill once a plugin has done what it was asked and nothing has
    recorded it (MOLDAU_FAIL_AT=in_call).
    """
    from pyspark.sql.functions import udtf

    plugins = dict(specs)
    secrets = secrets_of_all(plugins.values())

    @udtf(returnType=RETURNS)
    class CallPlugin:
        """Rows of a partition arrive one by one; the calls are made when all are there."""

        def __init__(self) -> None:
            self.rows: list[Any] = []

        def eval(self, row: Any) -> None:
            self.rows.append(row)

        def terminate(self) -> Iterator[tuple[Any, ...]]:
            print_without(secrets())  # into Spark's log, with Java's words
            yield from call_all(self.rows, plugins, journal, dies_in_call)

    spark.udtf.register("call_plugin", CallPlugin)
