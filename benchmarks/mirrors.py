"""The mirrors domain by size: syncs folded, offsets translated in full and after 1 % new syncs.

    python benchmarks/mirrors.py [--syncs 1000000] [--commits 100000] [--runs N]

* fold: every sync from decoded into state.offset_syncs, by the load that brings them.
* translate: the whole run with its row: decisions about every commit, their changes, and the new
  checkpoints emitted; in full, after 1 % new syncs behind the last of every partition, and after as
  many in one partition of a hundred.
* peers: Polars (join_asof) and DuckDB (ASOF JOIN) on the same Delta files, asked for the floor of
  every commit among the syncs as decoded, written to Parquet. They know no incarnations, replays,
  bounds, guard, reasons or filters, and answer in full each time. There are no replays here: each
  answer of theirs is held against moldau's, each time.
A hundred groups have committed in every partition, half of them ahead of all syncs, half spread
over the history. Tables that a load would write are written with Polars and deltalake. Delta
commits and files are read from the Delta logs.
"""

from __future__ import annotations

import argparse
import platform
import statistics
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import polars as pl
from measure import scratch, timed, versions, write, written

from moldau.literals import literal
from moldau.reading.tables.duckdb_views import connect_duckdb
from moldau.records import families
from moldau.runs.decide import decide
from moldau.runs.opening import open_session
from moldau.sessions.closing import close_run
from moldau.sessions.open_run import next_run_id, open_run, settings_models
from moldau.sessions.run import Run
from moldau.sessions.session import Session
from moldau.settings import load_settings
from moldau.warehouse.contracts import tables

AT_MS = 1_800_000_000_000
SETTINGS = """
clusters: {west: {}, east: {}}
flows:
  west-east: {source: west, target: east}
"""
SYNCS_TOPIC = "mm2-offset-syncs.east.internal"
GROUPS = 100  # a partition
PARTITIONS = 10  # a topic
UPSTREAM_STEP, DOWNSTREAM_STEP = 101, 97  # from one sync to the next: four records are not copied
BEFORE_FIRST = 5 * UPSTREAM_STEP  # offsets before the first sync
SLICE = 10_000_000  # syncs that are written at once
KEY = ["group_id", "topic_name", "partition_index"]
IN_DUCKDB = """
copy (
    select commits.group_id, commits.topic_name, commits.partition_index,
        case when syncs.upstream_offset is null then -1
            when syncs.upstream_offset = commits.committed_offset then syncs.downstream_offset
            else syncs.downstream_offset + 1 end as translated_offset
    from state.group_offsets as commits
    asof left join decoded.offset_syncs as syncs
        on commits.topic_name = syncs.topic_name
        and commits.partition_index = syncs.partition_index
        and commits.committed_offset >= syncs.upstream_offset
) to '{target}' (format parquet, use_tmp_file false)
"""


@dataclass
class Mirror:
    """The syncs of a flow: which partition each is about, and how many each has."""

    partitions: int
    per_partition: int
    next_log_offset: int = 0

    @property
    def head(self) -> int:
        return BEFORE_FIRST + self.per_partition * UPSTREAM_STEP


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--syncs", type=int, default=1_000_000)
    parser.add_argument("--commits", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=1)
    options = parser.parse_args()
    print(f"machine: {platform.machine()}, Python {platform.python_version()}, Spark local[2]")
    with scratch() as folder, warehouse(folder) as session:
        bench(session, folder, options.syncs, options.commits, options.runs)


@contextmanager
def warehouse(folder: Path) -> Iterator[Session]:
    config = folder / "moldau.yml"
    config.write_text(SETTINGS)
    with open_session(load_settings(config, folder / "warehouse"), "benchmark") as session:
        session.engines.spark.register(tables())
        yield session


