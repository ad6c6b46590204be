"""The plugin calls of a slice of rows: what `call_plugin` does, on either engine.

Rows need call_id, run_id, cluster_id, group_id, operation and topology_epoch, and may have a
description (JSON) and a turn: those of a later one are called after all of the earlier ones. Each
comes back once with outcome, message, started_at_ms, finished_at_ms and withheld_message. When a
plugin ends the process, ask again with the same journal: what was under way has failed.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from moldau.plugins.calls import Call, make_calls
from moldau.plugins.kept_answers import Journal, read_left
from moldau.plugins.outcomes import Outcome, call_row
from moldau.plugins.registry import PluginSpec, make_plugin, secrets_of

# types of `call_row`
RETURNS = (
    "call_id string, run_id string, cluster_id string, group_id string, operation string, "
    "topology_epoch int, outcome string, message string, started_at_ms bigint, "
    "finished_at_ms bigint, withheld_message string"
)
_CLUSTERS_AT_ONCE = 4
_plugins: dict[str, Any] = {}  # one instance per cluster and worker process


def call_all(
    rows: Sequence[Any],
    plugins: Mapping[str, PluginSpec],
    folder: Path,
    dies_in_call: Sequence[int] = (),
) -> Iterator[tuple[Any, ...]]:
    """Make the calls of these rows; a row of `RETURNS` for each.

    Clusters side by side: the dead plugin of one does not hold up those of the others. Once a
    process was ended they are called one by one, so that no plugin fails for what another does.
    What the journal in `folder` knows of is not called again.
    """
    after_call = _killer(dies_in_call) if dies_in_call else None
    left = read_left(folder)

    def call_cluster(cluster_id: str) -> list[tuple[Any, ...]]:
        spec = plugins[cluster_id]
        # ids differ from run to run: so do the neighbours of a call that ends the process
        asked = {row.call_id: row for row in sorted(rows, key=lambda row: str(row.call_id))}
        asked = {name: row for name, row in asked.items() if row.cluster_id == cluster_id}
        known = [it for name in asked if (it := left.outcome(name, cluster_id))]
        told = {it.call_id for it in known}
        waiting = [row for row in asked.values() if row.call_id not in told]
        for turn in sorted({_turn(row) for row in waiting}):
            answers = make_calls(
                lambda: _plugin(spec, journal),
                [_call(row) for row in waiting if _turn(row) == turn],
                timeout_seconds=spec.timeout_seconds,
                before_call=journal.begin,
                after_call=after_call,
                secrets=lambda: secrets_of(spec),
            )
            for answer in answers:
                with contextlib.suppress(OSError):  # it is recorded all the same
                    journal.end(answer)
                known.append(answer)
        return [_told(asked[answer.call_id], answer) for answer in known]

    journal = Journal(folder)
    with ThreadPoolExecutor(1 if left.processes else _CLUSTERS_AT_ONCE) as pool:
        for told in pool.map(call_cluster, sorted({row.cluster_id for row in rows})):
            yield from told
    journal.close()


def _turn(row: Any) -> int:
    return int(getattr(row, "turn", 0))


def _call(row: Any) -> Call:
    description = getattr(row, "description", None)
    return Call(
        row.call_id,
        row.cluster_id,
        row.group_id,
        row.operation,
        row.topology_epoch,
        None if description is None else json.loads(description),
    )


def _told(row: Any, answer: Outcome) -> tuple[Any, ...]:
    return tuple(call_row(row, row.run_id, answer).values())


def _plugin(spec: PluginSpec, journal: Journal) -> Any:
    key = repr(dataclasses.asdict(spec))
    if key not in _plugins:
        with journal.constructing(spec.cluster_id):
            _plugins[key] = make_plugin(spec)
    return _plugins[key]


def _killer(pids: Sequence[int]) -> Callable[[], None]:
    def kill() -> None:
        for pid in pids:
            os.kill(pid, signal.SIGKILL)

    return kill
