"""Lines of `kafka-dump-log.sh` with a decoder: a record each, with its place in the log.

The lines of batches tell which records a reader of committed records is given, and `Dumping ...`
whose they are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from moldau.loading.inputs import Place
from moldau.loading.segments.log import partition_of
from moldau.loading.segments.transactions import Transactions
from moldau.loading.tools.printed import (
    DELETE,
    OLD,
    TOPICS,
    UNDECODED,
    Unsuited,
    family_of_printed,
)
from moldau.records.families import REMOTE_LOG_METADATA, family_of
from moldau.records.printed_json import key_of, remote_log_value, value_of

_RECORD = re.compile(
    r"(?:\| )?offset: (?P<offset>\d+) (?:(?P<type>\w+): (?P<ms>-?\d+) )?"
    r"keySize: (?P<key_size>-?\d+) valueSize: (?P<value_size>-?\d+) .*?"
    r"(?:headerKeys: \[(?P<headers>.*?)\] ?)(?P<rest>.*)"
)
_BATCH = re.compile(
    r"baseOffset: (\d+) lastOffset: \d+ count: (\d+) .*?producerId: (-?\d+) .*?"
    r"isTransactional: (true|false) isControl: (true|false)"
)
_MARKER = re.compile(r"endTxnMarker: (COMMIT|ABORT)")
_PAYLOAD = re.compile(r"\s*payload: ")
_DECODER = json.JSONDecoder()


class Dumped:
    """Reads lines of kafka-dump-log.sh; what stands above a record tells whose it is."""

    def __init__(self, place: Place) -> None:
        self.others = 0
        self.has_batches = self.has_records = False
        self._place = place
        self._transactions: dict[tuple[str | None, int], Transactions] = {}
        self._begin()

    def _begin(self) -> None:
        self._at: tuple[str | None, int] = (self._place.topic, self._place.partition or 0)
        self._producer: int | None = None
        self._is_control = False

    def look_at(self, lines: Iterator[tuple[int, str | None]]) -> None:
        """Learn which transactions were aborted or are open."""
        for _, line in lines:
            if line is None or self._is_around(line):
                continue
            found = _RECORD.match(line)
            self.has_records |= found is not None
            if found is None or self._producer is None:
                continue
            known = self._transactions.setdefault(self._at, Transactions())
            offset = int(found["offset"])
            if not self._is_control:
                known.begin(self._producer, offset)
            elif marker := _MARKER.match(found["rest"]):
                known.end(self._producer, offset, is_abort=marker[1] == "ABORT")
        self._begin()

    def told(self) -> Iterator[str]:
        for (topic, partition), known in self._transactions.items():
            yield from known.told(f"{topic or 'the log'}-{partition}")

    def _is_around(self, line: str) -> bool:
        """Whether the line is about the records behind it."""
        if line.startswith("Dumping "):
            self._begin()
            topic, partition = partition_of(Path(line.removeprefix("Dumping ")).parent) or (None, 0)
            own = self._place
            self._at = (
                own.topic if own.topic is not None else topic,
                own.partition if own.partition is not None else partition,
            )
            return True
        if found := _BATCH.match(line):
            self._producer = int(found[3]) if found[4] == "true" else None
            self._is_control = found[5] == "true"
            self.has_batches |= found[2] != "0"
            return True
        return False

    def row(self, line: str | None, number: int) -> dict[str, Any] | None:
        if line is None:
            raise ValueError("the line is too long (`limits: line_bytes`)")
        if self._is_around(line) or not line.startswith(("| offset: ", "offset: ")):
            return None
        found = _RECORD.fullmatch(line)
        if not found:
            raise ValueError("it is no record as kafka-dump-log.sh prints it")
        offset = int(found["offset"])
        known = self._transactions.get(self._at)
        if self._is_control or (known and not known.is_given(self._producer, offset)):
            return None
        key, payload = _split(found["rest"], int(found["key_size"]) >= 0)
        size = int(found["value_size"])
        family = family_of_printed(self._at[0], key, payload)
        is_time = found["type"] in ("CreateTime", "LogAppendTime")
        key_bytes, value = _bytes_of(family, key, payload, size)
        self.others += value is not None and len(value) != size
        self.others += key_bytes is not None and len(key_bytes) != int(found["key_size"])
        topic = self._at[0]
        return {
            "topic_name": topic if topic and family_of(topic) == family else TOPICS[family],
            "partition_index": self._at[1],
            "log_offset": offset,
            "recorded_at_ms": int(found["ms"]) if is_time else -1,
            "timestamp_type": found["type"] if is_time else None,
            "record_key": key_bytes,
            "record_value": value,
            "headers": None,
        }


def _split(rest: str, has_key: bool) -> tuple[Any, str]:
    """The key as JSON, None without one, and what is printed of the value."""
    key = None
    if has_key:
        if rest.startswith(("key: offset_commit::", "key: group_metadata::", "key: transaction_")):
            raise Unsuited(OLD)
        if not rest.startswith("key: {"):
            raise Unsuited(UNDECODED)
        try:
            key, end = _DECODER.raw_decode(rest, len("key: "))
        except (json.JSONDecodeError, RecursionError):
            raise Unsuited(UNDECODED) from None
        rest = rest[end:]
    payload = _PAYLOAD.match(rest)
    if not payload:
        raise Unsuited(UNDECODED)
    return key, rest[payload.end() :]


def _bytes_of(family: str, key: Any, payload: str, size: int) -> tuple[bytes | None, bytes | None]:
    if family == REMOTE_LOG_METADATA:
        return None, None if payload == DELETE else remote_log_value(payload)
    key_bytes = key_of(family, key)
    if size < 0 or payload == DELETE:
        return key_bytes, None
    try:
        printed = json.loads(payload)
    except (json.JSONDecodeError, RecursionError):
        raise Unsuited(UNDECODED) from None
    return key_bytes, value_of(family, int(key["type"]), printed, size)
