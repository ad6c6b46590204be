"""A round of producers' metadata by size: all at once, and after 1 % of the producers changed.

    python benchmarks/producers.py [--producers 1000,10000] [--topics 1000] [--runs N]

* full: every producer is due, and no decision is stored yet; up to the run's row.
* again: a round in which nothing changed and nothing came due.
* 1 %: one producer of a hundred had a notice for one of its topics.
* peer: DuckDB on the same Delta files, asked by hand for the same round of every producer: topics,
  totals and changes written to Parquet; no previous decision, no contract, one rule set. What it
  says is held against moldau's.
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

from moldau.literals import literal
from moldau.runs.opening import open_session
from moldau.sessions.closing import close_run
from moldau.sessions.open_run import open_run, settings_models
from moldau.sessions.run import Run
from moldau.sessions.session import Session
from moldau.settings import load_settings

AT_MS = 1_800_000_000_000
# topics are accessed all the time but one in fifty; a third is due soon, one in two hundred urgent
TOPICS = """
select
    'bench' as cluster_id,
    concat('producer-', lpad(cast(id div {topics} as string), 6, '0')) as producer_id,
    concat('topic-', lpad(cast(id % {topics} as string), 6, '0')) as topic_name,
    {at} - if(id % 50 = 7, 300000L, id % 1000) as last_access_at_ms,
    if(id % 400 = 3, null, {at} - if(id % 400 = 5, 300000L, (id * 7919) % 225000))
        as last_refresh_at_ms,
    id % 400 = 3 as has_demand,
    false as is_in_error,
    {at} as snapshot_at_ms,
    '{run_id}' as changed_in_run_id
from range({rows}) as r(id)
"""
PRODUCERS = """
select
    'bench' as cluster_id,
    concat('producer-', lpad(cast(id as string), 6, '0')) as producer_id,
    {at} as snapshot_at_ms,
    '{run_id}' as changed_in_run_id
from range({producers}) as r(id)
"""
EVENTS = """
select
    'bench' as cluster_id,
    {at} - 1 as at_ms,
    concat('producer-', lpad(cast(id * 100 as string), 6, '0')) as producer_id,
    concat('topic-', lpad(cast({round} as string), 6, '0')) as topic_name,
    'notice' as event,
    '{run_id}' as run_id
