"""Files that hold no records that could be read: what they are, and what gives a file that does."""

from __future__ import annotations

import json
import re

from moldau.errors import MoldauError
from moldau.loading.encodings import wide_encoding
from moldau.loading.tools.output import form_of

_INSTEAD = (
    "take the records with `moldau dump --bootstrap-servers HOST:PORT --topic TOPIC --to "
    "FILE.jsonl.gz`, or load the segments of the log"
)
_BYTES = "keys and values of these topics are bytes, which it does not hold"
_OLD_FORMATTER = re.compile(
    rb"\[[^\n]*\]::(?:OffsetAndMetadata\(|\[?OffsetMetadata\[|GroupMetadata\(|NULL)"
)
_TEXT_OF_KCAT = re.compile(
    rb"% (?:Reached end of topic|Auto-selecting|Reading configuration)|Topic \S+ ?\[\d+\]|"
    rb"Message \(?key: |Key \(-?\d+ bytes\)"
)
_OLD_DUMP = re.compile(rb"Starting offset: \d|offset: \d+ position: ")

# what a file is whose name does not say it, by its first bytes
_FORMATS = {
    b"\x1f\x8b": "is gzip: call it {file}.gz",
    b"\x28\xb5\x2f\xfd": "is zstd: call it {file}.zst",
    b"PAR1": "is Parquet: call it {file}.parquet",
    b"PK\x03\x04": "is a zip archive: unzip it, and load what is in it",
    b"BZh": "is bzip2: bunzip2 it, and load what comes out",
    b"\xfd7zXZ\x00": "is xz: unxz it, and load what comes out",
}
_SPREAD = re.compile(rb"\{\s*\n\s*\"\w+\"\s*:")


def refuse_misnamed(beginning: bytes, file: str) -> None:
    """MoldauError if it is, by its beginning, of a format that its name does not say, or JSON whose
    objects stand over several lines (and in no array)."""
    for first, what in _FORMATS.items():
        if beginning.startswith(first):
            raise MoldauError(f"{file} {what.format(file=file)}")
    if _SPREAD.match(beginning):
        raise MoldauError(
            f"{file} has objects that go over several lines: an object a line is expected, or one "
            f"array: jq -c . {file} > NEW.jsonl"
        )


def refuse_foreign(beginning: bytes, file: str) -> None:
    """MoldauError if the file is known, by its beginning, not to hold bytes of records."""
    what = None
    line = beginning.lstrip().split(b"\n", 1)[0]
    if _is_of_kcat(line):
        what = f"is the output of kcat -J: {_BYTES}"
    elif _TEXT_OF_KCAT.match(line):
        what = f"is text of kcat: {_BYTES}"
    elif _OLD_FORMATTER.match(line):
        what = "is the text of a formatter before Kafka 4.0, which leaves fields out"
    elif _OLD_DUMP.match(line):
        what = "is the output of kafka-dump-log.sh before Kafka 2.0, which leaves fields out"
    elif _is_binary(line) and not (form_of(beginning) or wide_encoding(beginning)):
        what = (
            "holds bytes that are no text, as kafka-console-consumer.sh prints them without a "
            "formatter: where a record begins and ends is lost"
        )
    if what:
        raise MoldauError(f"{file} {what}; {_INSTEAD}")


def _is_of_kcat(line: bytes) -> bool:
    """Its objects begin like this: what comes behind may be cut off here."""
    if not line.startswith(b'{"topic":'):
        return False
    try:
        names = set(json.loads(line))
    except ValueError:
        names = set(re.findall(r'"(\w+)":', line.decode("utf-8", "replace")))
    return {"ts", "offset"} <= names and "value_base64" not in names


def _is_binary(line: bytes) -> bool:
    """Zeros alone are what a crash leaves."""
    return b"\0" in line and not line.startswith(b"{") and bool(line.strip(b"\0"))
