"""Message definitions as data: versions, fields, and the parser of the compact notation.

The notation (see ``definitions.py``) says what Kafka's JSON schema files say: for each message its
name, api key, valid versions and flexible versions, then one field a line::

    OffsetCommitValue 1 0-4 flexible 4+
        offset int64
        leaderEpoch int32 3+ = -1
        topicId uuid 4+ tag 0

``[]X`` is an array of X, ``?`` marks a field that may be null in all its versions, ``tag n`` a
tagged field, ``= x`` its default. Lines further in are the fields of the struct named by the field;
``struct X`` starts a struct that several fields of the message share. Short messages put their
fields on the first line, each after a ``|``. No version range means "every version of the message".

``= null`` is Kafka's quoted ``"default": "null"``. Kafka's *unquoted* ``"default": null`` means "no
default given", so the value of an absent field is the empty struct or the empty list; in the
notation such fields have no ``=`` at all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

FIXED_WIDTHS: dict[str, int] = {
    "bool": 1,
    "int8": 1,
    "int16": 2,
    "uint16": 2,
    "int32": 4,
    "int64": 8,
    "uuid": 16,
}
MAX_VERSION = 32767


@dataclass(frozen=True, slots=True)
class Versions:
    """An inclusive range of versions; ``0+`` ends at the largest int16."""

    low: int
    high: int

    @classmethod
    def parse(cls, text: str) -> Versions:
        if text.endswith("+"):
            return cls(int(text[:-1]), MAX_VERSION)
        low, _, high = text.partition("-")
        return cls(int(low), int(high or low))

    def __contains__(self, version: int) -> bool:
        return self.low <= version <= self.high


@dataclass(frozen=True, slots=True)
class Field:
    """One field; ``kind`` is a primitive's name or the name of the struct in ``struct``."""

    name: str
    kind: str
    is_array: bool
    nullable: bool
    versions: Versions | None
    tag: int | None
    default: str | None
    struct: tuple[Field, ...] | None

    def present_in(self, version: int) -> bool:
        return self.versions is None or version in self.versions


@dataclass(frozen=True, slots=True)
class Message:
    """One record key, record value or embedded message, in all its versions."""

    name: str
    api_key: int | None
    valid: Versions
    flexible: Versions | None
    fields: tuple[Field, ...]

    def is_flexible(self, version: int) -> bool:
        return self.flexible is not None and version in self.flexible


def default_of(field: Field, version: int) -> object:
    """Java's value of a field that is absent, in plain Python (uuid and bytes as bytes)."""
    if field.default == "null":
        return None
    if field.is_array:
        return []
    if field.struct is not None:
        return {f.name: default_of(f, version) for f in field.struct if f.present_in(version)}
    if field.kind == "string":
        return field.default or ""
    if field.kind == "bytes":
        return b""
    if field.kind == "uuid":
        return bytes(16)
    if field.kind == "bool":
        return field.default == "true"
    return int(field.default or 0)


@dataclass(slots=True)
class _Line:
    depth: int
    words: list[str]
    children: list[_Line]


def _tree(text: str) -> list[_Line]:
    root = _Line(-1, [], [])
    stack = [root]
    for raw in text.splitlines():
        code = raw.partition("#")[0]
        if not code.strip():
            continue
        first, *inline = code.split("|")
        depth = (len(code) - len(code.lstrip())) // 4
        line = _Line(depth, first.split(), [_Line(depth + 1, f.split(), []) for f in inline])
        while stack[-1].depth >= line.depth:
            stack.pop()
        stack[-1].children.append(line)
        stack.append(line)
    return root.children


def _field(line: _Line, shared: dict[str, _Line]) -> Field:
    name, kind, *rest = line.words
    nullable = kind.endswith("?")
    kind = kind.removesuffix("?")
    is_array = kind.startswith("[]")
    kind = kind.removeprefix("[]")
    default = None
    if "=" in rest:
        at = rest.index("=")
        default, rest = rest[at + 1], rest[:at]
    tag = None
    if "tag" in rest:
        at = rest.index("tag")
        tag, rest = int(rest[at + 1]), rest[:at]
    versions = Versions.parse(rest[0]) if rest else None
    body = line.children or (shared[kind].children if kind in shared else [])
    struct = tuple(_field(child, shared) for child in body) if body else None
    if struct is None and kind not in FIXED_WIDTHS and kind not in ("string", "bytes"):
        raise ValueError(f"field {name}: unknown type {kind}")
    return Field(name, kind, is_array, nullable, versions, tag, default, struct)


def parse_messages(text: str) -> Iterator[Message]:
    """Read the compact notation; a mistake in it raises at import time."""
    for line in _tree(text):
        name, api_key, valid, *rest = line.words
        shared = {c.words[1]: c for c in line.children if c.words[0] == "struct"}
        fields = tuple(_field(c, shared) for c in line.children if c.words[0] != "struct")
        flexible = Versions.parse(rest[1]) if rest else None
        key = None if api_key == "-" else int(api_key)
        yield Message(name, key, Versions.parse(valid), flexible, fields)
