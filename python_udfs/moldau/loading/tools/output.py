"""Output of one of Kafka's own tools as chunks of rows; its beginning tells which it is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import BinaryIO

from moldau.errors import MoldauError
from moldau.loading.checked_rows import Chunk, check_rows
from moldau.loading.encodings import MARK
from moldau.loading.inputs import Place
from moldau.loading.shapes import RECORDS
from moldau.loading.tools.dumped import Dumped
from moldau.loading.tools.formatters import Remote, formatted
from moldau.loading.tools.printed import UNDECODED, Unsuited
from moldau.settings.limits import Limits

Note = Callable[[str], None]
Open = Callable[[], BinaryIO]

_FORMATTED = re.compile(rb'\s*\{\s*"key":\s*\{\s*"type"')
_DUMPED = re.compile(rb"(Dumping \S|baseOffset: \d|\| offset: \d)")


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
        yield from formatted(stream(), file, limits, place)
        return
    output = Remote(place) if form == "remote" else Dumped(place)
    if isinstance(output, Dumped):
        output.look_at(_lines(stream(), limits))
        if output.has_batches and not output.has_records:
            raise MoldauError(f"nothing of {file} is taken: {UNDECODED}")
        for line in output.told():
            note(line)
    try:
        yield from check_rows(_lines(stream(), limits), file, RECORDS, output.row)
    except Unsuited as error:
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
            text = line.removeprefix(MARK) if number == 1 else line
            yield number, text.decode("utf-8", "replace").rstrip("\r\n")
            continue
        while (line := stream.readline(limits.line_bytes)) and not line.endswith(b"\n"):
            pass
        yield number, None
