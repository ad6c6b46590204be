"""Text is UTF-8, with its mark or without one, or the file is refused as a whole."""

from __future__ import annotations

import codecs
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from moldau.errors import MoldauError
from moldau.loading.read_lines import read_chunks
from moldau.loading.shapes import RECORDS, shapes

RECORD = {
    "topic": "t", "partition": 0, "offset": 0, "timestamp_ms": 5, "key_base64": None,
    "value_base64": "", "headers": [],
}  # fmt: skip


def lines(count: int = 3, **more: Any) -> str:
    rows = ({**RECORD, "offset": number, **more} for number in range(count))
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def read(content: bytes, path: Path, ending: str = ".jsonl", kind: str = "records") -> Any:
    file = path / f"rows{ending}"
    file.write_bytes(gzip.compress(content) if ending.endswith(".gz") else content)
    chunks = list(read_chunks(file, shapes()[kind]))
    refused = [(refusal.line, refusal.reason) for _, found in chunks for refusal in found]
    return sum(table.num_rows for table, _ in chunks), refused


@pytest.mark.parametrize("ending", [".jsonl", ".jsonl.gz"])
@pytest.mark.parametrize("text", [lines(), lines(1), "\r\n " + lines(), lines(topic="Größe 🦀")])
@pytest.mark.parametrize(
    ("encoding", "mark", "name"),
    [
        ("utf-16-le", b"", "UTF-16LE"),
        ("utf-16-be", b"", "UTF-16BE"),
        ("utf-16-le", codecs.BOM_UTF16_LE, "UTF-16LE"),
        ("utf-16-be", codecs.BOM_UTF16_BE, "UTF-16BE"),
        ("utf-32-le", b"", "UTF-32LE"),
        ("utf-32-be", b"", "UTF-32BE"),
        ("utf-32-le", codecs.BOM_UTF32_LE, "UTF-32LE"),
        ("utf-32-be", codecs.BOM_UTF32_BE, "UTF-32BE"),
    ],
)
def test_wide_letters_are_refused_as_a_whole_by_name(
    encoding: str, mark: bytes, name: str, text: str, ending: str, tmp_path: Path
) -> None:
    with pytest.raises(MoldauError, match=f"is {name}; moldau reads UTF-8"):
        read(mark + text.encode(encoding), tmp_path, ending)


@pytest.mark.parametrize("ending", [".jsonl", ".jsonl.gz"])
def test_utf8_is_read_with_its_mark_and_without(ending: str, tmp_path: Path) -> None:
    for text in (lines(), lines(topic="Größe 🦀"), lines(headers=[{"key": "é"}]), ""):
        rows = text.count("\n")
        marked = codecs.BOM_UTF8 + text.encode()
        assert read(text.encode(), tmp_path, ending) == (rows, [])
        assert read(marked, tmp_path, ending) == (rows, [])
        # files that were put together have it in the middle, too
        assert read(marked * 2, tmp_path, ending) == (2 * rows, [])


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-be"])
def test_a_file_that_goes_on_in_wide_letters_is_refused(encoding: str, tmp_path: Path) -> None:
    """As `>>` of another shell leaves it."""
    mixed = lines(2).encode() + lines(2).encode(encoding)
    with pytest.raises(MoldauError, match=f"is {encoding[:6].upper()} from line 3 on"):
        read(mixed, tmp_path)


@pytest.mark.parametrize(
    ("encoding", "text", "name"),
    [
        ("latin-1", "Größe", r"ISO 8859-1 \(latin-1\) or another 8-bit encoding"),
        ("cp1252", "€ 5", "Windows-1252 or another 8-bit encoding"),
        ("cp1252", "“quoted”", "Windows-1252"),
        ("koi8-r", "группа", "line 1 reads as"),
    ],
)
def test_letters_of_one_byte_are_refused_as_a_whole(
    encoding: str, text: str, name: str, tmp_path: Path
) -> None:
    for content in (lines(topic=text), lines(timestamp_type=text), lines(headers=[text])):
        with pytest.raises(MoldauError, match=name):
            read(content.encode(encoding), tmp_path)
    joins = {"request_id": "r", "group_id": text, "member_id": "m", "received_at_ms": 5}
    with pytest.raises(MoldauError, match=name):
        read(json.dumps(joins, ensure_ascii=False).encode(encoding), tmp_path, kind="classic_joins")


def test_a_damaged_line_of_utf8_is_refused_alone(tmp_path: Path) -> None:
    good, said = lines(2).encode(), "the line is not UTF-8"
    for damaged in (
        b'{"topic": "\xff"}\n',  # no good line in any encoding
        good.replace(b'"value_base64": ""', b'"value_base64": "\xe1"').split(b"\n")[0] + b"\n",
    ):
        assert read(good + damaged, tmp_path) == (2, [(3, said)])
    # another line has letters of UTF-8, so this one is torn
    torn = lines(1, topic="é").encode()
    assert read(lines(1, topic="ö").encode() + torn.replace(b"\xa9", b""), tmp_path) == (
        1,
        [(2, said)],
    )
    zeros = b"\0" * 512  # as a crash leaves a file
    rows, [(line, reason)] = read(good + zeros, tmp_path)
    assert (rows, line) == (2, 3)
    assert reason.startswith("the line is not JSON")
    rows, [(line, _)] = read(zeros + b"\n" + good, tmp_path)
    assert (rows, line) == (2, 1)


def test_an_ignored_field_is_text_of_the_file_like_any_other(tmp_path: Path) -> None:
    with pytest.raises(MoldauError, match="latin-1"):
        read(lines(note="Größe").encode("latin-1"), tmp_path)
    assert not RECORDS.needs_lines
