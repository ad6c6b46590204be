"""Recognize an encoding other than UTF-8: JSON begins with two ASCII characters (RFC 4627)."""

from __future__ import annotations

import codecs
import contextlib

MARK = codecs.BOM_UTF8
# the longer marks first: that of UTF-32LE begins with that of UTF-16LE
_MARKS = (
    (codecs.BOM_UTF32_LE, "UTF-32LE"),
    (codecs.BOM_UTF32_BE, "UTF-32BE"),
    (codecs.BOM_UTF16_LE, "UTF-16LE"),
    (codecs.BOM_UTF16_BE, "UTF-16BE"),
)
# bytes of a letter, and which of them an ASCII letter fills
_WIDE = (("UTF-32LE", 4, 0), ("UTF-32BE", 4, 3), ("UTF-16LE", 2, 0), ("UTF-16BE", 2, 1))
_LETTERS = frozenset((*b"\t\n\r", *range(0x20, 0x7F)))  # bytes that are no text may be smaller


def wide_encoding(text: bytes) -> str | None:
    """The encoding of a text whose letters have two or four bytes, told by its first ones."""
    for mark, name in _MARKS:
        if text.startswith(mark):
            return name
    for name, width, filled in _WIDE:
        letters = text[: 2 * width]
        if len(letters) == 2 * width and all(
            byte in _LETTERS if index % width == filled else byte == 0
            for index, byte in enumerate(letters)
        ):
            return name
    return None


def wide_line(line: bytes) -> str | None:
    """The same of a line that was cut out at the byte of its end: which half is lost."""
    told = wide_encoding(line.strip(b"\0 \t\r\n"))
    return told and told[: len("UTF-16")]


def narrow_encoding(line: bytes) -> tuple[str, str]:
    """An encoding of one byte a letter in which the line may be, and its text in it."""
    if any(128 <= byte < 160 for byte in line):
        with contextlib.suppress(UnicodeDecodeError):
            return "Windows-1252", line.decode("cp1252")
    return "ISO 8859-1 (latin-1)", line.decode("latin-1")


def has_wide_letters(line: bytes) -> bool:
    """Whether it has letters as UTF-8 writes them, whatever else there is."""
    return not line.isascii() and not line.decode("utf-8", "ignore").isascii()
