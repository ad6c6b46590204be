"""Find a secret in a text in whatever form it stands there: as it is, percent-encoded, in the
escapes of JSON, HTML and Python, in base64 at any alignment, in hex digits, or one in another.

The forms of a secret cannot be listed, for each encoder has its own. So the text is decoded,
repeatedly, and each decoded byte knows the characters that it came from.
"""

from __future__ import annotations

import html
import re
from array import array
from base64 import b64decode
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

SHORTEST = 6
"""Letters of a secret that is found anywhere; a shorter one, of 4 at least, is found as a word."""
SHORTEST_WORD = 4
_DEEPEST = 3  # decoded so often: base64 in JSON in a percent-encoded query
_LONGEST = 65_536  # letters that are looked through; what follows is not told
_PERHAPS_CUT = 1_000  # a text of so many letters may end in the middle of a secret
_STARS = "***"

_PERCENT = re.compile(rb"%([0-9A-Fa-f]{2})")
_ENTITY = re.compile(rb"&(#\d{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z]{2,8});")
_BACKSLASH = re.compile(
    rb"\\+u([0-9A-Fa-f]{4})(?:\\+u([Dd][C-Fc-f][0-9A-Fa-f]{2}))?|\\x([0-9A-Fa-f]{2})"
    rb"|\\([nrt\"'/\\])"
)
_FOLD = re.compile(rb"[ \t]*\r?\n[ \t]*")
_LETTERS = {b"n": b"\n", b"r": b"\r", b"t": b"\t"}
_BASE64 = re.compile(rb"(?:[A-Za-z0-9+/_-]{4,}\s{0,4}){1,}={0,2}")
_HEX = re.compile(rb"(?:[0-9A-Fa-f]{2}){6,}")
_BASIC = re.compile(rb"\b[Bb][Aa][Ss][Ii][Cc][\s+:]+([A-Za-z0-9+/_-]{4,}={0,2})")
_BORDER = re.compile(rb"[A-Za-z0-9]{2}")  # that is none: the word goes on
_URL_SAFE = bytes.maketrans(b"-_", b"+/")


@dataclass(frozen=True)
class _View:
    """Bytes, and for each the letters of the text that it comes from: from `start` up to `end`."""

    content: bytes
    start: array[int]
    end: array[int]


Span = tuple[int, int]


def masked(secrets: Collection[str], text: str) -> str:
    """The text with `***` in place of each secret, of the start of one at the text's end, and of
    what follows `Basic ` if it is a user and a password."""
    if len(text) > _LONGEST:
        text = text[:_LONGEST]
    wanted = {form for secret in secrets for form in _as_bytes(secret)}
    spans = sorted(
        span for view in _views(_plain(text), _DEEPEST) for span in _found(view, wanted, len(text))
    )
    told, at = "", 0
    for start, end in _merged(spans):
        told += text[at:start] + _STARS
        at = end
    return told + text[at:]


def _as_bytes(secret: str) -> set[bytes]:
    """As UTF-8, as Latin-1 (headers have it), and as either is shown that is read as the other."""
    forms = {secret.encode(errors="surrogatepass")}
    if not secret.isascii():
        forms.add(secret.encode(errors="replace").decode("latin-1").encode())
        latin = secret.encode("latin-1", "replace")
        forms |= {latin, latin.decode(errors="replace").encode()}
    return {form for form in forms if len(form) >= SHORTEST_WORD}


def _plain(text: str) -> _View:
    content, start = bytearray(), array("L")
    for place, letter in enumerate(text):
        encoded = letter.encode(errors="surrogatepass")
        content += encoded
        start.extend([place] * len(encoded))
    return _View(bytes(content), start, array("L", (place + 1 for place in start)))


def _views(view: _View, depth: int) -> Iterator[_View]:
    yield view
    if depth:
        for decode in (_unescaped, _form, _unfolded, _unbased, _unhexed):
            for decoded in decode(view):
                yield from _views(decoded, depth - 1)


def _unescaped(view: _View) -> Iterator[_View]:
    """One kind at a time: what looks like another may be a letter of the secret."""
    if b"%" in view.content:
        yield _replaced(view, _PERCENT, _of_percent)
    if b"\\" in view.content:
        yield _replaced(view, _BACKSLASH, _of_backslash)
    if b"&" in view.content:
        yield _replaced(view, _ENTITY, _of_entity)


def _form(view: _View) -> Iterator[_View]:
    """Of forms and queries: `+` is a space."""
    if b"+" in view.content:
        spaced = _View(view.content.replace(b"+", b" "), view.start, view.end)
        yield _replaced(spaced, _PERCENT, _of_percent)


