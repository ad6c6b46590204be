"""Requests of one batch: heartbeats, and pushes with the plugin `delta`.

    python benchmarks/coordinator.py [--heartbeats 10000,100000] [--groups N] [--pushes 1000,10000]

* heartbeats: a warm run over so many of `--groups` groups, to its row; statements that Spark got.
  Peer: the same gates from the same Delta files, by Polars and a plain loop over each group.
* pushes: one of each group, stored by the plugin `delta`. Peer: the plugin alone, called with the
  same descriptions in batches of the same size.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from pathlib import Path
from typing import Any

import polars
from measure import counted, scratch, timed

from moldau.plugins.registry import make_plugin
from moldau.runs.decide import decide
from moldau.runs.opening import open_session
from moldau.sessions.open_run import next_run_id
from moldau.sessions.session import Session
from moldau.settings import load_settings
from moldau.warehouse.contracts import tables

AT_MS = 1_800_000_000_000
SLICE = 1_000  # calls a slice, and so descriptions a commit of the plugin
DESCRIPTION = json.dumps(
    {
        "subtopologies": [
            {
                "subtopologyId": "0",
                "nodes": [
                    {"name": f"n{n}", "nodeType": 1, "sourceTopics": ["t"]} for n in range(9)
                ],
            }
        ],
        "globalStores": [],
    }
)
GROUPS = """
    insert into state.groups by name
    select 'c' as cluster_id, concat('group-', id) as group_id, 0 as offsets_partition_index,
        'streams' as group_type, 'STABLE' as group_state, 'streams' as protocol_type,
        1 as group_epoch, 3 as topology_epoch, -1 as stored_description_topology_epoch,
        -1 as failed_description_topology_epoch, 1 as member_count,
        cast(array() as array<string>) as subscribed_topics, false as is_deleted,
        true as is_readable, id as log_offset, -1L as tombstone_log_offset,
        -1L as last_commit_log_offset, '00000000-load' as changed_in_run_id
    from range({groups})
"""
MEMBERS = """
    insert into state.group_records by name
    select 'c' as cluster_id, concat('group-', id) as group_id, 19 as record_type, 'm' as member_id,
        '' as regular_expression, 0 as partition_index, id as log_offset, 0L as recorded_at_ms,
        false as is_tombstone, true as is_readable
    from range({groups})
"""
HEARTBEATS = """
    insert into raw.heartbeats by name
    select 'c' as cluster_id, concat('{run}-', id) as request_id,
        concat('group-', id % {groups}) as group_id, 'm' as member_id, 1 as request_version,
        1 as member_epoch, 'NONE' as response_error,
        id div {groups} * 5000 + {start} as received_at_ms, 1.0D as jitter, '{run}' as run_id
    from range({heartbeats})
"""
PUSHES = """
    insert into raw.topology_pushes by name
    select 'c' as cluster_id, concat('{run}-', id) as request_id, concat('group-', id) as group_id,
        'm' as member_id, 3 as topology_epoch,
        named_struct(
            'text', '', 'description', '{description}', 'error_message', cast(null as string),
            'findings', cast(array() as array<string>)
        ) as topology_description,
        {start} as received_at_ms, '{run}' as run_id
    from range({pushes})
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--groups", type=int, default=10_000)
    parser.add_argument("--heartbeats", default="10000,100000")
    parser.add_argument("--pushes", default="1000,10000")
    options = parser.parse_args()
    print(f"machine: {platform.machine()}, Python {platform.python_version()}, Spark local[2]")
    with scratch() as folder:
        config = folder / "moldau.yml"
        config.write_text(
            f"warehouse: {folder / 'warehouse'}\n"
            "clusters:\n  c: {authority: moldau, plugin: {name: delta}}\n"
        )
        with open_session(load_settings(config, None), "benchmark") as session:
            session.engines.spark.register(tables())
            for statement in (GROUPS, MEMBERS):
                session.engines.spark.session.sql(statement.format(groups=options.groups))
            sizes = [int(size) for size in options.heartbeats.split(",")]
            for number, heartbeats in enumerate([1_000, *sizes]):
                bench_heartbeats(session, heartbeats, options.groups, number)
            for pushes in map(int, options.pushes.split(",")):
                bench_pushes(session, pushes)


