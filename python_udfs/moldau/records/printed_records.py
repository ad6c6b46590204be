"""UTF-8 and uuids as Java shows them.

Java's ``new String(bytes, UTF_8)`` replaces every malformed sequence by U+FFFD. Python's
``errors="replace"`` does the same, except that Java takes an encoded surrogate (``ED A0..BF xx``)
for one malformed character where Python sees two or three.
"""

from __future__ import annotations

import base64
import codecs

import pyarrow as pa

_SURROGATE_LEAD = 0xED
_HANDLER = "moldau.java_replace"


def _java_replace(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    data, start = error.object, error.start
    if data[start] == _SURROGATE_LEAD and data[start + 1 : start + 2] >= b"\xa0":
        second = data[start + 1]
        if second <= 0xBF:
            third = data[start + 2 : start + 3]
            return "\ufffd", start + 2 + (b"\x80" <= third <= b"\xbf")
    return "\ufffd", error.end


codecs.register_error(_HANDLER, _java_replace)


def java_utf8(data: bytes) -> str:
    """Decode as Java's String constructor does."""
    return data.decode("utf-8", _HANDLER)


def to_text(data: pa.Array) -> pa.Array:
    """Binary to string; only an array with malformed bytes takes the slow way."""
    try:
        return data.cast(pa.string())
    except pa.ArrowInvalid:
        return pa.array(
            [None if b is None else java_utf8(b) for b in data.to_pylist()], pa.string()
        )


def uuid_text(data: bytes) -> str:
    """Kafka's text form: URL-safe base64 of the 16 bytes without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")
