"""A partition of tiered storage in words: its log, its lag, and why each segment waits or not."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from moldau.escapes import visible
from moldau.instants import format_instant
from moldau.reading.explain.groups import Row
from moldau.reading.explain.phrases import count, decided_in, reason_text
from moldau.reading.explain.tiers import TierExplanation

_LISTED = 10


def tier_in_words(found: TierExplanation) -> Iterator[str]:
    """Lines of text, without line ends."""
    name = f"{visible(found.topic_name)}-{found.partition_index}"
    yield f"Partition {name} in cluster {visible(found.cluster_id)}{_led(found.state)}"
    if found.state:
        yield f"  {_log(found.state)}"
    if found.epochs:
        listed = ", ".join(f"{e['leader_epoch']} from {e['start_offset']}" for e in found.epochs)
        yield f"  leader epochs: {listed}"
    told = ", ".join(f"{config} = {value}" for config, value in found.configs.items())
    yield f"  configs: {told or 'nothing is told'}"
    if found.lag:
        yield from _lag(found.lag, found.uploads)
    for title, table, rows in (
        ("Upload of local segments", "upload_candidates", found.uploads),
        ("Deletion of remote segments", "delete_candidates", found.deletes),
    ):
        if found.is_of_one and not rows:
            continue
        yield ""
        yield f"{title}:" if rows else f"{title}: there are none"
        yield from _walk(table, rows, found.state)
    if found.left:
        yield ""
        yield "Left behind in the object store:"
        yield from _left(found.left)


def _left(rows: list[Row]) -> Iterator[str]:
    """Segments of one topic that are left for one reason in one line."""

    def reason(row: Row) -> tuple[str, ...]:
        return row["finding"], row["topic_id"], row["detail"], row["advice"]

    for (finding, topic_id, detail, advice), group in groupby(rows, reason):
        alike = list(group)
        names = [row["segment_id"] for row in alike[:_LISTED]]
        more = ", ..." if len(alike) > len(names) else ""
        size = sum(row["size_bytes"] for row in alike)
        span = f"{alike[0]['start_offset']} to {max(row['end_offset'] for row in alike)}"
        segments = count(len(alike), "segment")
        yield f"  {span}, {segments}, {size} bytes, topic id {topic_id}: {finding}"
        yield f"    segment ids: {', '.join(names)}{more}"
        others = dict.fromkeys(row["other_segment_id"] for row in alike if row["other_segment_id"])
        if others:
            yield f"    superseded by: {', '.join([*others][:_LISTED])}"
        yield f"    why: {detail}"
        yield f"    what to do: {advice}"


def _walk(table: str, rows: list[Row], state: Row | None) -> Iterator[str]:
    """Segments that are decided alike, one after the other, in one line."""

    def answer(row: Row) -> tuple[str, str, int | None, bool]:
        # what lies beside the walk has no lag, and its offsets are no part of the walk's
        return row["decision"], row["reason_code"], row.get("broker_id"), row["lag_before"] is None

    for (decision, reason, broker, _), group in groupby(rows, answer):
        alike = list(group)
        first, last = alike[0], alike[-1]
        start = first.get("base_offset", first.get("start_offset"))
        end = last["next_base_offset"] - 1 if "base_offset" in last else last["end_offset"]
        lag = ""
        if decision != "keep" and first["lag_before"] is not None:
            lag = f", lag {first['lag_before']} -> {last['lag_after']}"
        is_leaders = broker is None or (state and state["broker_id"] == broker)
        segments = count(len(alike), "segment")
        place = "" if is_leaders else f" of broker {broker}"
        span = f"{start} to {end}, {segments}{place}, {_measured(alike)}"
        yield f"  {span}: {decision} ({reason}{lag})"
        yield f"    why: {reason_text(table, reason)}"
        due = min(
            (r["next_due_at_ms"] for r in alike if r["next_due_at_ms"] is not None), default=0
        )
        if due:
            yield f"    next: decided anew at {format_instant(due)} if nothing else happens"
    if rows:
        latest = max(rows, key=lambda row: str(row["run_id"]))
        yield f"  {decided_in(latest)}"


def _measured(rows: list[Row]) -> str:
    """What retention and delays look at."""
    size = sum(row["size_bytes"] for row in rows)
    newest = max((row["max_timestamp_ms"] or 0 for row in rows), default=0)
    return f"{size} bytes" + (f", newest record {format_instant(newest)}" if newest > 0 else "")


def _lag(lag: Row, uploads: list[Row]) -> Iterator[str]:
    if lag["upload_tier_lag"] is None:
        own = [row["reason_code"] for row in uploads if row["broker_id"] == lag["broker_id"]]
        why = reason_text("upload_candidates", own[0]) if own else None
        yield f"  upload lag: none is told. {why or 'No local segments of the leader are loaded.'}"
    else:
        yield (
            f"  upload lag: {lag['upload_tier_lag']} offsets in {lag['upload_lag_segments']} "
            f"segments, {lag['upload_lag_bytes']} bytes; {lag['upload_in_flight']} in flight, "
            f"{lag['upload_blocked_by_lso']} above the last stable offset, "
            f"{lag['upload_delayed']} delayed"
        )
    if lag["delete_tier_lag_sum"] is None:
        yield f"  delete lag: none is told. {reason_text('delete_candidates', 'NO_SNAPSHOT')}"
        return
    walk = "unknown" if lag["delete_tier_lag"] is None else f"{lag['delete_tier_lag']} offsets"
    over = f"; {lag['over_deleted_bytes']} bytes too much" if lag["over_deleted_bytes"] else ""
    yield (
        f"  delete lag: {walk}; {lag['delete_tier_lag_sum']} offsets in "
        f"{lag['delete_lag_segments']} segments, {lag['delete_lag_bytes']} bytes{over}"
    )


def _led(state: Row | None) -> str:
    return f", led by broker {state['broker_id']}" if state else ", leader unknown"


def _log(state: Row) -> str:
    return (
        f"log from {_known(state['log_start_offset'])} to {_known(state['log_end_offset'])}, local "
        f"from {_known(state['local_log_start_offset'])}, last stable offset "
        f"{_known(state['last_stable_offset'])}, as of {format_instant(state['taken_at_ms'])}"
    )


def _known(offset: int | None) -> str:
    return "unknown" if offset is None else str(offset)