from range({changed}) as r(id)
"""
PEER = """
create or replace temp table round as
with aged as (
    select *,
        {at} - last_access_at_ms >= 300000
            and (last_refresh_at_ms is not null or not has_demand) as is_evicted,
        last_refresh_at_ms is not null and not is_evicted as is_cached,
        {at} - last_refresh_at_ms as age,
        notified_at_ms is not null and not is_evicted as is_notified
    from state.producer_topics
), sets as (
    select *, case
        when has_demand and not is_cached then 'NEW'
        when is_notified then 'NOTIFIED'
        when is_cached and age >= 300000 then 'STALE'
        end as clause,
        case
            when clause is not null then 'T'
            when is_cached and 2 * age >= 300000 then 'U'
        end as topic_set
    from aged
), counts as (
    select cluster_id, producer_id,
        count(*) filter (is_cached) as cached_topics,
        greatest(cached_topics // 300 // 10, 20) as target_fetch_size,
        count(*) filter (topic_set = 'T') as urgent_topics,
        count(*) filter (topic_set = 'U') as non_urgent_topics
    from sets group by all
), ranks as (
    select cluster_id, producer_id, topic_name,
        row_number() over (partition by cluster_id, producer_id, topic_set
            order by if(topic_set = 'U', last_refresh_at_ms, null), topic_name) as place
    from sets where topic_set is not null
), chosen as (
    select s.*, c.* exclude (cluster_id, producer_id), r.place, c.urgent_topics > 0 as is_filled,
        topic_set = 'T' or r.place <= if(is_filled, target_fetch_size - urgent_topics,
            if(non_urgent_topics >= target_fetch_size, target_fetch_size, 0)) as is_fetched
    from sets as s
    join counts as c using (cluster_id, producer_id)
    left join ranks as r using (cluster_id, producer_id, topic_name)
)
select cluster_id, producer_id, topic_name,
    case
        when is_evicted and has_demand then 'evict_and_fetch'
        when is_evicted then 'evict'
        when is_fetched then 'fetch'
        else 'keep'
    end as decision,
    case
        when decision = 'evict' then 'IDLE'
        when topic_set = 'T' then clause
        when topic_set = 'U' and is_fetched then if(is_filled, 'FILL', 'OLDEST')
        when topic_set = 'U' then
            if(not is_filled and non_urgent_topics < target_fetch_size, 'NOT_DUE', 'OVER_TARGET')
        when is_cached then 'FRESH'
        else 'UNWANTED'
    end as reason_code,
    topic_set,
    if(is_fetched, place + if(topic_set = 'U', urgent_topics, 0), null) as fetch_rank,
    last_refresh_at_ms as observed_refresh_at_ms,
    if(is_evicted, last_access_at_ms, null) as observed_access_at_ms,
    least(
        if(last_access_at_ms + 300000 > {at} and (is_cached or not has_demand),
            last_access_at_ms + 300000, null),
        if(is_cached and last_refresh_at_ms + 150000 > {at}, last_refresh_at_ms + 150000, null),
        if(is_cached and last_refresh_at_ms + 300000 > {at}, last_refresh_at_ms + 300000, null)
    ) as next_due_at_ms,
    cached_topics, target_fetch_size, urgent_topics, non_urgent_topics
from chosen;
copy (
    select * exclude (cached_topics, target_fetch_size, urgent_topics, non_urgent_topics) from round
) to '{peer}' (format parquet);
copy (
    select cluster_id, producer_id, any_value(cached_topics) as cached_topics,
        any_value(target_fetch_size) as target_fetch_size,
        any_value(urgent_topics) as urgent_topics,
        any_value(non_urgent_topics) as non_urgent_topics,
        count(fetch_rank) as fetched_topics,
        count(*) filter (starts_with(decision, 'evict')) as evicted_topics,
        min(next_due_at_ms) as next_due_at_ms
    from round group by all
) to '{peer}.rounds' (format parquet);
copy (
    select 'producers' as domain, cluster_id,
        'metadata ' || producer_id || ' ' || topic_name as subject,
        '{run_id}' as run_id, decision, reason_code, {at} as decided_at_ms
    from round
) to '{peer}.changes' (format parquet)
"""
_numbers = itertools.count(1000)  # run ids: each later than the one before
_rounds = itertools.count()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--producers", default="1000,10000")
    parser.add_argument("--topics", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    print(f"machine: {platform.machine()}, Python {platform.python_version()}")
    for producers in map(int, options.producers.split(",")):
        with scratch() as folder, warehouse(folder) as session:
            bench(session, producers, options.topics, options.runs)


@contextmanager
def warehouse(folder: Path) -> Iterator[Session]:
    config = folder / "moldau.yml"
    config.write_text("clusters: {bench: {}}\nproducers: {default: {ruleset: kip_526_draft}}\n")
    with open_session(load_settings(config, folder / "warehouse"), "benchmark") as session:
        yield session


def bench(session: Session, producers: int, topics: int, runs: int) -> None:
    values = {
        "at": AT_MS, "producers": producers, "topics": topics, "rows": producers * topics,
        "run_id": f"{next(_numbers):08d}-load",
    }  # fmt: skip
    print(f"\n{producers:,} producers, {topics:,} topics each")
    decide_only(session)  # of nothing: what is compiled once is not measured
    add(session, "state.producer_topics", TOPICS.format(**values))
    add(session, "state.producers", PRODUCERS.format(**values))
    full = timed(lambda: decide_only(session))
    peers = [timed(lambda: ask_duckdb(session, values)) for _ in range(runs)]
    peer = statistics.median(peers)
    print(f"  full {full:.1f} s; DuckDB {peer:.1f} s (moldau/DuckDB {full / peer:.1f})")
    again = statistics.median(timed(lambda: decide_only(session)) for _ in range(runs))
    print(f"  again, nothing due: {again:.1f} s")
    folds, decisions = [], []
    for round_number in itertools.islice(_rounds, runs):
        load_id = f"{next(_numbers):08d}-load"
        more = {"round": round_number, "changed": producers // 100, "run_id": load_id}
        events = EVENTS.format(**values | more)
        folds.append(timed(lambda events=events, run_id=load_id: fold(session, events, run_id)))
        before = versions(session.warehouse)
        decisions.append(timed(lambda: decide_only(session)))
        commits, files = written(session.warehouse, before)
    ask_duckdb(session, values)
    after = statistics.median(decisions)
    print(
        f"  1 % of the producers changed: fold {statistics.median(folds):.1f} s, decide "
        f"{after:.1f} s ({after / full:.2f} of full; {commits} Delta commits, {files} files added)"
    )


def decide_only(session: Session) -> None:
    run = Run(f"{next(_numbers):08d}-metadata", "metadata", ["bench"], AT_MS)
    open_run(session, run)
    models = (model.name for model in session.models("decide", "metadata"))
    session.run_models(*settings_models(session, run), *models)
    close_run(session, run)


def fold(session: Session, events: str, run_id: str) -> None:
    open_run(session, Run(run_id, "load", ["bench"], AT_MS, load_kind="producer_events"))
    add(session, "raw.producer_events", events)
    mine = f"select * from raw.producer_events where run_id = {literal(run_id)}"
    session.bring("producer_events", mine)
    session.run_models(*(model.name for model in session.models("fold", "producer_events")))


def ask_duckdb(session: Session, values: dict[str, object]) -> None:
    """Decide in full, and hold what is decided against moldau's."""
    connection = connect_peer(session)
    peer = session.warehouse.parent / "peer.parquet"
    connection.execute(PEER.format(**values, peer=peer))
    counted = (
        "select decision, reason_code, topic_set, count(*), sum(fetch_rank), sum(next_due_at_ms) "
        "from {} group by all order by all"
    )
    theirs = connection.execute(counted.format(f"'{peer}'")).fetchall()
    ours = connection.execute(counted.format("decisions.metadata_topics")).fetchall()
    assert theirs == ours, (theirs, ours)


if __name__ == "__main__":
    main()
