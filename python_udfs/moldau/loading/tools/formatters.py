"""What formatters of the console consumer print.

The JSON of one record stands behind that of another, without places and times: their order stands
for their offsets. `RemoteLogMetadataFormatter` prints a line a record, with its place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, BinaryIO

from moldau.loading.checked_rows import Chunk, check_until_broken
from moldau.loading.inputs import Place
from moldau.loading.json_arrays import values
from moldau.loading.shapes import RECORDS
from moldau.loading.tools.printed import DELETE, TOPICS, family_of_printed, placed
from moldau.records.families import REMOTE_LOG_METADATA
from moldau.records.printed_json import key_of, remote_log_value, value_of
from moldau.settings.limits import Limits

_REMOTE_LINE = re.compile(r"partition: (\d+), offset: (\d+), value: (.*)")
_LAST = "Processed a total of "  # messages, as the consumer says on stderr


class Remote:
    """Reads lines of RemoteLogMetadataFormatter."""

    others = 0

    def __init__(self, place: Place) -> None:
        self._topic = place.topic or TOPICS[REMOTE_LOG_METADATA]

    def row(self, line: str | None, number: int) -> dict[str, Any] | None:
        found = _REMOTE_LINE.fullmatch(line or "")
        if not found:
            if line is not None and not line.startswith("partition: "):
                return None  # what the consumer says of itself
            raise ValueError("it is no record as RemoteLogMetadataFormatter prints it")
        value = None if found[3] == DELETE else remote_log_value(found[3])
        return placed(self._topic, int(found[1]), int(found[2]), None, value)


def formatted(stream: BinaryIO, file: str, limits: Limits, place: Place) -> Iterator[Chunk]:
    def row(printed: Any, number: int) -> dict[str, Any]:
        key = printed.get("key") if isinstance(printed, dict) else None
        if not isinstance(key, dict) or "value" not in printed:
            raise ValueError("it is no record as a formatter prints it")
        family = family_of_printed(place.topic, key, "")
        value = printed["value"]
        key_bytes = key_of(family, key)
        bytes_of_value = None if value is None else value_of(family, int(key["type"]), value)
        topic = place.topic or TOPICS[family]
        return placed(topic, place.partition or 0, number - 1, key_bytes, bytes_of_value)

    rows = values(stream, limits.line_bytes, _LAST)
    yield from check_until_broken(rows, file, RECORDS, row)