def bench(session: Session, folder: Path, syncs: int, commits: int, runs: int) -> None:
    partitions = max(commits // GROUPS // 100 * 100, 100)
    mirror = Mirror(partitions, syncs // partitions)
    write_commits(session, mirror)
    load_id = next_run_id(session, "load")
    write_syncs(session, mirror, load_id, places=partitions, first=0, each=mirror.per_partition)
    print(
        f"\n{partitions * mirror.per_partition:,} syncs, {partitions * GROUPS:,} commits, "
        f"{partitions:,} partitions",
        flush=True,
    )
    folded = timed(lambda: fold(session, load_id))
    full = timed(lambda: translate(session))
    polars, duckdb = compared(session, folder, runs)
    print(
        f"  fold {folded:.1f} s, translate in full {full:.1f} s; Polars {polars:.1f} s, "
        f"DuckDB {duckdb:.1f} s (translate/Polars {full / polars:.1f}, translate/DuckDB "
        f"{full / duckdb:.1f}; with the fold {(folded + full) / polars:.1f}, "
        f"{(folded + full) / duckdb:.1f})",
        flush=True,
    )
    number = mirror.per_partition
    for name, places in (
        ("over all partitions", partitions),
        ("in one partition of a hundred", partitions // 100),
    ):
        each = max(syncs // 100 // places, 1)
        loads, translations, decided = [], [], 0
        for _ in range(runs):
            load_id = next_run_id(session, "load")
            write_syncs(session, mirror, load_id, places, number, each)
            number += each
            before = versions(session.warehouse)
            loads.append(timed(lambda load_id=load_id: fold(session, load_id)))
            folds_written = written(session.warehouse, before)
            before = versions(session.warehouse)
            translations.append(timed(lambda: translate(session)))
            [(decided,)] = session.sql(
                "select count(*) from decisions.offset_translations "
                "where run_id = (select max(run_id) from state.runs)"
            )
            translations_written = written(session.warehouse, before)
            polars, duckdb = compared(session, folder, 1)
        load, again = statistics.median(loads), statistics.median(translations)
        print(
            f"  1 % new syncs {name}: fold {load:.1f} s ({load / folded:.2f} of full; "
            f"{folds_written[0]} Delta commits, {folds_written[1]} files added), translate "
            f"{again:.1f} s ({again / full:.2f} of full; {decided:,} decided anew; "
            f"{translations_written[0]} Delta commits, {translations_written[1]} files added); "
            f"Polars in full {polars:.1f} s, DuckDB in full {duckdb:.1f} s (fold and translate/"
            f"Polars {(load + again) / polars:.1f}, /DuckDB {(load + again) / duckdb:.1f})",
            flush=True,
        )


def write_syncs(
    session: Session, mirror: Mirror, load_id: str, places: int, first: int, each: int
) -> None:
    """In the order of the log, one partition after the other: the syncs from number `first` on."""
    stride = mirror.partitions // places
    for start in range(0, places * each, SLICE):
        ids = pl.int_range(start, min(start + SLICE, places * each), eager=True).alias("id")
        place = pl.col("id") % places * stride
        number = pl.col("id") // places + first
        rows = ids.to_frame().select(
            cluster_id=pl.lit("west"),
            log_topic_name=pl.lit(SYNCS_TOPIC),
            log_partition_index=pl.lit(0, pl.Int32),
            log_offset=pl.col("id") + mirror.next_log_offset,
            recorded_at_ms=AT_MS - 1_000_000_000 + pl.col("id") // 1_000,
            run_id=pl.lit(load_id),
            record_name=pl.lit("OffsetSync"),
            value_version=pl.lit(0, pl.Int32),
            decode_status=pl.lit("ok"),
            is_tombstone=pl.lit(False),
            topic_name=topic_name(place),
            partition_index=(place % PARTITIONS).cast(pl.Int32),
            upstream_offset=number * UPSTREAM_STEP + BEFORE_FIRST,
            downstream_offset=number * DOWNSTREAM_STEP,
        )
        write(session, "decoded.offset_syncs", rows.to_arrow())
    mirror.next_log_offset += places * each


def write_commits(session: Session, mirror: Mirror) -> None:
    place, group = pl.col("id") // GROUPS, pl.col("id") % GROUPS
    rows = pl.int_range(mirror.partitions * GROUPS, eager=True).alias("id").to_frame()
    rows = rows.select(
        cluster_id=pl.lit("west"),
        group_id=pl.format("group-{}", group),
        topic_name=topic_name(place),
        partition_index=(place % PARTITIONS).cast(pl.Int32),
        metadata=pl.lit(""),
        committed_offset=pl.when(group % 2 == 0)
        .then(mirror.head * 1_000)
        .otherwise(pl.col("id") * 7_919 % mirror.head),
        is_deleted=pl.lit(False),
        is_readable=pl.lit(True),
        commit_at_ms=pl.lit(AT_MS - 1_000),
        commit_log_offset=pl.col("id"),
        tombstone_log_offset=pl.lit(-1),
        changed_in_run_id=pl.lit(next_run_id(session, "load")),
    )
    write(session, "state.group_offsets", rows.to_arrow())


def topic_name(place: pl.Expr) -> pl.Expr:
    return pl.format("topic-{}", place // PARTITIONS)


def fold(session: Session, run_id: str) -> None:
    """The part of a load behind the decoded records, with the load's row."""
    run = Run(run_id, "load", ["west"], AT_MS, load_kind="records")
    models = settings_models(session, run)
    models += [model.name for model in session.models("fold", families.OFFSET_SYNCS)]
    open_run(session, run)
    session.bring(
        "offset_syncs", f"select * from decoded.offset_syncs where run_id = {literal(run_id)}"
    )
    session.run_models(*models)
    close_run(session, run)


def translate(session: Session) -> None:
    decide(session, "translate", ["west"], AT_MS, is_dry_run=False)


def compared(session: Session, folder: Path, runs: int) -> tuple[float, float]:
    """Seconds of both peers, whose answers must be moldau's."""
    connection = connect_duckdb(session.warehouse, ["decisions.offset_translations"])
    asked = f"select {', '.join(KEY)}, translated_offset from decisions.offset_translations"
    ours = pl.DataFrame(connection.sql(asked).to_arrow_table())
    seconds = []
    for name, ask in (("polars", ask_polars), ("duckdb", ask_duckdb)):
        target = folder / f"{name}.parquet"
        times = [timed(lambda ask=ask, to=target: ask(session, to)) for _ in range(runs)]
        seconds.append(statistics.median(times))
        theirs = pl.read_parquet(target)
        other = ours.join(theirs, on=[*KEY, "translated_offset"], how="anti")
        assert len(ours) == len(theirs) and other.is_empty(), (name, len(ours), len(theirs), other)
        target.unlink()
    return seconds[0], seconds[1]


def ask_polars(session: Session, target: Path) -> None:
    place = ["topic_name", "partition_index"]
    syncs = pl.scan_delta(str(session.warehouse / "decoded" / "offset_syncs")).select(
        *place, "upstream_offset", "downstream_offset"
    )
    commits = pl.scan_delta(str(session.warehouse / "state" / "group_offsets")).select(
        *KEY, "committed_offset"
    )
    floor = pl.col("downstream_offset")
    is_exact = pl.col("upstream_offset") == pl.col("committed_offset")
    commits.sort("committed_offset").join_asof(
        syncs.sort("upstream_offset"),
        left_on="committed_offset",
        right_on="upstream_offset",
        by=place,
        strategy="backward",
        coalesce=False,
        check_sortedness=False,
    ).select(
        *KEY,
        translated_offset=pl.when(is_exact).then(floor).otherwise(floor + 1).fill_null(-1),
    ).collect().write_parquet(target)


def ask_duckdb(session: Session, target: Path) -> None:
    read = ["decoded.offset_syncs", "state.group_offsets"]
    connection = connect_duckdb(session.warehouse, read, target)
    connection.execute(IN_DUCKDB.format(target=target))


if __name__ == "__main__":
    main()
