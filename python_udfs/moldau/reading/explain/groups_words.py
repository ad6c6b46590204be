"""A decision in words: what was seen, what it was compared with, and what changes it next."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from moldau.escapes import named, visible
from moldau.instants import format_instant
from moldau.reading.explain.groups import TABLE_OF, Decided, Explanation, Row
from moldau.reading.explain.phrases import count, decided_in, reason_text, topology_epoch

_NAMES = {"cleanup": "Clean-up cycle", "sweep": "Sweep", "offset": "Offset"}
_COMMANDS = {"cleanup": "cycle", "sweep": "sweep", "offset": "sweep"}
_LISTED = 5
_OFFSETS_IN_FULL = 20
_STARTS_IN_FULL = 20
_TIMELESS = "a record without a time"


def in_words(explanation: Explanation) -> Iterator[str]:
    """Lines of text, without line ends."""
    yield from group_words(explanation.group)
    offsets = 0
    for decided in explanation.decided:
        offsets += decided.kind == "offset"
        if offsets > _OFFSETS_IN_FULL:
            continue
        yield ""
        yield from decision_words(explanation, decided)
    if offsets > _OFFSETS_IN_FULL:
        yield ""
        yield (
            f"{offsets - _OFFSETS_IN_FULL} more offsets: "
            "`moldau explain offset GROUP TOPIC-PARTITION` explains one"
        )
    if explanation.starts:
        yield ""
        yield from _start_words(explanation.starts)


def _start_words(starts: list[Row]) -> Iterator[str]:
    """What an application would do now; those that go on where they left off only counted."""
    told = [row for row in starts if row["reason_code"] != "COMMITTED"]
    yield "If an application of the group started with these offsets:"
    for row in told[:_STARTS_IN_FULL]:
        does = (
            "meets its auto.offset.reset" + _reset_places(row)
            if row["decision"] == "reset"
            else f"goes on from {row['position']}"
        )
        yield f"  {visible(row['topic_name'])}-{row['partition_index']}: {does}"
        yield f"    why: {row['reason_text']} ({row['reason_code']})"
        if row["reason_code"] == "ABOVE_LOG_END" and row["committed_leader_epoch"] is not None:
            yield (
                f"    the commit has leader epoch {row['committed_leader_epoch']}: clients since "
                "Kafka 2.3 go on from where that epoch ended, as files of kind leader_epochs tell"
            )
    if (more := len(told) - _STARTS_IN_FULL) > 0:
        yield f"  {count(more, 'more partition')}: see marts.start_positions"
    if committed := len(starts) - len(told):
        goes = "goes" if committed == 1 else "go"
        yield f"  {count(committed, 'partition')} {goes} on from the committed offset (COMMITTED)"


def _reset_places(row: Row) -> str:
    """Where the policy leads to; `latest` by either isolation level."""
    start, stable, end = (
        row[name] for name in ("log_start_offset", "last_stable_offset", "high_watermark")
    )
    if start is None or end is None:
        return ""
    latest = f"{end}" if stable in (None, end) else f"{end}, or {stable} with read_committed"
    return f" (earliest is {start}, latest {latest})"


def group_words(group: Row) -> Iterator[str]:
    """The group as state.groups has it."""
    name = f"{named(group['group_id'])} in cluster {visible(group['cluster_id'])}"
    if group["group_type"] is None:
        yield f"Group {name}: only offsets are known"
        return
    yield (
        f"{group['group_type'].capitalize()} group {name}: {group['group_state']}"
        + _since(group["empty_since_at_ms"])
        + f", {count(group['member_count'], 'member')}"
    )
    if group["is_deleted"]:
        yield f"  deleted by {group['deleted_by'] or 'unknown'}{_at(group['deleted_at_ms'])}"
    if not group["is_readable"]:
        yield "  its latest record cannot be decoded"
    yield f"  group epoch {group['group_epoch']}" + _streams_epochs(group)
    topics = group["subscribed_topics"]
    if topics is None:
        yield "  subscribed topics: unknown"
    else:
        yield f"  subscribed topics: {_listed([visible(topic) for topic in topics]) or 'none'}"


def decision_words(explanation: Explanation, decided: Decided) -> Iterator[str]:
    """One decision: what, why, the values behind it, who blocks it, what changes it next."""
    row = decided.decision
    title = f"{_NAMES[decided.kind]}{_of_offset(decided)}"
    if row is None:
        yield f"{title}: {_undecided(explanation.group, decided)}"
        return
    yield f"{title}: {row['decision'].replace('_', ' ')} ({row['reason_code']})"
    yield f"  why: {reason_text(TABLE_OF[decided.kind], row['reason_code'])}"
    yield from (f"  {line}" for line in _observed(decided))
    yield from (f"  blocked by {line}" for line in blocked_by(explanation, decided))
    yield f"  next: {next_change(decided)}"
    yield f"  {decided_in(row)}"
    if change := decided.last_change:
        yield f"  last change: {_change(change)}"
    if str(explanation.group.get("changed_in_run_id") or "") > row["run_id"]:
        yield (
            f"  the group changed since, in run {explanation.group['changed_in_run_id']}: "
            f"{_command(explanation.group, decided.kind)} decides again"
        )


def blocked_by(explanation: Explanation, decided: Decided) -> list[str]:
    """Who or what stands in the way, one phrase each."""
    row, group = decided.decision, explanation.group
    match row["reason_code"] if row else None:
        case "SUBSCRIBED" if decided.offset:
            return [f"the subscription to {visible(decided.offset['topic_name'])}"]
        case "PENDING_TRANSACTION" if decided.offset:
            key = (decided.offset["topic_name"], decided.offset["partition_index"])
            pending = [
                t
                for t in explanation.open_transactions
                if (t["topic_name"], t["partition_index"]) == key
            ]
            return _producers(pending)
        case "OPEN_TRANSACTION":
            return _producers(explanation.open_transactions)
        case "NOT_EMPTY":
            return [f"{count(group['member_count'], 'member')} ({group['group_state']})"]
        case "OFFSETS_NOT_EXPIRED" | "OFFSETS_PRESENT" | "OFFSETS_LEFT" | "NO_EXPIRATION_CONDITION":
            return [] if decided.offset else _kept_offsets(explanation.offset_decisions)
        case "DESCRIPTION_STILL_STORED":
            epoch = topology_epoch(group["stored_description_topology_epoch"])
            return [f"the stored topology description (epoch {epoch})"]
        case _:
            return []


def next_change_at_ms(decided: Decided) -> int | None:
    """The stored instant at which time alone changes the answer; null = it never does."""
    row = decided.decision
    if row is None:
        return None
    if decided.kind != "offset":
        return _integer(row["next_due_at_ms"])
    is_waiting = row["reason_code"] in ("RETENTION_NOT_ELAPSED", "EXPLICIT_EXPIRY_NOT_REACHED")
    return _integer(row["expires_at_ms"]) if is_waiting else None


def next_change(decided: Decided) -> str:
    """When the answer changes, in words."""
    instant = next_change_at_ms(decided)
    if instant is not None:
        return f"the answer changes at {format_instant(instant)} if nothing else happens"
    row = decided.decision or {}
    acts = {"eligible": "clean-up cycle", "expire": "sweep", "tombstone": "sweep"}
    if actor := acts.get(row.get("decision", "")):
        return f"the next {actor} acts on it; time alone changes nothing"
    return "time alone changes nothing"


def _observed(decided: Decided) -> Iterator[str]:
    row, settings, offset = decided.decision or {}, decided.settings, decided.offset
    retention = (
        f"offsets.retention.minutes = {settings['offsets_retention_ms'] // 60_000}"
        if settings
        else None
    )
    if decided.kind == "cleanup":
        yield f"seen: stored description epoch {topology_epoch(row['observed_epoch'])}"
    elif decided.kind == "sweep":
        yield f"seen: {count(row['offsets_left'], 'offset')} left after the sweep"
    elif offset:
        yield f"seen: offset {offset['committed_offset']} committed{_at(offset['commit_at_ms'])}"
        clock = {
            "commit": "the commit",
            "empty_since": "the moment the group became empty",
            "explicit": "the client, which named the time",
        }.get(row["expiry_clock"])
        if clock:
            yield (
                f"expires at {format_instant(row['expires_at_ms'])}, counted from {clock}"
                + (f" ({retention})" if retention and row["expiry_clock"] != "explicit" else "")
            )
    if retention and decided.kind != "offset":
        yield f"threshold: {retention}"


def _undecided(group: Row, decided: Decided) -> str:
    if decided.offset and decided.offset["is_deleted"]:
        offset = decided.offset
        return f"deleted by {offset['deleted_by'] or 'unknown'}{_at(offset['deleted_at_ms'])}"
    if group.get("is_deleted") and decided.kind != "cleanup":
        return "the group is deleted, so nothing is decided"
    return f"not decided yet: {_command(group, decided.kind)} decides"


def _command(group: Row, kind: str) -> str:
    return f"`moldau {_COMMANDS[kind]} --dry-run --cluster {visible(group['cluster_id'])}`"


def _of_offset(decided: Decided) -> str:
    if not decided.offset:
        return ""
    return f" {visible(decided.offset['topic_name'])}-{decided.offset['partition_index']}"


def _kept_offsets(decisions: list[Row]) -> list[str]:
    kept = [row for row in decisions if row["decision"] == "keep"]
    lines = [
        f"offset {visible(row['topic_name'])}-{row['partition_index']} ({row['reason_code']}"
        + (f", expires at {format_instant(at)}" if (at := row["expires_at_ms"]) is not None else "")
        + f") as of {format_instant(row['decided_at_ms'])}"
        for row in kept[:_LISTED]
    ]
    return lines + ([f"{len(kept) - _LISTED} more offsets"] if len(kept) > _LISTED else [])


def _producers(transactions: list[Row]) -> list[str]:
    lines = [
        f"the open transaction of producer {row['producer_id']} "
        f"on {visible(row['topic_name'])}-{row['partition_index']}"
        for row in transactions[:_LISTED]
    ]
    more = len(transactions) - _LISTED
    return lines + ([f"{more} more open transactions"] if more > 0 else [])


def _change(change: Row) -> str:
    before = change["previous_decision"]
    was = f"was {before} ({change['previous_reason_code']})" if before else "first decided"
    return (
        f"{was} before run {change['run_id']}, at {format_instant(change['decided_at_ms'])}"
        if before
        else f"{was} in run {change['run_id']}, at {format_instant(change['decided_at_ms'])}"
    )


def _streams_epochs(group: Row) -> str:
    if group["group_type"] != "streams":
        return ""
    return (
        f", topology epoch {topology_epoch(group['topology_epoch'])}, stored description epoch "
        f"{topology_epoch(group['stored_description_topology_epoch'])}, failed description epoch "
        f"{topology_epoch(group['failed_description_topology_epoch'])}"
    )


def _at(milliseconds: int | None) -> str:
    if milliseconds is None:
        return ""
    return f" at {format_instant(milliseconds)}" if milliseconds >= 0 else f", in {_TIMELESS}"


def _since(milliseconds: int | None) -> str:
    if milliseconds is None:
        return ""
    return f" since {format_instant(milliseconds) if milliseconds >= 0 else _TIMELESS}"


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - 20} more" if len(names) > 20 else ""
    return ", ".join(names[:20]) + more


def _integer(value: Any) -> int | None:
    return None if value is None else int(value)
