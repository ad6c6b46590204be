"""The groups domain by size: load to folded state, and decisions in full and after 1 % changed.

    python benchmarks/groups.py [--groups 10000,100000,1000000] [--records 1000000] [--runs N]
        [--parts verbs,load,decide,one]

* verbs: statements, Delta commits and files of each verb on the bundled samples, warm, beside
  trivial overwrites of a Delta table by Spark in the same run.
* load: offset commits in a Parquet file, through raw and decoded into state.
* decide: `sweep` (offset expirations, then groups) and `cycle` (eligibility) up to the run's row,
  in full, and again after 1 % of the groups, spread evenly, committed. 20 offsets
  a group.
* one: a load of one commit of one group, then both kinds of run, beside all these groups, of which
  none waits to be cleaned up (a dry run decides those that do anew); and the verbs that read, each
  a process of its own.
* naive: eligibility that counts the offsets of every group, not of the candidates alone.
* peer: DuckDB on the same Delta files with the same SQL, dbt's compiled models as marts are read,
  deciding in full and writing Parquet.
Commits and files are read from the Delta logs.
"""

from __future__ import annotations

import argparse
import base64
import itertools
import os
import platform
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from deltalake import DeltaTable
from measure import connect_peer, counted, insert, scratch, timed, versions, written

from moldau.compiled.graph import helpers_under, models
from moldau.engines.duckdb.translated import translated_models
from moldau.engines.duckdb.translation import MACROS
from moldau.runs.decide import decide
from moldau.runs.load import load
from moldau.runs.opening import open_session
from moldau.sessions.open_run import open_run, settings_models
from moldau.sessions.run import Run
from moldau.sessions.session import Session
from moldau.settings import load_settings
from moldau.warehouse.contracts import tables
from moldau.warehouse.damage import open_table

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "python"))

from encode import encode_key, encode_value  # noqa: E402