def _unfolded(view: _View) -> Iterator[_View]:
    """Lines that were folded, or wrapped, as one."""
    if b"\n" in view.content:
        yield _replaced(view, _FOLD, lambda _: b"")


def _of_percent(found: re.Match[bytes]) -> bytes:
    return bytes.fromhex(found[1].decode())


def _of_entity(found: re.Match[bytes]) -> bytes:
    return html.unescape(found[0].decode()).encode(errors="surrogatepass")


def _of_backslash(found: re.Match[bytes]) -> bytes:
    unit, low, byte, letter = found.groups()
    if byte:
        return bytes.fromhex(byte.decode())
    if unit:
        units = bytes.fromhex((unit + (low or b"")).decode())
        return units.decode("utf-16-be", "surrogatepass").encode(errors="surrogatepass")
    return _LETTERS.get(letter, letter)


def _replaced(
    view: _View, pattern: re.Pattern[bytes], meant: Callable[[re.Match[bytes]], bytes]
) -> _View:
    content, start, end, at = bytearray(), array("L"), array("L"), 0
    for found in pattern.finditer(view.content):
        new = meant(found)
        content += view.content[at : found.start()] + new
        for whole, old, place in (
            (start, view.start, found.start()),
            (end, view.end, found.end() - 1),
        ):
            whole.extend(old[at : found.start()])
            whole.extend([old[place]] * len(new))
        at = found.end()
    content += view.content[at:]
    start.extend(view.start[at:])
    end.extend(view.end[at:])
    return _View(bytes(content), start, end)


def _unbased(view: _View) -> Iterator[_View]:
    """What base64 stands for, whichever of its letters is the first of four."""
    for found in _BASE64.finditer(view.content):
        places = [
            place
            for place in range(found.start(), found.end())
            if not view.content[place : place + 1].isspace()
        ]
        run = bytes(view.content[place] for place in places)
        letters = run.rstrip(b"=").translate(_URL_SAFE)
        for phase in range(4):
            count = len(letters) - phase
            count -= count % 4 == 1
            if count < SHORTEST_WORD:
                continue
            part = letters[phase : phase + count]
            content = b64decode(part + b"=" * (-count % 4))
            first = (phase + at * 8 // 6 for at in range(len(content)))
            last = [phase + (at * 8 + 7) // 6 for at in range(len(content))]
            if phase + count == len(letters):
                last[-1] = len(run) - 1  # with what fills it up
            yield _View(
                content,
                array("L", (view.start[places[at]] for at in first)),
                array("L", (view.end[places[at]] for at in last)),
            )


def _unhexed(view: _View) -> Iterator[_View]:
    for found in _HEX.finditer(view.content):
        pairs = range(found.start(), found.end(), 2)
        yield _View(
            bytes.fromhex(found[0].decode()),
            array("L", (view.start[place] for place in pairs)),
            array("L", (view.end[place + 1] for place in pairs)),
        )


def _found(view: _View, wanted: Collection[bytes], length: int) -> Iterator[Span]:
    content = view.content
    for secret in wanted:
        at = content.find(secret)
        while at >= 0:
            after = at + len(secret)
            if len(secret) >= SHORTEST or not (
                _BORDER.search(content[max(at - 1, 0) : at + 1])
                or _BORDER.search(content[after - 1 : after + 1])
            ):
                yield view.start[at], view.end[after - 1]
            at = content.find(secret, at + 1)
    if length >= _PERHAPS_CUT and content and view.end[-1] == length:
        for secret in wanted:
            for count in range(min(len(secret) - 1, len(content)), SHORTEST - 1, -1):
                if content.endswith(secret[:count]):
                    yield view.start[-count], length
                    break
    for found in _BASIC.finditer(content):
        if b":" in _decoded(found[1]):
            yield view.start[found.start(1)], view.end[found.end(1) - 1]


def _decoded(letters: bytes) -> bytes:
    letters = letters.rstrip(b"=").translate(_URL_SAFE)
    letters = letters[: len(letters) - (len(letters) % 4 == 1)]
    return b64decode(letters + b"=" * (-len(letters) % 4))


def _merged(spans: list[Span]) -> Iterator[Span]:
    """Those that overlap as one."""
    if not spans:
        return
    start, end = spans[0]
    for next_start, next_end in spans[1:]:
        if next_start < end:
            end = max(end, next_end)
        else:
            yield start, end
            start, end = next_start, next_end
    yield start, end
