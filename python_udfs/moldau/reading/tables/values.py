"""Values of tables as text, exact for programs."""

from __future__ import annotations

import json
import sys
from base64 import b64encode
from collections.abc import Sequence
from datetime import UTC, date, datetime
from math import isfinite
from typing import Any, TextIO

from moldau.escapes import is_obeyed


def plain(value: Any) -> Any:
    """A value as JSON has it: bytes as base64, times as ISO 8601 in UTC, exact numbers as text."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if isfinite(value) else str(value)
        case bytes() | bytearray() | memoryview():
            return b64encode(bytes(value)).decode("ascii")
        case datetime():
            moment = value if value.tzinfo is None else value.astimezone(UTC)
            return moment.isoformat().replace("+00:00", "Z")
        case date():
            return value.isoformat()
        case dict():
            return {str(plain(key)): plain(item) for key, item in value.items()}
        case tuple() if hasattr(value, "asDict"):  # a struct from Spark
            return plain(value.asDict())
        case list() | tuple() | set():
            return [plain(item) for item in value]
        case _:
            return str(value)


def to_json(value: Any, stream: TextIO | None = None, indent: int | None = None) -> str:
    """JSON, in one line without `indent`; letters stay readable if the stream can carry them."""
    encoding = (getattr(stream or sys.stdout, "encoding", None) or "utf-8").lower()
    text = json.dumps(plain(value), ensure_ascii=not encoding.startswith("utf"), indent=indent)
    if not _is_encodable(text):  # half a surrogate pair has no UTF-8
        text = json.dumps(plain(value), indent=indent)
    # a terminal obeys more than JSON escapes, which may have any character as an escape
    return text if text.isprintable() else "".join(map(_escaped_in_json, text))


def object_keys(columns: Sequence[str]) -> list[str]:
    """The names of columns as keys of an object, each once: a second `a` is `a_1`, as in DuckDB."""
    keys: dict[str, None] = {}
    for column in columns:
        key, again = column, 0
        while key in keys or (again and key in columns):
            again += 1
            key = f"{column}_{again}"
        keys[key] = None
    return list(keys)


def csv_cell(value: Any) -> Any:
    """A CSV cell: null is empty, lists and maps are JSON."""
    value = plain(value)
    if isinstance(value, bool):
        return str(value).lower()
    return to_json(value) if isinstance(value, dict | list) else value


def _escaped_in_json(letter: str) -> str:
    if not is_obeyed(letter) or letter == "\n":  # between lines: in a text it is escaped
        return letter
    return f"\\u{ord(letter):04x}" if letter.isascii() else json.dumps(letter)[1:-1]


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
