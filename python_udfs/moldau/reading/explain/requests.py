"""Why a request was answered as it was: the stored answer, in words and as rows.

Nothing is decided here: only stored values are shown.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from moldau.escapes import named, visible
from moldau.instants import format_instant
from moldau.reading.explain.found_rows import row_of
from moldau.reading.explain.groups import Row
from moldau.reading.explain.phrases import decided_in, reason_text, topology_epoch
from moldau.reading.explain.subjects import one_cluster
from moldau.reading.tables.query import Tables

TABLES = {
    "heartbeat": "decisions.heartbeat_gates",
    "push": "decisions.topology_push_results",
    "deletion": "decisions.group_deletion_results",
    "join": "decisions.classic_join_results",
}
_NAMES = {"heartbeat": "Heartbeat", "push": "Push", "deletion": "Deletion", "join": "Classic join"}
_CALLS = "history.plugin_calls"


@dataclass(frozen=True)
class RequestExplanation:
    """The answers to one request: one, or of DeleteGroups one for each group."""

    kind: str
    answers: list[Row]
    calls: dict[str, Row]  # by call_id


def explain_request(warehouse: Path, text: str, cluster: str | None) -> RequestExplanation | None:
    """What is stored about `heartbeat REQUEST`, `push`, `deletion REQUEST [GROUP]` or `join`.

    None = no request has that name. MoldauError if several clusters have it and none was chosen.
    """
    kind, _, name = text.partition(" ")
    if kind not in TABLES or not name:
        return None
    tables = Tables(warehouse, [*TABLES.values(), _CALLS])
    condition, parameters = "where request_id = ?", [name]
    if kind == "deletion":
        condition += " or request_id || ' ' || group_id = ?"
        parameters += [name]
    found = tables.rows(TABLES[kind], f"{condition} order by cluster_id, group_id", parameters)
    if not found:
        return None
    chosen = one_cluster(sorted({row["cluster_id"] for row in found}), text, cluster)
    answers = [row for row in found if row["cluster_id"] == chosen]
    calls = {
        call["call_id"]: call
        for row in answers
        if row.get("call_id")
        for call in tables.rows(_CALLS, "where call_id = ?", [row["call_id"]])
    }
    return RequestExplanation(kind, answers, calls)


def request_in_words(found: RequestExplanation) -> Iterator[str]:
    """Lines of text, without line ends."""
    for number, row in enumerate(found.answers):
        if number:
            yield ""
        member = f" of member {visible(row['member_id'])}" if row.get("member_id") else ""
        yield (
            f"{_NAMES[found.kind]} {visible(row['request_id'])}{member} for group "
            f"{named(row['group_id'])} in cluster {visible(row['cluster_id'])}, "
            f"received {format_instant(row['received_at_ms'])}"
        )
        yield f"  {row['decision'].replace('_', ' ')} ({row['reason_code']})"
        yield f"  why: {reason_text(TABLES[found.kind], row['reason_code'])}"
        yield from (f"  {line}" for line in _seen(found, row))
        yield f"  back-off after it: {_backoff(row['backoff'])}"
        yield (
            f"  {decided_in(row)}"
            + (", a dry run: the next run of requests answers it" if row["is_dry_run"] else "")
        )


def request_rows(found: RequestExplanation) -> list[Row]:
    """Of each answer. It never changes."""
    return [
        row_of(
            row["cluster_id"],
            _subject(found.kind, row),
            row,
            reason_text(TABLES[found.kind], row["reason_code"]),
            next_change_at_ms=row.get("next_attempt_at_ms"),
        )
        for row in found.answers
    ]


def _subject(kind: str, row: Row) -> str:
    words = [kind, row["request_id"]] + ([row["group_id"]] if kind == "deletion" else [])
    return " ".join(words)


def _seen(found: RequestExplanation, row: Row) -> Iterator[str]:
    if found.kind == "heartbeat":
        yield (
            f"seen: topology epoch {topology_epoch(row['current_topology_epoch'])}, stored "
            f"{topology_epoch(row['stored_description_topology_epoch'])}, permanently refused "
            f"{topology_epoch(row['failed_description_topology_epoch'])}"
        )
        return
    message = row.get("error_message")
    yield f"answered: {row['error_code']}" + (f", {visible(message)}" if message else "")
    if call := found.calls.get(row.get("call_id") or ""):
        told = f": {visible(call['message'])}" if call["message"] else ""
        took_ms = call["finished_at_ms"] - call["started_at_ms"]
        outcome = call["outcome"].replace("_", " ")
        yield f"plugin: {call['operation']}, {outcome} in {took_ms} ms{told}"
    if found.kind == "push":
        before, after = row["stored_epoch_before"], row["stored_epoch_after"]
        yield f"stored epoch: {topology_epoch(before)}" + (
            f", then {topology_epoch(after)}" if after != before else ", and stays"
        )
    for finding in row.get("findings") or []:
        yield f"the topology: {visible(finding)}"


def _backoff(backoff: Row | None) -> str:
    if backoff is None:
        return "none"
    about = "classic joins" if backoff["topology_epoch"] == -2 else "topology epoch"
    epoch = "" if backoff["topology_epoch"] == -2 else f" {backoff['topology_epoch']}"
    times = backoff["attempts"] + 1
    asked = "once" if times == 1 else f"{times} times"
    until = format_instant(backoff["next_attempt_at_ms"])
    return f"{about}{epoch}, armed {asked}, open until {until}"
