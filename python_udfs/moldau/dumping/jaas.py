"""The value of `sasl.jaas.config`: one login module and its options."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from moldau.errors import MoldauError

# as java.io.StreamTokenizer sees it in Kafka's JaasConfig
_TOKEN = re.compile(
    r"""\s*(?:
        (?P<comment>//[^\n]*|/\*.*?\*/)
      | "(?P<double>(?:\\.|[^"\\\n])*)"
      | '(?P<single>(?:\\.|[^'\\\n])*)'
      | (?P<word>[\w.$\-\u00a0-\uffff]+)
      | (?P<mark>[=;])
    )""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\([0-3]?[0-7]{1,2}|.)", re.DOTALL)
_LETTERS = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_FLAGS = ("required", "requisite", "sufficient", "optional")
_SHAPE = 'sasl.jaas.config is not of the form: MODULE required NAME="VALUE" ...;'


@dataclass(frozen=True)
class LoginModule:
    name: str  # without its package
    options: dict[str, str]


def parse_jaas(text: str) -> LoginModule:
    """The login module of a client; MoldauError says what is wrong without quoting the text."""
    marks, texts = zip(*_tokens(text), strict=True) if text.strip() else ((), ())
    names = (len(texts) - 3) // 3  # after MODULE and flag, before the semicolon
    if "".join(marks) != "tt" + "t=t" * names + ";" or names < 0 or texts[1].lower() not in _FLAGS:
        raise MoldauError(_SHAPE)
    options = dict(zip(texts[2:-1:3], texts[4:-1:3], strict=True))
    return LoginModule(texts[0].rpartition(".")[2], options)


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    """`t` and a text, or `=` or `;` and the same again."""
    at, end = 0, len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        if match is None:
            raise MoldauError(_SHAPE)
        at = match.end()
        quoted = match["double"] if match["double"] is not None else match["single"]
        if quoted is not None:
            yield "t", _ESCAPE.sub(_unescape, quoted)
        elif match["word"] is not None:
            yield "t", match["word"]
        elif match["mark"] is not None:
            yield match["mark"], match["mark"]


def _unescape(match: re.Match[str]) -> str:
    code = match[1]
    return chr(int(code, 8)) if code[0] in "01234567" else _LETTERS.get(code, code)
