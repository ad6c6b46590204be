"""What Kafka's own tools print of records, as rows.

* `kafka-dump-log.sh` with a decoder: a line a record, with its place in the log; the lines of
  batches tell which records a reader of committed records is given, and `Dumping …` whose they are.
* The JSON of the console consumer's formatters, one object behind the other, and the lines of
  `RemoteLogMetadataFormatter`. The JSON has no place and no time: its order stands for the place.

Records are written anew as bytes (`records.printed_json`), and are decoded like any others.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from moldau.errors import MoldauError
from moldau.loading.checked_rows import Chunk, check_rows, with_lines
from moldau.loading.inputs import Place
from moldau.loading.json_arrays import Broken, values
from moldau.loading.segments.log import partition_of
from moldau.loading.segments.transactions import Transactions
from moldau.loading.shapes import RECORDS
from moldau.records.families import (
    CONSUMER_OFFSETS,
    REMOTE_LOG_METADATA,
    SHARE_GROUP_STATE,
    TRANSACTION_STATE,
    family_of,
)
from moldau.records.printed_json import key_of, remote_log_value, value_of
from moldau.sessions.brought import Refusal
from moldau.settings.limits import Limits

Note = Callable[[str], None]
Open = Callable[[], BinaryIO]

_TOPICS = {
    family: f"__{family}"
    for family in (CONSUMER_OFFSETS, REMOTE_LOG_METADATA, SHARE_GROUP_STATE, TRANSACTION_STATE)
}
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
_REMOTE_LINE = re.compile(r"partition: (\d+), offset: (\d+), value: (.*)")
_DELETE = "<DELETE>"
_LAST = "Processed a total of "  # messages, as the consumer says on stderr
_FORMATTED = re.compile(rb'\s*\{\s*"key":\s*\{\s*"type"')
_DUMPED = re.compile(rb"(Dumping \S|baseOffset: \d|\| offset: \d)")
_UNDECODED = (
    "it was printed without a decoder: run kafka-dump-log.sh with --offsets-decoder, "
    "--remote-log-metadata-decoder, --transaction-log-decoder or --share-group-state-decoder, or "
    "load the segment itself"
)
_OLD = (
    "it was printed by a Kafka before 4.0, which leaves fields of records out: load the segment "
    "itself"
)
_DECODER = json.JSONDecoder()


class _Unsuited(Exception):
    """Why nothing of the output can be taken."""


def form_of(beginning: bytes) -> str | None:
    """`dumped`, `formatted` or `remote`; None = it is none of these."""
    if _DUMPED.match(beginning):
        return "dumped"
    if _FORMATTED.match(beginning):
        return "formatted"
    return "remote" if re.match(rb"partition: \d+, offset: \d+, value: Remote", beginning) else None


def tool_chunks(
    form: str, stream: Open, file: str, limits: Limits, note: Note, place: Place
) -> Iterator[Chunk]:
    """Rows of RECORDS plus `line`; of what is `formatted` a line is an object, counted from 1.

    `stream` opens the file anew. `note` is told what the output lacks.
    """
    if form == "formatted":
        note(
            f"{file} is the output of a formatter, without offsets and times: the order of its "
            "records stands for their offsets; give it a cluster of its own, for they are not those"
            " of the log"
        )
        yield from _formatted(stream(), file, limits, place)
        return
    output = _Remote(place) if form == "remote" else _Dumped(place)
    if isinstance(output, _Dumped):
        output.look_at(_lines(stream(), limits))
        if output.has_batches and not output.has_records:
            raise MoldauError(f"nothing of {file} is taken: {_UNDECODED}")
        for line in output.told():
            note(line)
    try:
        yield from check_rows(_lines(stream(), limits), file, RECORDS, output.row)
    except _Unsuited as error:
        raise MoldauError(f"nothing of {file} is taken: {error}") from None
    if output.others:
        note(
            f"{output.others} records of {file} have another size than in their log: the text "
            "lacks what Kafka does not print"
        )


def _lines(stream: BinaryIO, limits: Limits) -> Iterator[tuple[int, str | None]]:
    """Lines with their numbers from 1; None = it is too long."""
    number = 0
    while line := stream.readline(limits.line_bytes):
        number += 1
        if line.endswith(b"\n") or len(line) < limits.line_bytes:
            yield number, line.decode("utf-8", "replace").rstrip("\r\n")
            continue
        while (line := stream.readline(limits.line_bytes)) and not line.endswith(b"\n"):
            pass
        yield number, None


class _Dumped:
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
        family = _family(self._at[0], key, payload)
        is_time = found["type"] in ("CreateTime", "LogAppendTime")
        key_bytes, value = _bytes_of(family, key, payload, size)
        self.others += value is not None and len(value) != size
        self.others += key_bytes is not None and len(key_bytes) != int(found["key_size"])
        topic = self._at[0]
        return {
            "topic_name": topic if topic and family_of(topic) == family else _TOPICS[family],
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
            raise _Unsuited(_OLD)
        if not rest.startswith("key: {"):
            raise _Unsuited(_UNDECODED)
        try:
            key, end = _DECODER.raw_decode(rest, len("key: "))
        except (json.JSONDecodeError, RecursionError):
            raise _Unsuited(_UNDECODED) from None
        rest = rest[end:]
    payload = _PAYLOAD.match(rest)
    if not payload:
        raise _Unsuited(_UNDECODED)
    return key, rest[payload.end() :]


def _bytes_of(family: str, key: Any, payload: str, size: int) -> tuple[bytes | None, bytes | None]:
    if family == REMOTE_LOG_METADATA:
        return None, None if payload == _DELETE else remote_log_value(payload)
    key_bytes = key_of(family, key)
    if size < 0 or payload == _DELETE:
        return key_bytes, None
    try:
        printed = json.loads(payload)
    except (json.JSONDecodeError, RecursionError):
        raise _Unsuited(_UNDECODED) from None
    return key_bytes, value_of(family, int(key["type"]), printed, size)


def _family(topic: str | None, key: Any, payload: str) -> str:
    """By the topic if that is one of Kafka's own, else by what is said."""
    if topic and (family := family_of(topic)) in _TOPICS:
        return str(family)
    if key is None:
        if payload.startswith("Remote"):
            return REMOTE_LOG_METADATA
        raise _Unsuited(_UNDECODED)
    data = key.get("data") if isinstance(key, dict) else None
    names = set(data) if isinstance(data, dict) else set()
    if "transactionalId" in names:
        return TRANSACTION_STATE
    return SHARE_GROUP_STATE if "topicId" in names else CONSUMER_OFFSETS


