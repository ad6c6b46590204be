"""`/metrics` by size: what Prometheus is told of a warehouse, in a process that stays.

    python benchmarks/metrics.py [--groups 1000,10000,100000] [--runs N]

Each group has ten offsets with their ends, decisions of a sweep, and a translation of each; one in
twenty is held by the gate. With the limit on series that holds by default, and without one.
"""

from __future__ import annotations

import argparse
import statistics
import time

from measure import insert, scratch

from moldau.metrics.exposition import SERIES, exposition
from moldau.runs.opening import open_session
from moldau.sessions.session import Session
from moldau.settings import load_settings
from moldau.warehouse.contracts import tables

AT_MS = 1_800_000_000_000
PARTITIONS, TOPICS = 10, 100
GROUP = "'east' as cluster_id, concat('group-', id) as group_id"
PARTITION = (
    f"concat('topic-', int(id / {PARTITIONS}) % {TOPICS}) as topic_name, "
    f"int(id % {PARTITIONS}) as partition_index"
)
ID_OF_OFFSET = f"concat('group-', int(id / {PARTITIONS})) as group_id, {PARTITION}"
OF_OFFSET = f"'east' as cluster_id, {ID_OF_OFFSET}"
ROWS = {
    "state.groups": (
        1,
        f"select {GROUP}, if(id % 4 = 0, 'streams', 'consumer') as group_type, "
        "'STABLE' as group_state, 2 as member_count, true as is_readable, int("
        "if(id % 4 = 0, 0, -1)) as stored_description_topology_epoch, "
        "-1 as failed_description_topology_epoch",
    ),
    "state.group_offsets": (
        PARTITIONS,
        f"select {OF_OFFSET}, id as committed_offset, {AT_MS - 1000} as commit_at_ms, "
        "1 as commit_log_offset",
    ),
    "decisions.offset_expirations": (
        PARTITIONS,
        f"select {OF_OFFSET}, 'keep' as decision, 'RETENTION_NOT_ELAPSED' as reason_code, "
        f"{AT_MS} + id * 1000 as expires_at_ms, 'commit' as expiry_clock, "
        f"1 as observed_log_offset, {AT_MS} as decided_at_ms",
    ),
    "decisions.group_sweeps": (
        1,
        f"select {GROUP}, if(id % 20 = 0, 'defer', 'keep') as decision, {AT_MS} as decided_at_ms",
    ),
    "decisions.offset_translations": (
        PARTITIONS,
        f"select 'flow' as flow, {ID_OF_OFFSET}, 'emit' as decision, 5 as upstream_offset, "
        f"5 as translated_offset, 5 as lower_bound, 9 as upper_bound, {AT_MS} as decided_at_ms",
    ),
}
ENDS = (
    f"select 'east' as cluster_id, {PARTITION}, 'id' as topic_id, 1 as broker_id, "
    "true as is_leader, 1 as leader_epoch, 0 as log_start_offset, "
    f"10000000 as high_watermark, 10000000 as last_stable_offset, {AT_MS} as taken_at_ms"
)


def whole(table: str, query: str) -> str:
    """With what no row of the table may lack."""
    nothing = {"string": "''", "boolean": "false"}
    lacking = [
        f"cast({nothing.get(column.data_type, '0')} as {column.data_type}) as {column.name}"
        for column in tables()[table].columns
        if not column.is_nullable and f" as {column.name}" not in query
    ]
    return ", ".join([query, *lacking])


def fill(session: Session, groups: int) -> None:
    for table, (times, query) in ROWS.items():
        insert(session, table, whole(table, query), groups * times)
    ends = "state.partition_states"
    insert(session, ends, whole(ends, ENDS), PARTITIONS * TOPICS)


def measure(session: Session, runs: int, series: int) -> None:
    seconds, cpu = [], []
    text = b""
    for _ in range(runs):
        began, busy = time.perf_counter(), time.process_time()
        text, _ = exposition(session.warehouse, AT_MS, series)
        seconds.append(time.perf_counter() - began)
        cpu.append(time.process_time() - busy)
    lines = sum(not line.startswith(b"#") for line in text.splitlines())
    print(
        f"  at most {series:>9,} series a metric: {statistics.median(seconds):6.2f} s, "
        f"{statistics.median(cpu):6.2f} s of CPU, {lines:>9,} series, {len(text) / 1e6:6.1f} MB"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--groups", default="1000,10000,100000")
    parser.add_argument("--runs", type=int, default=5)
    told = parser.parse_args()
    for groups in map(int, told.groups.split(",")):
        print(f"{groups:,} groups, {groups * PARTITIONS:,} offsets")
        with (
            scratch() as folder,
            open_session(load_settings(None, folder / "w"), "bench") as opened,
        ):
            fill(opened, groups)
            for series in (SERIES, 10_000_000):
                measure(opened, told.runs, series)


if __name__ == "__main__":
    main()
