"""The past of a group in words: one sentence for an event, or for several of one instant."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from moldau.escapes import named, visible
from moldau.instants import format_instant
from moldau.reading.explain.phrases import count, reason_text, topology_epoch
from moldau.reading.explain.timeline import Row, Timeline

_LISTED = 5
_TABLES = {
    "cleanup": "cleanup_eligibility",
    "sweep": "group_sweeps",
    "offset": "offset_expirations",
}
_CLOCKS = {
    "commit": "since the commit",
    "empty_since": "since the group became empty",
}
_LOST = ("OFFSET_DELETED", "GROUP_DELETED")


@dataclass(frozen=True)
class Told:
    """A sentence of the story, when, and the records that tell it; empty = moldau's own."""

    instant: str
    words: str
    evidence: str
    is_loss: bool


def in_words(found: Timeline) -> Iterator[Told]:
    """Deletions of one instant and cause are one sentence."""
    for key, rows in groupby(found.events, key=_alike):
        events = list(rows)
        yield Told(
            _instant(events[0]["event_at_ms"]),
            _sentence(events),
            _evidence(events[0], events[-1]),
            key[1] in _LOST or key[1] == "REWOUND",
        )


def head(found: Timeline) -> str:
    """What the story is of, and from when on it is known."""
    name = f"Group {named(found.group_id)} in cluster {visible(found.cluster_id)}"
    if found.known_from_ms is None:
        return f"{name}: no record of it was loaded up to then"
    if found.known_from_ms < 0:
        return f"{name}, as its records tell it; they have no times, their order stands for them"
    return f"{name}, as its records tell it from {format_instant(found.known_from_ms)} on"


def foot(found: Timeline) -> str | None:
    """What of the past may be missing; None = nothing is."""
    if found.has_whole_log or found.known_from_ms is None:
        return None
    told = (
        "Records are missing before or between these (compaction keeps the latest of each key, and "
        "an export may begin late)"
    )
    if found.known_from_ms < 0:
        return f"{told}."
    return f"{told}: before {format_instant(found.known_from_ms)} nothing is known."


def _instant(at_ms: int) -> str:
    """-1 = the record has no time: of a formatter's output, or of a broker before 0.10."""
    return "without a time" if at_ms < 0 else format_instant(at_ms)


def _alike(row: Row) -> tuple[object, ...]:
    """Neighbours that are told in one sentence have the same."""
    own = None if row["event"] == "OFFSET_DELETED" else row["event_index"]
    return row["event_at_ms"], row["event"], row["cause"], row["expiry_clock"], own


def _sentence(events: list[Row]) -> str:
    row = events[0]
    before, after = (_shown(row[name]) for name in ("value_before", "value_after"))
    match row["event"]:
        case "FIRST_COMMIT":
            return f"first commit known of {_place(row)}: {after}"
        case "COMMITS":
            until = _instant(row["until_at_ms"])
            return (
                f"{_place(row)}: {count(row['event_count'], 'commit')}"
                f"{f' until {until}' if row['event_count'] > 1 else ''}, {before} to {after}"
            )
        case "REWOUND":
            return f"{_place(row)} rewound: from {before} back to {after}"
        case "JUMPED_AHEAD":
            return f"{_place(row)} jumped ahead: from {before} to {after}"
        case "CAME_BACK" if row["topic_name"] is not None:
            return (
                f"{_place(row)} came back: committed {after}, after {before} was lost; who started "
                "in between found no offset, and read from where auto.offset.reset says"
            )
        case "CAME_BACK":
            return f"the group came back, a {after} group"
        case "MEMBER_JOINED" | "MEMBER_LEFT":
            verb = "joined" if row["event"] == "MEMBER_JOINED" else "left"
            who = f"member {visible(row['member_id'])}" if row["member_id"] else "members"
            return f"{who} {verb}: {count(int(row['value_after']), 'member')} now" + (
                f", {before} before" if row["value_before"] is not None else ""
            )
        case "STATE_CHANGED" | "EPOCH_CHANGED":
            return f"{row['value_name'].replace('_', ' ')}: {before} to {after}"
        case "DESCRIPTION_STORED":
            return f"topology description stored (epoch {_epoch(row['value_after'])})"
        case "DESCRIPTION_CLEARED":
            return f"topology description cleared (epoch {_epoch(row['value_before'])})"
        case "PLUGIN_CALL":
            said = f": {visible(row['message'])}" if row["message"] else ""
            epoch = _epoch(row["value_before"])
            return f"plugin call {row['value_name']} (epoch {epoch}): {after}{said}"
        case "OFFSET_DELETED":
            return _offsets_deleted(events)
        case "GROUP_DELETED":
            return f"the group was deleted by {_by(row)} ({row['cause']}{_why(row)})"
        case _:
            return _decided(row)


