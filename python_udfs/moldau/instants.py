"""Instants: Unix milliseconds inside, ISO 8601 in UTC for people."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

from moldau.errors import MoldauError

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# 9999-12-31T23:59:59.999Z: larger numbers are microseconds by mistake, or cannot be printed
LAST_MS = 253_402_300_799_999


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def parse_instant(text: str) -> int:
    """Unix milliseconds of `text`: whole milliseconds, or ISO 8601 (without a zone: UTC).

    Anything else, and instants before 1970 or after 9999, are a MoldauError. Fractions of a
    millisecond are cut off.
    """
    stripped = text.strip()
    try:
        milliseconds = _from_digits(stripped) if _is_integer(stripped) else _from_iso(stripped)
    except (ValueError, OverflowError):
        raise _refusal(text) from None
    if not 0 <= milliseconds <= LAST_MS:
        raise _refusal(text)
    return milliseconds


def format_instant(milliseconds: int) -> str:
    """ISO 8601 in UTC, with a fraction only where there is one; out of range: the bare number."""
    try:
        moment = _EPOCH + timedelta(milliseconds=milliseconds)
    except OverflowError:
        return f"{milliseconds} ms"
    timespec = "milliseconds" if moment.microsecond else "seconds"
    return moment.isoformat(timespec=timespec).replace("+00:00", "Z")


def _is_integer(text: str) -> bool:
    return text.isascii() and text.removeprefix("-").isdigit()


def _from_digits(text: str) -> int:
    if len(text) > 20:
        raise ValueError(text)
    return int(text)


def _from_iso(text: str) -> int:
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - _EPOCH) // timedelta(milliseconds=1)


def _refusal(text: str) -> MoldauError:
    shown = text if len(text) <= 60 else text[:60] + "..."
    return MoldauError(
        f"{shown!r} is not an instant: give Unix milliseconds between 0 and {LAST_MS}, "
        "or ISO 8601 such as 2026-09-01T12:00:00Z (without a zone it is UTC)"
    )
