"""Why a topic's metadata is forgotten, fetched or kept, in words."""

from __future__ import annotations

from collections.abc import Iterator

from moldau.escapes import visible
from moldau.instants import format_instant
from moldau.reading.explain.groups import Row
from moldau.reading.explain.phrases import count, decided_in
from moldau.reading.explain.producers import MetadataExplanation

_CLAUSES = {
    "NEW": "T1, urgent", "NOTIFIED": "T2, urgent", "STALE": "T3, urgent",
    "FILL": "U, by rule F1", "OLDEST": "U, by rule F2",
}  # fmt: skip


def metadata_in_words(found: MetadataExplanation) -> Iterator[str]:
    """Lines of text, without line ends."""
    row = found.decision
    clause = _CLAUSES.get(row["reason_code"])
    yield visible(f"{found.subject}, in cluster {row['cluster_id']}")
    code = f"{row['reason_code']}, {clause}" if clause else row["reason_code"]
    yield f"  {row['decision']} ({code}): {found.reason_text}"
    if found.topic is not None:
        yield f"  seen: {_seen(found)}"
    yield f"  limits: {_limits(found)}"
    yield f"  round: {_round(found.round)}"
    for reason in found.reasons:
        topics = count(reason["topics"], "topic")
        yield f"    {reason['decision']} ({reason['reason_code']}): {topics}"
    if found.topic is not None and found.topic["fetch_rank"] is not None:
        yield f"  place in the request: {found.topic['fetch_rank']}"
    yield f"  next: {_next(found)}"
    yield f"  {decided_in(row)}"


def _seen(found: MetadataExplanation) -> str:
    age = found.refresh_age_ms
    told = ["nothing is cached" if age is None else f"refreshed {_before(age)}"]
    known = found.known
    if known is None:
        told.append("the topic is forgotten by now")
    elif not found.is_over:
        idle = int(found.decision["decided_at_ms"]) - int(known["last_access_at_ms"])
        told.append(f"accessed {_before(idle)}")
        told += ["somebody waits"] if known["has_demand"] else []
        if known["notified_at_ms"] is not None:
            told.append(f"told at {format_instant(known['notified_at_ms'])} that it is not right")
    return ", ".join(told)


def _limits(found: MetadataExplanation) -> str:
    told = found.settings
    if not told:
        return "the settings that decided are no longer known"
    max_age = int(told["max_age_ms"])
    idle = f"metadata.evict.ms = {told['evict_ms']}"
    if told["max_idle_ms"] is not None:
        idle += f", metadata.max.idle.ms = {told['max_idle_ms']}"
    half = (
        "" if found.round["target_fetch_size"] is None else f", half of it {max_age - max_age // 2}"
    )
    return f"{idle}, metadata.max.age.ms = {max_age}{half}"


def _round(row: Row) -> str:
    target = row["target_fetch_size"]
    told = [
        f"{count(row['cached_topics'], 'topic')} cached",
        "no target" if target is None else f"target {target}",
        f"{row['urgent_topics']} urgent",
        f"{row['non_urgent_topics']} not urgent",
        f"{row['fetched_topics']} fetched",
        f"{row['evicted_topics']} forgotten",
    ]
    return f"{row['reason_code']}: {', '.join(told)}"


def _next(found: MetadataExplanation) -> str:
    if found.is_over:
        run = found.producer["changed_in_run_id"]
        return f"what the producer holds has changed (run {run}): the next run decides anew"
    change = found.next_change
    if change is None:
        return "time alone changes nothing: an access, an answer or a notice does"
    at = format_instant(change.at_ms)
    if not change.is_found:
        return f"the same until {at} at least, if only time goes by; later is not looked at"
    answer = change.answer
    if found.topic is None:
        fetched = count(answer["fetched_topics"], "topic")
        told = f"{fetched} fetched, {answer['evicted_topics']} forgotten"
    else:
        told = found.text_of(answer["reason_code"])
    return f"{at}, then {answer['decision']} ({answer['reason_code']}): {told}"


def _before(age_ms: int) -> str:
    """A clock may be ahead, and what is asked about the past."""
    return f"{age_ms} ms before" if age_ms >= 0 else f"{-age_ms} ms after the instant decided for"
