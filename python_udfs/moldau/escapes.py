"""Texts from outside, escaped to be safe to print: a terminal obeys some characters."""

from __future__ import annotations

import unicodedata

_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\0": "\\0"}


def visible(text: str, width: int | None = None) -> str:
    """Text for one line: what does not print, or turns what is printed, as escapes; cut to `width`
    letters."""
    if text.isprintable() and (width is None or len(text) <= width):
        return text
    cut = text if width is None else text[: width + 1]
    shown = "".join(_ESCAPES.get(letter) or _letter(letter) for letter in cut)
    return shown if width is None or len(shown) <= width else shown[: width - 1] + "…"


def named(text: str, width: int | None = None) -> str:
    """A name as `visible` gives it; in quotes where nobody would see that it is there."""
    return visible(text, width) if text.strip() else f"'{visible(text, width)}'"


def is_obeyed(letter: str) -> bool:
    return unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Zl", "Zp")


def _letter(letter: str) -> str:
    if is_obeyed(letter):
        code = ord(letter)
        if code > 0xFFFF:
            return f"\\U{code:08x}"
        return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"
    return letter