class _Remote:
    """Reads lines of RemoteLogMetadataFormatter."""

    others = 0

    def __init__(self, place: Place) -> None:
        self._topic = place.topic or _TOPICS[REMOTE_LOG_METADATA]

    def row(self, line: str | None, number: int) -> dict[str, Any] | None:
        found = _REMOTE_LINE.fullmatch(line or "")
        if not found:
            if line is not None and not line.startswith("partition: "):
                return None  # what the consumer says of itself
            raise ValueError("it is no record as RemoteLogMetadataFormatter prints it")
        value = None if found[3] == _DELETE else remote_log_value(found[3])
        return _placed(self._topic, int(found[1]), int(found[2]), None, value)


def _formatted(stream: BinaryIO, file: str, limits: Limits, place: Place) -> Iterator[Chunk]:
    broken: list[Refusal] = []

    def rows() -> Iterator[tuple[int, Any]]:
        try:
            yield from values(stream, limits.line_bytes, _LAST)
        except Broken as error:
            told = f"{error}; nothing from here on is read"
            broken.append(Refusal(file, error.number, told))

    def row(printed: Any, number: int) -> dict[str, Any]:
        key = printed.get("key") if isinstance(printed, dict) else None
        if not isinstance(key, dict) or "value" not in printed:
            raise ValueError("it is no record as a formatter prints it")
        family = _family(place.topic, key, "")
        value = printed["value"]
        key_bytes = key_of(family, key)
        bytes_of_value = None if value is None else value_of(family, int(key["type"]), value)
        topic = place.topic or _TOPICS[family]
        return _placed(topic, place.partition or 0, number - 1, key_bytes, bytes_of_value)

    yield from check_rows(rows(), file, RECORDS, row)
    if broken:
        yield with_lines(RECORDS.schema.empty_table(), 1), broken


def _placed(
    topic: str, partition: int, offset: int, key: bytes | None, value: bytes | None
) -> dict[str, Any]:
    return {
        "topic_name": topic,
        "partition_index": partition,
        "log_offset": offset,
        "recorded_at_ms": -1,
        "timestamp_type": None,
        "record_key": key,
        "record_value": value,
        "headers": None,
    }
