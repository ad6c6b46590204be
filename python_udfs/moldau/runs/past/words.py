"""From which instant on the history of a moment is whole, as far as that can be seen."""

from __future__ import annotations

from moldau.engines.duckdb.delta_types import literal
from moldau.instants import format_instant
from moldau.reading.explain.phrases import count
from moldau.runs.past.source import RECORDS, About, Source


def words(source: Source) -> str:
    at_ms, about = source.at_ms, source.about
    up_to = f"recorded_at_ms <= {at_ms:d}"
    [(first, places)] = source.rows(
        f"select min(recorded_at_ms), list(distinct partition_index) from {RECORDS} "
        f"where {about.condition(RECORDS)} and {up_to}"
    )
    mine = About(about.cluster_id).condition(RECORDS)
    if about.group_id is not None:
        mine += f" and partition_index in ({', '.join(map(str, places or [])) or 'null'})"
    log = (
        "select recorded_at_ms, log_offset, lag(log_offset, 1, -1) over (partition by "
        f"cluster_id, partition_index order by log_offset) as previous from {RECORDS} "
        f"where {mine} and {up_to}"
    )
    [(gap,)] = source.rows(
        f"select max(recorded_at_ms) from ({log}) where log_offset > previous + 1"
    )
    [(left_out,)] = source.rows(
        f"select count(*) from {RECORDS} where {mine} and {up_to} "
        f"and run_id > {literal(source.until)} and not ({source.followed})"
    )
    told = _whole_words(at_ms, first, gap)
    if left_out:
        told += (
            f"; {count(left_out, 'record')} up to then came after run {source.until}, which "
            "decided for later, and are left out: moldau was in charge"
        )
    return told


def _whole_words(at_ms: int, first: int | None, gap: int | None) -> str:
    told = f"as of {format_instant(at_ms)}"
    if first is None:
        return f"{told}: no record up to then was loaded"
    if gap is None:
        return f"{told}, from every record since the log began"
    return (
        f"{told}: records are known from {format_instant(first)} on, and without a gap from "
        f"{format_instant(gap)} on (compaction and aborted transactions leave gaps)"
    )
