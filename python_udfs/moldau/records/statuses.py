"""The outcome of decoding one record, as a small number and as text."""

from __future__ import annotations

OK = 0
OK_TRAILING = 1
TOMBSTONE = 2
UNKNOWN_TYPE = 3
UNKNOWN_VERSION = 4
BAD_KEY = 5
BAD_VALUE = 6

STATUS_NAMES: tuple[str, ...] = (
    "ok",
    "ok_trailing",
    "tombstone",
    "unknown_type",
    "unknown_version",
    "bad_key",
    "bad_value",
)