def _offsets_deleted(events: list[Row]) -> str:
    row = events[0]
    lost = ", ".join(
        f"{_place(one)} at {_shown(one['value_before'])}" for one in events[:_LISTED]
    ) + (f" and {len(events) - _LISTED} more" if len(events) > _LISTED else "")
    noun = "offset" if len(events) == 1 else "offsets"
    return f"{noun} deleted by {_by(row)} ({row['cause']}{_why(row)}): {lost}{_when_due(row)}"


def _when_due(row: Row) -> str:
    committed, due = row["commit_at_ms"], row["due_at_ms"]
    if committed is None:
        return ""
    told = f"; committed {_instant(committed)}"
    if due is None:
        return told if row["expiry_clock"] else f"{told}, and no clock ran for it"
    clock = _CLOCKS.get(row["expiry_clock"])
    if clock is None:
        return f"{told}, due {format_instant(due)}, which the client itself had named"
    minutes = row["offsets_retention_ms"] // 60_000
    return f"{told}, due {format_instant(due)}: offsets.retention.minutes = {minutes} {clock}"


def _why(row: Row) -> str:
    if row["event"] == "GROUP_DELETED" and row["cause"] == "RETENTION":
        return ": it was empty, and its offsets were due or gone"
    if row["cause"] == "RETENTION":
        return ": its time was up" if row["due_at_ms"] is not None else ""
    if row["cause"] == "BEFORE_DUE":
        return ": somebody did it before it was due, with a tool or with its topic"
    if row["event_at_ms"] < 0:
        return ": the record has no time"
    if row["due_at_ms"] is not None:
        return (
            ": it had been due for longer than a check interval, so the broker has other settings, "
            "an open transaction held it, its coordinator moved (which begins the interval anew), "
            "or somebody deleted it"
        )
    return ": what decides is not in the records that were loaded"


def _decided(row: Row) -> str:
    table = _TABLES[row["value_name"]]
    what = f"offset {_place(row)}" if row["topic_name"] is not None else row["value_name"]
    was = f", was {row['value_before']}" if row["value_before"] is not None else ""
    return (
        f"moldau decided: {what} {row['value_after'].replace('_', ' ')} ({row['reason_code']}"
        f"{was}), {reason_text(table, row['reason_code'])}"
    )


def _by(row: Row) -> str:
    by = row["deleted_by"]
    return "the broker" if by == "broker" else f"moldau's {by.replace('_', ' ')}"


def _place(row: Row) -> str:
    return f"{visible(row['topic_name'])}-{row['partition_index']}"


def _shown(value: str | None) -> str:
    return "an offset that is unknown" if value is None else visible(value)


def _epoch(value: str | None) -> str:
    return "unknown" if value is None else topology_epoch(int(value))


def _evidence(first: Row, last: Row) -> str:
    if first["evidence_offset"] is None:
        return first["run_id"] or ""
    until = last["evidence_until_offset"]
    more = f"..{until}" if until != first["evidence_offset"] else ""
    return (
        f"{first['evidence_topic']}-{first['evidence_partition']}@{first['evidence_offset']}{more}"
    )
