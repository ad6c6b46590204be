"""`call_plugin(table(calls) partition by slice)`: the one function of SQL with an outside effect.

Rows need call_id, run_id, cluster_id, group_id, operation and topology_epoch; each comes back once
with outcome, message, started_at_ms and finished_at_ms. Run it in one append, with task retries and
speculation off (both are, in local mode): Spark then calls once and records what it called.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from moldau.plugins.calls import Call, make_calls
from moldau.plugins.outcomes import Outcome
from moldau.plugins.registry import PluginSpec, make_plugin

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RETURNS = (
    "call_id string, run_id string, cluster_id string, group_id string, operation string, "
    "topology_epoch int, outcome string, message string, started_at_ms bigint, "
    "finished_at_ms bigint"
)
_CLUSTERS_AT_ONCE = 4
_plugins: dict[str, Any] = {}  # one instance per cluster and worker process


def register_call_plugin(
    spark: SparkSession, specs: Mapping[str, PluginSpec], dies_in_call: Sequence[int] = ()
) -> None:
    """Register `call_plugin` with these plugins by cluster.

    `dies_in_call`: processes to kill once a plugin has done what it was asked and nothing has
    recorded it (MOLDAU_FAIL_AT=in_call).
    """
    from pyspark.sql.functions import udtf

    plugins = dict(specs)

    @udtf(returnType=RETURNS)
    class CallPlugin:
        """Rows of a partition arrive one by one; the calls are made when all are there."""

        def __init__(self) -> None:
            self.rows: list[Any] = []

        def eval(self, row: Any) -> None:
            self.rows.append(row)

        def terminate(self) -> Iterator[tuple[Any, ...]]:
            yield from call_all(self.rows, plugins, dies_in_call)

    spark.udtf.register("call_plugin", CallPlugin)


def call_all(
    rows: Sequence[Any], plugins: Mapping[str, PluginSpec], dies_in_call: Sequence[int]
) -> Iterator[tuple[Any, ...]]:
    """Make the calls of these rows; a row of `RETURNS` for each.

    Clusters side by side: the dead plugin of one does not hold up those of the others.
    """
    after_call = _killer(dies_in_call) if dies_in_call else None

    def call_cluster(cluster_id: str) -> list[tuple[Any, ...]]:
        spec = plugins[cluster_id]
        asked = {row.call_id: row for row in rows if row.cluster_id == cluster_id}
        calls = [
            Call(r.call_id, r.cluster_id, r.group_id, r.operation, r.topology_epoch)
            for r in asked.values()
        ]
        answers = make_calls(
            lambda: _plugin(spec),
            calls,
            timeout_seconds=spec.timeout_seconds,
            after_call=after_call,
        )
        return [_told(asked[answer.call_id], answer) for answer in answers]

    with ThreadPoolExecutor(_CLUSTERS_AT_ONCE) as pool:
        for told in pool.map(call_cluster, sorted({row.cluster_id for row in rows})):
            yield from told


def _told(row: Any, answer: Outcome) -> tuple[Any, ...]:
    return (
        row.call_id,
        row.run_id,
        row.cluster_id,
        row.group_id,
        row.operation,
        row.topology_epoch,
        answer.outcome,
        answer.message,
        answer.started_at_ms,
        answer.finished_at_ms,
    )


def _plugin(spec: PluginSpec) -> Any:
    key = repr(spec)
    if key not in _plugins:
        _plugins[key] = make_plugin(spec)
    return _plugins[key]


def _killer(pids: Sequence[int]) -> Callable[[], None]:
    def kill() -> None:
        for pid in pids:
            os.kill(pid, signal.SIGKILL)

    return kill
