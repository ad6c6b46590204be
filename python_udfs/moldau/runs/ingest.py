"""Read a live cluster: loads whose records come from its logs, from where the last one stopped.

How far each partition is read (`state.log_positions`) is written by the load that brought its
records, so a load that was killed is either finished, records and position, or was never there.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from moldau.declared import topics as known_topics
from moldau.errors import MoldauError
from moldau.instants import now_ms
from moldau.loading.bring import Loaded
from moldau.loading.checked_rows import Chunk, with_lines
from moldau.loading.shapes import RECORDS
from moldau.loading.stage import Staged, stage_chunks
from moldau.records.families import family_of
from moldau.runs.load import finish
from moldau.runs.same_cluster import OFFSETS, created_anew, require_same_cluster
from moldau.sessions import journal
from moldau.sessions.brought import Position
from moldau.sessions.faults import fault
from moldau.sessions.open_run import next_run_id
from moldau.warehouse.ask import ask_rows, sql_text
from moldau.warehouse.log_spans import Reading, Source, Span, Unreadable
from moldau.warehouse.polls import Polled, note_poll

if TYPE_CHECKING:
    from moldau.sessions.session import Session

ROWS = 1_000_000  # of one load, or some more
_ROWS_AT_ONCE = 100_000
NOTHING = (
    "no topic that moldau reads is there (__consumer_offsets, __remote_log_metadata, those of "
    "MirrorMaker), or there is no right to DESCRIBE it: `moldau cluster check` says which"
)
Warn = Callable[[str], None]


class NothingReadable(MoldauError):
    """There are topics to read, and each is refused."""


def ingest(
    session: Session,
    cluster_id: str,
    source: Source,
    topics: Sequence[str],
    warn: Warn,
    rows: int = ROWS,
    leave_out: Warn | None = None,
) -> Iterator[Loaded]:
    """Load what the topics have beyond what is read; gives each load when it is complete.

    A poll that brings no record writes no table. `leave_out` (`warn` if there is none) is told of
    each topic that cannot be read, while others can.

    Raises MoldauError as `look` does.
    """
    fault()
    session.settings.cluster(cluster_id)
    seen = look(session.warehouse, cluster_id, source, topics, warn)
    for line in seen.left_out:
        (leave_out or warn)(line)
    while seen.has_unread:
        loaded = _load(session, seen, source, rows)
        note_poll(session.warehouse, cluster_id, seen.at_ms, seen.polled())
        if loaded is None:
            return
        yield loaded


@dataclass
class Seen:
    """What the topics of a cluster held, each partition from where it is read up to.

    `at_ms`: before the cluster was asked. `left_out`: a line for each topic that cannot be read."""

    cluster_id: str
    at_ms: int
    spans: list[Span]
    left_out: list[str]

    @property
    def has_unread(self) -> bool:
        return any(span.start < span.end for span in self.spans)

    def polled(self) -> list[Polled]:
        return [
            Polled(span.topic_name, span.partition_index, span.start, span.log_start_offset,
                   span.end, span.high_watermark)
            for span in self.spans
        ]  # fmt: skip


def look(
    warehouse: Path, cluster_id: str, source: Source, topics: Sequence[str], warn: Warn
) -> Seen:
    """Ask the cluster what there is, and note that.

    A topic that was created anew, or that holds less than was read of it, or may not be read, is
    left out. Raises MoldauError if that is __consumer_offsets created anew, by which a cluster is
    known, or if no topic is left.
    """
    at_ms = now_ms()
    require_same_cluster(warehouse, cluster_id, source.topic_id(OFFSETS))
    read = _positions(warehouse, cluster_id)
    seen = Seen(cluster_id, at_ms, [], [])
    for topic in topics:
        try:
            seen.spans += _spans(cluster_id, source, topic, read, warn)
        except Unreadable as error:
            seen.left_out.append(f"{topic} is left out: {error}")
    if seen.left_out and len(seen.left_out) == len(topics):
        raise NothingReadable("; ".join(seen.left_out))
    note_poll(warehouse, cluster_id, at_ms, seen.polled())
    return seen


def _positions(warehouse: Path, cluster_id: str) -> dict[tuple[str, int], tuple[str, int]]:
    """Topic and partition -> id of the topic, and the first offset that is not read."""
    sql = (
        "select topic_name, partition_index, topic_id, next_offset from t "
        f"where cluster_id = {sql_text(cluster_id)}"
    )
    rows = ask_rows(warehouse, "state.log_positions", sql)
    return {(topic, partition): (topic_id, at) for topic, partition, topic_id, at in rows}


def _spans(
    cluster_id: str,
    source: Source,
    topic: str,
    read: Mapping[tuple[str, int], tuple[str, int]],
    warn: Warn,
) -> list[Span]:
    """What of a topic is to be read; MoldauError if it is another one than was `read`."""
    spans = source.spans(topic)
    there = {(topic, span.partition_index) for span in spans}
    if lost := sorted(key for key in read if key[0] == topic and key not in there):
        raise _another(topic, f"{topic}-{lost[0][1]} is gone", cluster_id)
    found = []
    for span in spans:
        topic_id, start = read.get((topic, span.partition_index), ("", span.start))
        if topic_id and topic_id != span.topic_id:
            told = f"it has the id {span.topic_id} now, and had {topic_id}"
            raise _another(topic, told, cluster_id)
        if start > span.high_watermark:
            told = f"{span.name} ends at offset {span.high_watermark}, and was read up to {start}"
            raise _another(topic, told, cluster_id)
        if topic_id and start < span.start:
            warn(
                f"{span.name}: the records from offset {start} to {span.start - 1} were "
                "deleted before they were read"
            )
        found.append(replace(span, start=max(start, span.start)))
    return found


def _another(topic: str, what: str, cluster_id: str) -> MoldauError:
    """By the topic of its groups a cluster is known; of others it may have new ones."""
    if topic == OFFSETS:
        return created_anew(what, cluster_id)
    return Unreadable(
        f"{what}: it was created anew or cut, and its offsets begin again. What was read of it "
        f"stays; read the new one under another name than {cluster_id}, by `--topics {topic}`"
    )


def topics_of(source: Source, named: Sequence[str]) -> list[str]:
    """The named ones, else those that moldau decodes. MoldauError for one that is not there."""
    there = source.topics()
    if missing := sorted(set(named) - set(there)):
        raise MoldauError(f"there is no topic {missing[0]!r}, or no right to DESCRIBE it")
    return list(dict.fromkeys(named)) or [
        topic for topic in there if family_of(topic) in known_topics()
    ]


def _load(session: Session, seen: Seen, source: Source, rows: int) -> Loaded | None:
    """One load of what is unread, as far as it gets, which moves the spans; None = no record."""
    spans = [span for span in seen.spans if span.start < span.end]
    run_id = next_run_id(session, "load")
    folder = journal.staged_folder(session.warehouse, run_id)
    staged = Staged(run_id, RECORDS.kind, seen.cluster_id, folder=folder)
    by_topic = {topic: list(some) for topic, some in groupby(spans, lambda span: span.topic_name)}
    readings = {topic: _reading(session, source, topic, some) for topic, some in by_topic.items()}
    brought = _Brought(rows)
    try:
        sources = [(f"topic {topic}", brought.chunks(readings[topic])) for topic in by_topic]
        stage_chunks(staged, sources, RECORDS)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    read_to = {span: readings[span.topic_name].next_offset(span) for span in spans}
    seen.spans = [replace(span, start=read_to.get(span, span.start)) for span in seen.spans]
    if not staged.rows:
        shutil.rmtree(folder)
        return None
    staged.positions = [
        Position(span.topic_name, span.partition_index, span.topic_id, offset,
                 span.log_start_offset, span.end, span.high_watermark, seen.at_ms)
        for span, offset in read_to.items()
    ]  # fmt: skip
    return finish(session, staged.brought())


def _reading(session: Session, source: Source, topic: str, spans: Sequence[Span]) -> Reading:
    """By the engine that moldau.yml names: they differ in nothing but what reads the records."""
    if session.settings.engine != "spark":
        return source.read(topic, spans)
    from moldau.engines.spark.kafka_reading import SparkReading

    return SparkReading(session.engines.spark.session, source.properties, topic, spans)


class _Brought:
    """Counts the rows of one load over all its topics."""

    def __init__(self, most: int) -> None:
        self._left = most

    def chunks(self, reading: Reading) -> Iterator[Chunk]:
        if self._left <= 0:
            return
        line = 1
        with contextlib.closing(reading.tables(min(self._left, _ROWS_AT_ONCE))) as tables:
            for table in tables:
                yield with_lines(table, line), []
                line += table.num_rows
                self._left -= table.num_rows
                if self._left <= 0:
                    return