def loaded(session: Session, statement: str, **words: Any) -> str:
    """Rows of a load of its own; gives its run."""
    run = next_run_id(session, "load")
    session.engines.spark.session.sql(statement.format(run=run, **words))
    return run


def run_requests(session: Session) -> tuple[dict[str, int], float, int]:
    """Counts, seconds and statements."""
    started = time.perf_counter()
    with counted() as given:
        counts = decide(session, "requests", ["c"], AT_MS, is_dry_run=False).counts
    return counts, time.perf_counter() - started, given["statements"]


def bench_heartbeats(session: Session, heartbeats: int, groups: int, number: int) -> None:
    start = number * 86_400_000
    run = loaded(session, HEARTBEATS, heartbeats=heartbeats, groups=groups, start=start)
    peer: list[int] = []
    seconds_of_peer = timed(lambda: peer.append(gates_in_polars(session.warehouse, run)))
    counts, seconds, given = run_requests(session)
    assert counts["heartbeats_required"] == peer[0], (counts, peer)
    told = "first run" if number == 0 else f"{seconds / seconds_of_peer:.0f} times Polars"
    print(
        f"{heartbeats:,} heartbeats over {groups:,} groups: {seconds:.1f} s, {given} statements, "
        f"{peer[0]:,} asked; Polars and a loop {seconds_of_peer:.1f} s ({told})"
    )


def gates_in_polars(warehouse: Path, run: str) -> int:
    """How many members are asked: only the last conditions of the gate can fail here."""
    given = polars.scan_delta(str(warehouse / "raw" / "heartbeats")).filter(
        polars.col("run_id") == run
    )
    groups = polars.scan_delta(str(warehouse / "state" / "groups")).select(
        "cluster_id", "group_id", "topology_epoch", "stored_description_topology_epoch",
        "failed_description_topology_epoch",
    )  # fmt: skip
    backoffs = polars.scan_delta(str(warehouse / "state" / "topology_backoffs")).select(
        "cluster_id", "group_id", "attempts", "next_attempt_at_ms"
    )
    rows = (
        given.join(groups, on=["cluster_id", "group_id"])
        .join(backoffs, on=["cluster_id", "group_id"], how="left")
        .sort("group_id", "received_at_ms", "request_id")
        .select(
            "group_id", "received_at_ms", "jitter", "topology_epoch",
            "stored_description_topology_epoch", "failed_description_topology_epoch",
            polars.col("attempts").fill_null(-1), polars.col("next_attempt_at_ms").fill_null(0),
        )
        .collect()
    )  # fmt: skip
    asked, group_before, until, attempts = 0, None, 0, 0
    for (
        group,
        at_ms,
        jitter,
        current,
        stored,
        failed,
        attempts_before,
        until_before,
    ) in rows.iter_rows():
        if group != group_before:
            group_before, until, attempts = group, until_before, attempts_before
        if current >= 0 and current not in (stored, failed) and at_ms >= until:
            asked, attempts = asked + 1, attempts + 1
            until = at_ms + min(int(jitter * 30_000 * 2 ** min(attempts, 6.9)), 3_600_000)
    return asked


def bench_pushes(session: Session, pushes: int) -> None:
    spec = session.settings.plugin_spec("c")
    assert spec
    plugin = make_plugin(spec)
    description = json.loads(DESCRIPTION)

    def alone() -> None:
        for first in range(0, pushes, SLICE):
            last = min(first + SLICE, pushes)
            plugin.set_topologies([(f"alone-{n}", 3, description) for n in range(first, last)])

    peer = timed(alone)
    start = 40 * 86_400_000 + pushes
    loaded(session, PUSHES, pushes=pushes, description=DESCRIPTION, start=start)
    counts, seconds, given = run_requests(session)
    assert counts["pushes_success"] == pushes, counts
    print(
        f"{pushes:,} pushes with `delta`: {seconds:.1f} s, {given} statements; the plugin alone "
        f"{peer:.1f} s (ratio {seconds / peer:.1f})"
    )


if __name__ == "__main__":
    main()
