"""The tiers domain by size: a full run, and a run after 1 % new events, over 10,000 partitions.

    python benchmarks/tiers.py [--segments 1000000,10000000] [--partitions 10000] [--runs N]

* fold: new segment events through decoded into state.remote_segments.
* decide: upload and delete decisions, their changes and the tier lag, up to the run's row, without
  marts; in full, after 1 % new events spread over every partition, and after as many in one
  partition of a hundred.
* marts: all that a run of tiers refreshes, made anew as a whole.
* peer: DuckDB on the same Delta files, asked for the decision about every segment and the lag of
  every partition in one query of its own, which knows no overwritten segments; its sums are held
  against moldau's.
Commits and files are read from the Delta logs.
"""

from __future__ import annotations

import argparse
import itertools
import platform
import statistics
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from measure import add, connect_peer, scratch, timed, versions, written

from moldau.project import ROOT
from moldau.reading.tables.query import table_rows
from moldau.records import families
from moldau.runs.opening import open_session
from moldau.sessions.closing import close_run
from moldau.sessions.open_run import open_run, settings_models
from moldau.sessions.run import Run
from moldau.sessions.session import Session
from moldau.settings import load_settings
from moldau.warehouse.contracts import marts

AT_MS = 1_800_000_000_000
HOUR_MS = 3_600_000
OFFSETS = 1_000  # a segment
BYTES = 1_048_576  # a segment
SETTINGS = """
clusters:
  bench: {ruleset: {tiers: kafka_4_4}}
"""
# segment ids are as random as Kafka's; the oldest tenth of a partition's is past retention.ms, the
# newer half of another epoch
PLACE = """
    'bench' as cluster_id,
    concat('topic-id-', place % 100) as topic_id,
    concat('topic-', place % 100) as topic_name,
    int(place div 100) as partition_index
"""
SEGMENTS = """
select
    {place},
    substr(base64(unhex(md5(concat('segment-', id)))), 1, 22) as segment_id,
    number * {offsets} as start_offset,
    number * {offsets} + {offsets} - 1 as end_offset,
    'COPY_SEGMENT_FINISHED' as segment_state,
    {bytes}L as size_bytes,
    {at} - ({per_partition} - number) * {hour} as max_timestamp_ms,
    array(struct(int(if(number < {per_partition} div 2, 0, 1)) as leader_epoch,
        number * {offsets} as start_offset)) as leader_epochs,
    int(place % 6) as broker_id,
    int(place % 6) as started_broker_id,
    {at} as event_at_ms,
    {at} as copy_started_at_ms,
    {at} as copy_finished_at_ms,
    '__remote_log_metadata' as log_topic_name,
    int(place % 50) as log_partition_index,
    id * 2 + 1 as log_offset,
    id * 2 + 1 as finished_log_offset,
    2 as events,
    '{run_id}' as changed_in_run_id
from (
    select id, id % {partitions} as place, id div {partitions} as number
    from range({segments}) as r(id)
)
"""
STATES = """
select
    {place},
    int(place % 6) as broker_id,
    1 as leader_epoch,
    0L as log_start_offset,
    {end} - 5 * {offsets} as local_log_start_offset,
    {end} + 100000 * {offsets} as last_stable_offset,
    {end} + 100000 * {offsets} as high_watermark,
    {end} + 100000 * {offsets} as log_end_offset,
    cast(null as bigint) as latest_tiered_offset,
    true as is_leader,
    {at} as taken_at_ms,
    '{run_id}' as run_id,
    '{run_id}' as changed_in_run_id
from (select id as place from range({partitions}) as r(id))
"""
EPOCHS = """
select
    {place},
    array(
        struct(0 as leader_epoch, 0L as start_offset),
        struct(1 as leader_epoch, ({per_partition} div 2) * {offsets} as start_offset)
    ) as epochs,
    '{run_id}' as run_id,
    '{run_id}' as changed_in_run_id
from (select id as place from range({partitions}) as r(id))
"""
LOCALS = """
select
    {place},
    int(place % 6) as broker_id,
    transform(sequence(0, 10), n -> struct(
        {end} + (n - 5) * {offsets} as base_offset,
        {bytes}L as size_bytes,
        {at} - (11 - n) * 1000L as max_timestamp_ms,
        n = 10 as is_active,
        cast(null as bigint) as record_count
    )) as segments,
    '{run_id}' as run_id,
    '{run_id}' as changed_in_run_id
from (select id as place from range({partitions}) as r(id))
"""
CONFIGS = """
select
    'bench' as cluster_id,
    concat('topic-id-', id) as topic_id,
    concat('topic-', id) as topic_name,
    map('remote.storage.enable', 'true', 'retention.ms',
        '{retention}', 'retention.bytes', '-1') as configs,
    0L as valid_from_ms,
    '{run_id}' as run_id
from range(100) as r(id)
"""
# a new segment behind the last of each of these partitions: two events each
EVENTS = """
select
    'bench' as cluster_id,
    '__remote_log_metadata' as log_topic_name,
    int(place % 50) as log_partition_index,
    ({round} + 10) * 100000000L + number * 2 * {partitions} + place * 2 + event as log_offset,
    {at} as recorded_at_ms,
    '{run_id}' as run_id,
    event as record_type,
    'ok' as decode_status,
    false as is_tombstone,
    concat('topic-', place % 100) as topic_name,
    concat('topic-id-', place % 100) as topic_id,
    int(place div 100) as partition_index,
    substr(base64(unhex(md5(concat_ws('-', {round}, number, place)))), 1, 22) as segment_id,
    if(event = 0, start_offset, null) as start_offset,
    if(event = 0, start_offset + {offsets} - 1, null) as end_offset,
    int(place % 6) as broker_id,
    if(event = 0, {at}, null) as max_timestamp_ms,
    {at} as event_at_ms,
    if(event = 0, array(struct(1 as leader_epoch, start_offset)), null) as leader_epochs,
    if(event = 0, {bytes}L, null) as size_bytes,
    if(event = 0, 'COPY_SEGMENT_STARTED', 'COPY_SEGMENT_FINISHED') as segment_state
from (
    select
        id % {places} * {stride} as place,
        id div {places} as number,
        {end} + ({round} * 1000 + id div {places}) * {offsets} as start_offset,
        int(event) as event
    from range({new_segments}) as r(id) cross join (select id as event from range(2) as e(id))
)
"""
PEER = """
create or replace table decided as
with segments as (
    select s.*, p.log_start_offset, p.log_end_offset, e.epochs,
        sum(size_bytes) over (partition by s.topic_id, s.partition_index
            order by s.leader_epochs[1].leader_epoch, start_offset
            rows between unbounded preceding and 1 preceding) as bytes_before,
        max_timestamp_ms >= {at} - {retention} as is_fresh
    from state.remote_segments as s
    join state.partition_states as p
        on s.cluster_id = p.cluster_id and s.topic_id = p.topic_id
        and s.partition_index = p.partition_index
    join state.leader_epochs as e
        on s.cluster_id = e.cluster_id and s.topic_id = e.topic_id
        and s.partition_index = e.partition_index
    where segment_state <> 'DELETE_SEGMENT_FINISHED' and end_offset < log_end_offset
        and list_contains(list_transform(e.epochs, lambda x: x.leader_epoch),
            s.leader_epochs[1].leader_epoch)
)
select cluster_id, segment_id, topic_id, partition_index, start_offset, end_offset, size_bytes,
    not coalesce(bool_or(is_fresh) over (partition by topic_id, partition_index
        order by leader_epochs[1].leader_epoch, start_offset
        rows between unbounded preceding and current row), false) as is_chosen
from segments;
create or replace table lags as
with copied as (
    select topic_id, partition_index, max(end_offset) as copied_offset
    from state.remote_segments where finished_log_offset is not null
    group by topic_id, partition_index
), uploads as (
    select l.topic_id, l.partition_index, s.base_offset, s.is_active,
        lead(s.base_offset) over (partition by l.topic_id, l.partition_index
            order by s.base_offset) as next_base_offset
    from state.local_segments as l, unnest(l.segments) as u(s)
)
select u.topic_id, u.partition_index,
    sum(if(not is_active and next_base_offset > copied_offset + 1
        and next_base_offset <= p.last_stable_offset, next_base_offset - base_offset, 0)) as upload,
    (select count(*) from decided as d where d.topic_id = u.topic_id
        and d.partition_index = u.partition_index and d.is_chosen) as deletes
from uploads as u
join copied as c on u.topic_id = c.topic_id and u.partition_index = c.partition_index
join state.partition_states as p
    on u.topic_id = p.topic_id and u.partition_index = p.partition_index
group by u.topic_id, u.partition_index
"""
_numbers = itertools.count(1000)  # run ids: each later than the one before
_rounds = itertools.count()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--segments", default="1000000,10000000")
    parser.add_argument("--partitions", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    print(f"machine: {platform.machine()}, Python {platform.python_version()}, Spark local[2]")
    for segments in map(int, options.segments.split(",")):
        with scratch() as folder, warehouse(folder) as session:
            bench(session, segments, options.partitions, options.runs)


@contextmanager
def warehouse(folder: Path) -> Iterator[Session]:
    config = folder / "moldau.yml"
    config.write_text(SETTINGS)
    with open_session(load_settings(config, folder / "warehouse"), "benchmark") as session:
        yield session


def bench(session: Session, segments: int, partitions: int, runs: int) -> None:
    per_partition = segments // partitions
    values = {
        "place": PLACE, "segments": segments, "partitions": partitions, "at": AT_MS,
        "per_partition": per_partition, "offsets": OFFSETS, "bytes": BYTES, "hour": HOUR_MS,
        "end": per_partition * OFFSETS, "retention": per_partition * HOUR_MS * 9 // 10,
        "run_id": f"{next(_numbers):08d}-load",
    }  # fmt: skip
    for table, query in (
        ("state.remote_segments", SEGMENTS),
        ("state.partition_states", STATES),
        ("state.leader_epochs", EPOCHS),
        ("state.local_segments", LOCALS),
        ("state.topic_configs", CONFIGS),
    ):
        add(session, table, query.format(**values))
    print(f"\n{segments:,} remote segments, {partitions:,} partitions")
    full = timed(lambda: decide_only(session))
    peers = [timed(lambda: ask_duckdb(session, values)) for _ in range(runs)]
    peer = statistics.median(peers)
    read = timed(lambda: read_marts(session))
    print(
        f"  full {full:.1f} s; DuckDB in full {peer:.1f} s (moldau/DuckDB {full / peer:.1f}); "
        f"all marts read {read:.1f} s"
    )
    for name, places, stride in (
        ("over all partitions", partitions, 1),
        ("in one partition of a hundred", partitions // 100, 100),
    ):
        new = {"new_segments": segments // 200, "places": places, "stride": stride}
        folds, decisions = [], []
        for round_number in itertools.islice(_rounds, runs):
            load_id = f"{next(_numbers):08d}-load"
            events = EVENTS.format(**values | new | {"round": round_number, "run_id": load_id})
            folds.append(timed(lambda events=events, run_id=load_id: fold(session, events, run_id)))
            before = versions(session.warehouse)
            decisions.append(timed(lambda: decide_only(session)))
            commits, files = written(session.warehouse, before)
        again = statistics.median(decisions)
        print(
            f"  1 % new events {name}: fold {statistics.median(folds):.1f} s, decide {again:.1f} s "
            f"({again / full:.2f} of full; {commits} Delta commits, {files} files added)"
        )


def decide_only(session: Session) -> None:
    run = Run(f"{next(_numbers):08d}-tiers", "tiers", ["bench"], AT_MS)
    open_run(session, run)
    models = (model.name for model in session.models("decide", "tiers"))
    session.run_models(*settings_models(session, run), *models)
    close_run(session, run)


def read_marts(session: Session) -> None:
    """Every mart of the domain, as `moldau show` reads it."""
    of_tiers = {path.stem for path in (ROOT / "models" / "marts" / "tiers").glob("*.sql")}
    for name in (f"marts.{mart.name}" for mart in marts().values() if mart.name in of_tiers):
        list(table_rows(session.warehouse, name, at_ms=AT_MS).rows)


def fold(session: Session, events: str, run_id: str) -> None:
    open_run(session, Run(run_id, "load", ["bench"], AT_MS, load_kind="records"))
    add(session, "decoded.remote_log_records", events)
    session.run_models(*(m.name for m in session.models("fold", families.REMOTE_LOG_METADATA)))


def ask_duckdb(session: Session, values: dict[str, object]) -> None:
    """Decide in full, and hold the sums against moldau's."""
    connection = connect_peer(session)
    connection.execute(PEER.format(**values))
    [theirs] = connection.execute("select sum(upload), sum(deletes) from lags").fetchall()
    [ours] = session.sql(
        "select sum(upload_tier_lag), sum(delete_lag_segments) from history.tier_lag"
    )
    assert tuple(map(int, theirs)) == tuple(ours), (theirs, ours)


if __name__ == "__main__":
    main()
