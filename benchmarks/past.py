"""The past of a group among many: its timeline, and what it was as of an instant.

    python benchmarks/past.py [--groups 100000,1000000] [--records 20] [--runs 5]

Each group has so many records: commits of five partitions, in the order of the fifty logs, so that
those of one group are spread over all of one. Asked are `moldau timeline`, `explain … --as-of` and
a plain `show` beside them, each a process of its own; with `--whole` also `show … --as-of` of all
groups.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
from functools import partial
from pathlib import Path

from measure import insert, scratch, timed

from moldau.runs.opening import open_session
from moldau.settings import load_settings

AT_MS = 1_800_000_000_000
RECORDS = """
select
    'bench' as cluster_id,
    concat('group-', id % {groups}) as group_id,
    1 as record_type,
    'ok' as decode_status,
    false as is_tombstone,
    int(id % 50) as partition_index,
    id div 50 as log_offset,
    {at} + id div 100 as recorded_at_ms,
    {at} + id div 100 as commit_at_ms,
    'orders' as committed_topic_name,
    int((id div {groups}) % 5) as committed_partition_index,
    id as committed_offset,
    '00000001-load' as run_id
"""
GROUPS = """
select
    'bench' as cluster_id,
    concat('group-', id) as group_id,
    int(id % 50) as offsets_partition_index,
    'classic' as group_type,
    'EMPTY' as group_state,
    1 as group_epoch,
    -1 as topology_epoch,
    -1 as stored_description_topology_epoch,
    -1 as failed_description_topology_epoch,
    0 as member_count,
    array() as subscribed_topics,
    false as is_deleted,
    true as is_readable,
    id as log_offset,
    -1L as tombstone_log_offset,
    id as last_commit_log_offset,
    '00000001-load' as changed_in_run_id
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--groups", default="100000,1000000")
    parser.add_argument("--records", type=int, default=20, help="of each group")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--whole", action="store_true")
    options = parser.parse_args()
    for groups in map(int, options.groups.split(",")):
        print(f"\n{groups:,} groups, {groups * options.records:,} records; median, wall (CPU)")
        with scratch() as folder:
            made = make(folder / "w", groups, options.records)
            bench(made, groups, options.runs, options.whole)


def make(warehouse: Path, groups: int, records: int) -> Path:
    with open_session(load_settings(None, warehouse), "benchmark") as session:
        insert(session, "state.groups", GROUPS, groups)
        rows = RECORDS.format(groups=groups, at=AT_MS)
        insert(session, "decoded.group_records", rows, groups * records)
    return warehouse


def bench(warehouse: Path, groups: int, runs: int, is_whole: bool) -> None:
    group = f"group-{groups // 3}"
    as_of = ("--as-of", str(AT_MS + groups // 10))
    asked = [
        ("timeline", group),
        ("explain", group, *as_of),
        ("show", "marts.groups", "--where", f"group_id = '{group}'"),
    ]
    asked += [
        ("show", "marts.groups", *more, "--format", "csv") for more in ((), as_of) if is_whole
    ]
    for words in asked:
        walls, spent = [], []
        for _ in range(runs):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            walls.append(timed(partial(ask, warehouse, *words)))
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        wall, cpu = statistics.median(walls), statistics.median(spent)
        print(f"  moldau {' '.join(words)}: {wall:.2f} s ({cpu:.2f})", flush=True)


def ask(warehouse: Path, *words: str) -> None:
    program = "from moldau.cli import main; main()"
    told = os.environ | {"MOLDAU_WAREHOUSE": str(warehouse)}
    command = [sys.executable, "-c", program, *words]
    subprocess.run(command, check=True, env=told, capture_output=True)


if __name__ == "__main__":
    main()
