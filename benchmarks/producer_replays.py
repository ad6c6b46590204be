"""Replays of producers' logs by size: one hour under every rule set, over producers and ticks.

    python benchmarks/producer_replays.py [--producers 100,1000] [--topics 600] [--uses 6,60]
        [--ticks 1000,1] [--engine auto|spark] [--sample 5]

* replay: events from raw.producer_events to rows of state.metadata_replay, up to the run's row.
  With 6 uses of a topic an hour each one is a miss and a request (the worst); with 60 most are
  hits.
* a tick at which nothing is due costs nothing: the same log at other ticks.
* peer: the draft's round in plain Python for each producer, at every tick, over every topic; on a
  sample of the producers, scaled up. It only counts requests and topics, which are held against
  the replay's.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from measure import add, scratch, timed

from moldau.replays.clock import Span
from moldau.runs.replay import Asked, replay_metadata
from moldau.sessions.open_run import next_run_id
from moldau.sessions.session import Session
from moldau.settings import load_settings
from moldau.settings.rule_sets import rule_sets

BEGIN_MS = 1_800_000_000_000
HOUR_MS = 3_600_000
DRAFT = "kip_526_draft"
# every topic is used as often, one after another; producers begin at different places
EVENTS = """
select
    'bench' as cluster_id,
    {begin} + id * {step} + hash(producer) % {step} as at_ms,
    concat('producer-', producer) as producer_id,
    concat('topic-', lpad(cast((id * 7 + producer) % {topics} as string), 24, '0')) as topic_name,
    'access' as event,
    '{run_id}' as run_id
from (select id from range({events}) as r(id))
cross join (select id as producer from range({producers}) as p(id))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--producers", default="100,1000")
    parser.add_argument("--topics", type=int, default=600)
    parser.add_argument("--uses", default="6,60")
    parser.add_argument("--ticks", default="1000,1")
    parser.add_argument("--engine", choices=["auto", "spark"], default="auto")
    parser.add_argument("--sample", type=int, default=5)
    options = parser.parse_args()
    print(f"machine: {platform.machine()}, Python {platform.python_version()}, {options.engine}")
    for uses in map(int, options.uses.split(",")):
        for producers in map(int, options.producers.split(",")):
            with scratch() as folder, warehouse(folder, options.engine) as session:
                ticks = [int(tick) for tick in options.ticks.split(",")]
                bench(session, producers, options.topics, uses, ticks, options.sample)


@contextmanager
def warehouse(folder: Path, engine: str) -> Iterator[Session]:
    from moldau.runs.opening import open_session

    config = folder / "moldau.yml"
    config.write_text("clusters: {bench: {}}\n")
    os.environ["MOLDAU_ENGINE"] = engine
    settings = load_settings(config, folder / "warehouse")
    with open_session(settings, "benchmark") as session:
        yield session


def bench(
    session: Session, producers: int, topics: int, uses: int, ticks: list[int], sample: int
) -> None:
    events = topics * uses
    run_id = next_run_id(session, "load")
    values = {
        "begin": BEGIN_MS, "step": HOUR_MS // events, "topics": topics, "events": events,
        "producers": producers, "run_id": run_id,
    }  # fmt: skip
    add(session, "raw.producer_events", EVENTS.format(**values))
    print(f"\n{producers:,} producers x {topics} topics, {producers * events:,} uses in an hour")
    end_ms = BEGIN_MS + HOUR_MS
    for tick_ms in ticks:
        span = Span(BEGIN_MS, end_ms, tick_ms)
        took = timed(lambda span=span: replay(session, span))
        [(requests, asked)] = session.sql(
            "select sum(requests), sum(topics) from state.metadata_replay"
        )
        print(
            f"  tick {tick_ms:,} ms: {took:.1f} s under {len(rule_sets('producers'))} rule sets "
            f"({requests:,} requests for {asked:,} topics)"
        )
    span = Span(BEGIN_MS, end_ms, ticks[0])
    one = timed(lambda: replay(session, span, (DRAFT,)))
    whom = ", ".join(f"'producer-{number}'" for number in range(sample))
    log: dict[str, list[tuple[int, str]]] = {}
    for producer, at_ms, topic in session.sql(
        "select producer_id, at_ms, topic_name from raw.producer_events "
        f"where producer_id in ({whom}) order by producer_id, at_ms"
    ):
        log.setdefault(producer, []).append((at_ms, topic))
    counted: dict[str, tuple[int, int]] = {}
    peer = timed(lambda: counted.update({one: tick_by_tick(log[one], span) for one in log}))
    right = session.sql(
        "select producer_id, sum(requests), sum(topics) from state.metadata_replay "
        f"where producer_id in ({whom}) group by producer_id"
    )
    assert counted == {one: (int(count), int(size)) for one, count, size in right}
    scaled = peer / len(log) * producers
    print(
        f"  the draft alone at {ticks[0]:,} ms: {one:.1f} s; every tick in plain Python "
        f"{scaled:.1f} s, of {len(log)} producers scaled up (replay/plain {one / scaled:.2f})"
    )


def replay(session: Session, span: Span, rulesets: tuple[str, ...] = ()) -> None:
    replay_metadata(session, ["bench"], Asked(span, 300_000, rulesets))


@dataclasses.dataclass
class Row:
    accessed: int
    refreshed: int | None = None


def tick_by_tick(
    log: list[tuple[int, str]], span: Span, evict_ms: int = 300_000, age_ms: int = 300_000
) -> tuple[int, int]:
    """Requests and topics of the draft, answered at once, with every topic looked at each tick."""
    rows: dict[str, Row] = {}
    requests = asked = place = 0
    for now in range(span.from_ms, span.to_ms, span.tick_ms):
        while place < len(log) and log[place][0] <= now:
            at_ms, topic = log[place]
            place += 1
            if topic in rows:
                rows[topic].accessed = at_ms
            else:
                rows[topic] = Row(at_ms)
        urgent, rest, gone, cached = [], [], [], 0
        for topic, row in rows.items():
            if row.refreshed is None:
                urgent.append(topic)
            elif now - row.accessed >= evict_ms:
                gone.append(topic)
            else:
                cached += 1
                if now - row.refreshed >= age_ms:
                    urgent.append(topic)
                elif 2 * (now - row.refreshed) >= age_ms:
                    rest.append((row.refreshed, topic))
        for topic in gone:
            del rows[topic]
        target = max(cached // (evict_ms // 1000) // 10, 20)
        room = max(target - len(urgent), 0) if urgent else target
        if urgent or len(rest) >= target:
            chosen = [*urgent, *(topic for _, topic in sorted(rest)[:room])]
            requests += 1
            asked += len(chosen)
            for topic in chosen:
                row = rows[topic]
                if row.refreshed is None:
                    row.accessed = max(now, row.accessed)
                row.refreshed = now
    return requests, asked


if __name__ == "__main__":
    main()
