"""Elements of one JSON array, or values one behind the other, however many there are."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from typing import Any, BinaryIO

_PIECE = 1024 * 1024
_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


class Broken(ValueError):
    """What is behind it cannot be told apart any more; `number` of the element, from 1."""

    def __init__(self, number: int, reason: str) -> None:
        super().__init__(reason)
        self.number = number


def elements(stream: BinaryIO, most_bytes: int) -> Iterator[tuple[int, Any]]:
    """Each element with its number from 1. Broken if it is no array, or one is longer than that."""
    text = _Text(stream)
    text.expect("[", 0)
    number = 0
    if text.next() == "]":
        return
    while True:
        number += 1
        yield number, text.value(number, most_bytes)
        if text.expect(",]", number) == "]":
            break
    if text.next():
        raise Broken(number, "something follows behind the array")


def values(stream: BinaryIO, most_bytes: int, last: str) -> Iterator[tuple[int, Any]]:
    """Values that stand one behind the other, with or without white space between; likewise.

    Where `last` stands they end, too.
    """
    text = _Text(stream)
    number = 0
    while text.next() and not text.begins(last):
        number += 1
        yield number, text.value(number, most_bytes)


class _Text:
    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._decode = codecs.getincrementaldecoder("utf-8-sig")().decode
        self._text, self._at, self._is_all = "", 0, False

    def next(self) -> str:
        """The character that is not white space, which stays; empty at the end."""
        while True:
            found = _SPACE.match(self._text, self._at)
            self._at = found.end() if found else self._at
            if self._at < len(self._text) or not self._more():
                return self._text[self._at : self._at + 1]

    def begins(self, words: str) -> bool:
        while len(self._text) - self._at < len(words) and self._more():
            pass
        return self._text.startswith(words, self._at)

    def expect(self, letters: str, number: int) -> str:
        found = self.next()
        if not found or found not in letters:
            what = "the file ends within the array" if not found else f"{found!r} is not expected"
            raise Broken(number + 1, f"{what}: {' or '.join(letters)} is")
        self._at += 1
        return found

    def value(self, number: int, most_bytes: int) -> Any:
        self.next()
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                said = error.msg
            except RecursionError:
                raise Broken(number, "it is nested too deep") from None
            else:
                if end < len(self._text) or self._is_all:  # a number may go on
                    self._at = end
                    return value
                said = ""
            if len(self._text) - self._at > most_bytes:
                told = f"it is not JSON ({said})" if said else "it is too long"
                raise Broken(number, f"{told}, or longer than {most_bytes} (`limits: line_bytes`)")
            if not self._more():
                if said:
                    raise Broken(number, f"it is not JSON ({said})")
                self._is_all = True

    def _more(self) -> bool:
        block = self._stream.read(max(_PIECE, len(self._text) - self._at))
        try:
            more = self._decode(block, final=not block)
        except UnicodeDecodeError:
            raise Broken(0, "the array is not UTF-8") from None
        self._text, self._at = self._text[self._at :] + more, 0
        return bool(block)
