"""A value of a table as a reader sees it: right-aligned, in UTC, with a link where one leads on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from moldau.declared import kinds
from moldau.escapes import named, visible
from moldau.instants import format_instant
from moldau.reading.tables.values import to_json
from moldau.serving.pages.group import address_of
from moldau.serving.past import PAST

_NONE = "-"
_LETTERS = 100
_OWN_WORDS = ("reason_text", "detail", "advice")  # sentences of moldau, whole
_SHORT = 32  # such a text is not broken into lines
_TITLE = 400
_GOOD = {"succeeded", "success", "OK", "emit"}
_BAD = {"failed", "permanent_failure", "timeout", "TOPIC_GONE", "TOPIC_RECREATED"}
_WARN = {
    "transient_failure", "skipped_in_flight", "defer", "expire", "tombstone", "skip",
    "COMMIT_BEFORE_START", "COMMIT_AHEAD_OF_END", "NO_COMMIT",
}  # fmt: skip
_CODES = ("status", "outcome", "decision", "last_outcome", "next_sweep", "next_cycle")


@dataclass(frozen=True)
class Cell:
    """`kind`: number, time, code, none, short or text; `title`: what a pointer shows; `tone`: good,
    warn, bad, or none."""

    text: str
    kind: str = "text"
    title: str | None = None
    link: tuple[str, Mapping[str, str]] | None = None
    tone: str = ""
    value: str | None = None
    """For programs, of an instant."""


def cell_of(column: str, value: Any, row: Mapping[str, Any]) -> Cell:
    if value is None:
        return Cell(_NONE, "none")
    if isinstance(value, bool):
        tone = _tone_of_truth(column, value)
        return Cell("yes" if value else "no", "code", tone=tone)
    if isinstance(value, datetime):
        return _instant(value)
    if isinstance(value, int | float):
        return _number(column, value)
    if isinstance(value, dict):
        return _text(", ".join(f"{key} {item}" for key, item in value.items()) or _NONE)
    if isinstance(value, list):
        return _text(", ".join(map(str, value)) or _NONE)
    if not isinstance(value, str):
        return _text(to_json(value))
    if column in _CODES or column in ("reason_code", "previous_decision", "previous_reason_code"):
        return Cell(visible(value, _LETTERS), "code", row.get("reason_text"), tone=_tone(value))
    letters = _TITLE if column in _OWN_WORDS else _LETTERS
    shown = _text(named(value) if column == "group_id" else value, letters)
    return Cell(shown.text, shown.kind, shown.title, _link(column, value, row))


def label_of(column: str) -> str:
    """`first_expires_at` -> `first expires`: instants are told by their form."""
    if column == "event_at":  # beside an event
        return "when"
    for ending in ("_at_ms", "_at", "_ms", "_bytes"):
        if column.endswith(ending) and column != ending[1:]:
            column = column.removesuffix(ending)
            if ending == "_bytes" and column != "size":
                column += " size"
            break
    return column.removeprefix("is_").replace("_id", "").replace("_", " ")


def is_number(column: str, rows: list[dict[str, Any]]) -> bool:
    """Of a column: it is aligned on the right."""
    told = [row[column] for row in rows if row[column] is not None]
    return (
        bool(told)
        and all(isinstance(value, int | float) and not isinstance(value, bool) for value in told)
        and not column.endswith("_at_ms")
    )


def span(milliseconds: float) -> str:
    """`7 d`, `1.5 h`, `10 min`, `250 ms`."""
    for unit, name in ((86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1000, "s")):
        if abs(milliseconds) >= unit:
            return f"{round(milliseconds / unit, 1):,g} {name}"
    return f"{milliseconds:g} ms"


def size(count: float) -> str:
    """`1.5 GB`: powers of a thousand."""
    for unit, name in ((10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (1000, "kB")):
        if abs(count) >= unit:
            return f"{round(count / unit, 1):g} {name}"
    return f"{count:g} B"


def url(page: str, given: Mapping[str, str]) -> str:
    query = urlencode({k: v for k, v in given.items() if v}, errors="surrogatepass")
    return f"/{page}" + (f"?{query}" if query else "")


def onward(page: str, given: Mapping[str, str]) -> dict[str, str]:
    """What a link to another page carries on of the clock."""
    names = ("at", "as_of") if page in PAST else ("at",)
    return {name: given.get(name, "") for name in names}


def _number(column: str, value: float) -> Cell:
    if column.endswith("_at_ms"):
        return _of_ms(int(value))
    exact = f"{value:,}"
    if column.endswith("_ms"):
        return Cell(span(value), "number", f"{exact} ms")
    if column.endswith("_bytes") or column == "bytes":
        return Cell(size(value), "number", f"{exact} bytes")
    if column.endswith("bytes_per_second"):
        return Cell(f"{size(value)}/s", "number", exact)
    shown = exact if isinstance(value, int) else f"{value:,.1f}"
    return Cell(shown, "number", None if shown == exact else exact)


def _instant(value: datetime) -> Cell:
    moment = value.astimezone(UTC)
    exact = moment.isoformat().replace("+00:00", "Z")
    return Cell(f"{moment:%Y-%m-%d %H:%M:%S}", "time", exact, value=exact)


def _of_ms(at_ms: int) -> Cell:
    exact = format_instant(at_ms)
    return Cell(exact[:19].replace("T", " "), "time", exact, value=exact)


def _text(value: str, letters: int = _LETTERS) -> Cell:
    shown = visible(value, letters)
    kind = "short" if len(shown) <= _SHORT else "text"
    return Cell(shown, kind, None if shown == value else visible(value, _TITLE))


def _tone(value: str) -> str:
    return (
        "good" if value in _GOOD else "bad" if value in _BAD else "warn" if value in _WARN else ""
    )


def _tone_of_truth(column: str, value: bool) -> str:
    if column == "is_ready":
        return "good" if value else "warn"
    return "warn" if value and column == "is_stale" else ""


def _link(column: str, value: str, row: Mapping[str, Any]) -> tuple[str, Mapping[str, str]] | None:
    cluster = row.get("cluster_id")
    match column:
        case "group_id" if cluster:
            return "group", address_of(cluster, value)
        case "group_id" if row.get("flow") and len(value) <= 250:
            return "mirrors", {"flow": row["flow"], "group": value}
        case "flow":
            return "mirrors", {"flow": value}
        case "run_id" if "kind" not in row or row["kind"] in kinds():  # others decide nothing
            return "decisions", {"run": value}
        case "producer_id" if cluster and len(value) <= 250:
            return "producers", {"cluster": cluster, "producer": value}
        case "topic_name" if cluster and "upload_tier_lag" in row and len(value) <= 250:
            return "tiers", {"cluster": cluster, "topic": value}
        case "subject" if cluster and row.get("domain") and len(value) <= 250:
            return "decisions", {
                "domain": row["domain"], "cluster": cluster, "subject": value
            }  # fmt: skip
    return None