SAMPLES = ROOT / "samples"
OFFSETS = 20
BIG = 1_000_000  # groups of which one run must do
AT_MS = 1_800_000_000_000
RETENTION_MS = 604_800_000
SETTINGS = """
clusters:
  bench: {group.streams.topology.description.plugin.class: Plugin}
"""
# Spark's words on the left are DuckDB's on the right
START_MS = AT_MS - RETENTION_MS - 500_000  # about half of the offsets have expired
GROUPS = f"""
select
    'bench' as cluster_id,
    concat('group-', id) as group_id,
    int(id % 50) as offsets_partition_index,
    case id % 4 when 0 then 'streams' when 1 then 'consumer' else 'classic' end as group_type,
    if(id % 3 = 0, 'EMPTY', 'STABLE') as group_state,
    if(id % 4 = 0, 'streams', 'consumer') as protocol_type,
    1 as group_epoch,
    0 as topology_epoch,
    int(if(id % 4 = 0 and id % 5 < 4, 0, -1)) as stored_description_topology_epoch,
    -1 as failed_description_topology_epoch,
    int(if(id % 3 = 0, 0, 2)) as member_count,
    if(id % 3 = 0, array(), array('topic.0', 'topic.1')) as subscribed_topics,
    false as is_deleted,
    true as is_readable,
    if(id % 3 = 0, {START_MS} + id % 1000000, null) as empty_since_at_ms,
    id as log_offset,
    -1L as tombstone_log_offset,
    id as last_commit_log_offset,
    '00000000-load' as changed_in_run_id
"""
# the records that those groups are of
GROUP_RECORDS = f"""
select
    'bench' as cluster_id,
    concat('group-', id) as group_id,
    case id % 4 when 0 then 17 when 1 then 3 else 2 end as record_type,
    '' as member_id,
    '' as regular_expression,
    int(id % 50) as partition_index,
    id as log_offset,
    {START_MS} + id % 1000000 as recorded_at_ms,
    false as is_tombstone,
    true as is_readable,
    1 as epoch,
    if(id % 4 < 2, null, 'consumer') as protocol_type,
    if(id % 4 < 2, null, int(if(id % 3 = 0, 0, 2))) as member_count,
    if(id % 4 < 2 or id % 3 = 0, null, array('topic.0', 'topic.1')) as subscribed_topics,
    int(if(id % 4 = 0 and id % 5 < 4, 0, -1)) as stored_description_topology_epoch,
    -1 as failed_description_topology_epoch
"""
COMMITS = f"""
select
    'bench' as cluster_id,
    concat('group-', id div {OFFSETS}) as group_id,
    concat('topic.', id % 5) as topic_name,
    int(id % {OFFSETS}) as partition_index,
    '' as metadata,
    id as committed_offset,
    false as is_deleted,
    true as is_readable,
    {START_MS} + (id * 7919) % 1000000 as commit_at_ms,
    id as commit_log_offset,
    -1L as tombstone_log_offset,
    '00000000-load' as changed_in_run_id
"""
_numbers = itertools.count(1000)  # run ids: each later than the one before
READING = (
    ("status",),
    ("show", "marts.cleanup_preview", "--limit", "20"),
    ("show", "marts.groups", "--limit", "20"),
    ("show", "marts.decisions", "--limit", "20"),
    ("explain", "group-12", "--cluster", "bench"),
)
REASONED = {
    "sweep": ("int_groups__offset_expirations_reasoned", "int_groups__group_sweeps_reasoned"),
    "cycle": ("int_groups__cleanup_eligibility_reasoned",),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--groups", default="10000,100000,1000000")
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--parts", default="verbs,load,decide,one")
    options = parser.parse_args()
    parts = options.parts.split(",")
    print(f"machine: {platform.machine()}, Python {platform.python_version()}, Spark local[2]")
    with scratch() as folder, warehouse(folder) as session:
        if "verbs" in parts:
            bench_verbs(session, folder)
        if "load" in parts:
            bench_load(session, folder, options.records)
        for groups in map(int, options.groups.split(",")):
            print(f"\n{groups:,} groups, {groups * OFFSETS:,} offsets", flush=True)
            if "decide" in parts:
                make_state(session, groups)
                bench_decide(session, options.runs if groups < BIG else 1)
            if "one" in parts:
                make_state(session, groups)
                bench_one_changed(session, folder, groups, options.runs)
                bench_reading(session, options.runs)


@contextmanager
def warehouse(folder: Path) -> Iterator[Session]:
    config = folder / "moldau.yml"
    config.write_text(SETTINGS)
    with open_session(load_settings(config, folder / "warehouse"), "benchmark") as session:
        yield session


def bench_verbs(session: Session, folder: Path) -> None:
    """For three clusters, so that the last is warm; again: there is nothing new."""
    overwrite = overwrite_seconds(session, folder)
    print(f"a trivial Delta overwrite: {overwrite:.2f} s")
    for cluster in ("cold", "second", "third"):
        bench_verbs_of(session, cluster, overwrite)


def overwrite_seconds(session: Session, folder: Path) -> float:
    frame = session.engines.spark.session.range(1).coalesce(1)

    def write() -> None:
        frame.write.format("delta").mode("overwrite").save(str(folder / "overwritten"))

    write()
    return statistics.median(timed(write) for _ in range(7))


def bench_verbs_of(session: Session, cluster: str, overwrite: float) -> None:
    records = SAMPLES / "east" / "__consumer_offsets.jsonl"
    clusters = [cluster]
    verbs: dict[str, Callable[[], Any]] = {
        "load": lambda: load(session, [records], cluster, "records"),
        "cycle": lambda: decide(session, "cycle", clusters, AT_MS, is_dry_run=True),
        "sweep": lambda: decide(session, "sweep", clusters, AT_MS, is_dry_run=True),
    }
    for name, verb in verbs.items():
        for attempt in ("first", "again"):
            before = versions(session.warehouse)
            with counted() as counts:
                seconds = timed(verb)
            commits, files = written(session.warehouse, before)
            print(
                f"{cluster}, {name}, {attempt}: {counts['statements']} statements, "
                f"{commits} Delta commits, {files} files added, {seconds:.2f} s "
                f"({seconds / overwrite:.1f} overwrites)"
            )


def bench_load(session: Session, folder: Path, records: int) -> None:
    """New commits of 5,000 groups, then as many again of the same keys."""
    for batch, attempt in enumerate(("first", "second", "third")):
        file = folder / f"{attempt}.parquet"
        write_commits(file, records, batch)
        before = versions(session.warehouse)
        seconds = timed(lambda file=file: load(session, [file], "load", "records"))
        writes = sum(versions(session.warehouse).values()) - sum(before.values())
        print(
            f"load, {attempt} {records:,} commits: {seconds:.1f} s, "
            f"{records / seconds:,.0f} records/s, {writes} Delta commits"
        )
        file.unlink()


def write_commits(file: Path, records: int, batch: int) -> None:
    keys, values = [], []
    distinct = min(records, 100_000)
    for i in range(distinct):
        group, topic = f"group-{i % 5000:05d}", f"topic.{i // 5000}"
        key = {"group": group, "topic": topic, "partition": i % 50}
        value = {
            "offset": i * 1000, "leaderEpoch": 7, "metadata": "",
            "commitTimestamp": AT_MS - RETENTION_MS + i, "topicId": b"0123456789abcdef",
        }  # fmt: skip
        keys.append(base64.b64encode(encode_key("consumer_offsets", 1, key) or b"").decode())
        values.append(base64.b64encode(encode_value("consumer_offsets", 1, 4, value)).decode())
    times = -(-records // distinct)
    offsets = np.arange(records, dtype=np.int64) + batch * records
    table = pa.table(
        {
            "topic": pa.array(["__consumer_offsets"]).take(pa.array(np.zeros(records, np.int32))),
            "partition": pa.array(np.zeros(records, np.int32)),
            "offset": offsets,
            "timestamp_ms": pa.array(np.full(records, AT_MS)),
            "key_base64": pa.array((keys * times)[:records]),
            "value_base64": pa.array((values * times)[:records]),
        }
    )
    pa.parquet.write_table(table, file)


def bench_decide(session: Session, runs: int) -> None:
    """Both kinds of run on state that SQL has made."""
    for kind in ("sweep", "cycle"):
        full = timed(lambda kind=kind: decide_only(session, kind))
        peers = [timed(lambda kind=kind: ask_duckdb(session, kind)) for _ in range(runs)]
        again = []
        touched = (0, 0)
        for run in range(runs):
            change_one_percent(session, run)
            before = versions(session.warehouse)
            again.append(timed(lambda kind=kind: decide_only(session, kind)))
            touched = written(session.warehouse, before)
        naive = ""
        if kind == "cycle":
            naive = f"; naive in full {timed(lambda: count_all_offsets(session)):.1f} s"
        peer, part = statistics.median(peers), statistics.median(again)
        print(
            f"  {kind}: full {full:.1f} s; after 1 % changed {part:.1f} s "
            f"({part / full:.2f} of full; {touched[0]} Delta commits, {touched[1]} files added); "
            f"DuckDB in full {peer:.1f} s (moldau/DuckDB {full / peer:.1f}){naive}"
        )


def bench_one_changed(session: Session, folder: Path, groups: int, runs: int) -> None:
    """Verbs as people give them, to the end; the first round, which decides what is left, is not
    measured."""
    clean_up_all(session)
    seconds: dict[str, list[float]] = {"load": [], "sweep": [], "cycle": []}
    counts: dict[str, dict[str, int]] = {}
    touched: dict[str, tuple[int, int]] = {}
    for run in range(runs + 1):
        file = folder / "one.parquet"
        write_commit(file, f"group-{groups // 2 + 4 * run}", run)
        verbs: dict[str, Callable[[], Any]] = {
            "load": lambda file=file: load(session, [file], "bench", "records"),
            "sweep": lambda: decide(session, "sweep", ["bench"], AT_MS, is_dry_run=True),
            "cycle": lambda: decide(session, "cycle", ["bench"], AT_MS, is_dry_run=True),
        }
        for name, verb in verbs.items():
            before = versions(session.warehouse)
            with counted() as counts[name]:
                seconds[name].append(timed(verb))
            touched[name] = written(session.warehouse, before)
    for name, times in seconds.items():
        print(
            f"  one group changed, {name}: {statistics.median(times[1:]):.1f} s; "
            f"{counts[name]['statements']} statements, "
            f"{touched[name][0]} Delta commits, {touched[name][1]} files added"
        )


def write_commit(file: Path, group: str, number: int) -> None:
    """The only record of a file: one of the group's offsets, committed again."""
    key = {"group": group, "topic": "topic.0", "partition": 0}
    value = {
        "offset": number, "leaderEpoch": 7, "metadata": "",
        "commitTimestamp": AT_MS, "topicId": b"0123456789abcdef",
    }  # fmt: skip
    pa.parquet.write_table(
        pa.table(
            {
                "topic": ["__consumer_offsets"],
                "partition": pa.array([0], pa.int32()),
                "offset": [BIG * OFFSETS * 2 + next(_numbers)],
                "timestamp_ms": [AT_MS],
                "key_base64": [
                    base64.b64encode(encode_key("consumer_offsets", 1, key) or b"").decode()
                ],
                "value_base64": [
                    base64.b64encode(encode_value("consumer_offsets", 1, 4, value)).decode()
                ],
            }
        ),
        file,
    )


def bench_reading(session: Session, runs: int) -> None:
    """Python's start included; the first of each is not measured."""
    program = [sys.executable, "-c", "from moldau.cli import main; main()"]
    environment = os.environ | {"MOLDAU_WAREHOUSE": str(session.warehouse)}
    for words in READING:

        def ask(words: tuple[str, ...] = words) -> None:
            subprocess.run([*program, *words], check=True, capture_output=True, env=environment)

        ask()
        times = [timed(ask) for _ in range(max(runs, 3))]
        print(f"  moldau {' '.join(words)}: {statistics.median(times):.2f} s")


def decide_only(session: Session, kind: str) -> None:
    run = Run(f"{next(_numbers):08d}-{kind}", kind, ["bench"], AT_MS, is_dry_run=True)
    open_run(session, run)
    models = (model.name for model in session.models("decide", kind))
    session.run_models(*settings_models(session, run), *models)


def count_all_offsets(session: Session) -> None:
    """What eligibility would look at without its candidates."""
    session.sql(
        "select max(offsets_kept) from (select count_if(decision = 'keep') as offsets_kept "
        "from intermediate.int_groups__offset_expirations_reasoned group by cluster_id, group_id)"
    )


def make_state(session: Session, groups: int) -> None:
    decided = (name for name, table in tables().items() if table.database == "decisions")
    for table in ("state.groups", "state.group_records", "state.group_offsets", *decided):
        opened(session, table).delete()
    insert(session, "state.group_records", GROUP_RECORDS, groups)
    insert(session, "state.groups", GROUPS, groups)
    insert(session, "state.group_offsets", COMMITS, groups * OFFSETS)


def opened(session: Session, table: str) -> DeltaTable:
    return open_table(session.warehouse.joinpath(*table.split(".")))


def change_one_percent(session: Session, run: int) -> None:
    """A hundredth of the groups, spread evenly, committed again."""
    changed = f"cast(substr(group_id, 7) as bigint) % 100 = {run}"
    load_id = {"changed_in_run_id": f"'{next(_numbers):08d}-load'"}
    later = {"commit_at_ms": "commit_at_ms + 1000"}
    opened(session, "state.group_offsets").update(updates=load_id | later, predicate=changed)
    opened(session, "state.groups").update(updates=load_id, predicate=changed)


def clean_up_all(session: Session) -> None:
    released = {"stored_description_topology_epoch": "-1"}
    opened(session, "state.groups").update(updates=released)


def ask_duckdb(session: Session, kind: str) -> None:
    """Decide in full: DuckDB is not told of any stored decision."""
    connection = connect_peer(session, "run", "staging", "intermediate")
    connection.execute(
        "create view run.parameters as select 'x' as run_id, "
        f"'{kind}' as kind, null::varchar as load_kind, true as is_open, true as is_locked, "
        f"true as is_dry_run, {AT_MS} as at_ms, {AT_MS} as started_at_ms, "
        "['bench'] as cluster_ids, null::varchar as topic_name"
    )
    connection.execute(
        "create view run.settings as select * from state.settings where valid_to_ms is null"
    )
    for macro in MACROS:
        connection.execute(macro)
    reasoned = {name: models()[name] for name in REASONED[kind]}
    for view in (helpers_under(reasoned) | reasoned).values():
        sql = translated_models()[view.name].query
        if view.name.startswith("stg_decisions__"):
            sql = f"{sql} where false"
        connection.execute(f"create view {view.relation} as {sql}")
    target = session.warehouse / "_moldau" / "peer.parquet"
    for name in REASONED[kind]:
        connection.execute(f"copy (from intermediate.{name}) to '{target}' (format parquet)")
        target.unlink()


if __name__ == "__main__":
    main()
