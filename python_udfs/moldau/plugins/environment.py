"""`${env:NAME}` in a plugin's options: only this text is kept; the value is read on use."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from typing import Any

_REFERENCE = re.compile(r"\$\{env:([A-Za-z_][A-Za-z0-9_]*)\}")
_MEANT = "${env:"
_ALLOWED = "${env:NAME}, where NAME has letters, digits and _"
Place = tuple[str, ...]
"""Keys, and places in lists, on the way to a value."""


class UnsetVariable(Exception):
    """`place` of the text, what may be shown of it, and what is allowed there."""

    def __init__(self, place: Place, text: str, allowed: str) -> None:
        self.place, self.shown, self.allowed = place, hidden(text), allowed
        super().__init__(f"{'.'.join(place)}: allowed is {allowed}")


def with_environment(options: dict[str, Any]) -> dict[str, Any]:
    """The options with every reference, at any depth, replaced; UnsetVariable if one cannot be."""
    found: dict[str, Any] = each_value(options, _filled)
    return found


def each_value(given: Any, change: Callable[[Place, Any], Any], place: Place = ()) -> Any:
    """The same mappings and lists with `change(place, value)` in place of each value."""
    if isinstance(given, dict):
        return {key: each_value(it, change, (*place, str(key))) for key, it in given.items()}
    if isinstance(given, list | tuple):
        return [each_value(it, change, (*place, str(i))) for i, it in enumerate(given)]
    return change(place, given)


def hidden(value: Any) -> str:
    """Three stars for all of a value but its references, which are no secrets."""
    if not isinstance(value, str):
        return "***"
    return "".join(text if is_reference else "***" for is_reference, text in _parts(value)) or "***"


def values_named(options: dict[str, Any]) -> set[str]:
    """What this process's environment has for the references in these options, at any depth."""
    found: set[str] = set()

    def collect(_place: Place, value: Any) -> None:
        if isinstance(value, str):
            found.update(os.environ.get(it[1], "") for it in _REFERENCE.finditer(value))

    each_value(options, collect)
    return found


def _filled(place: Place, value: Any) -> Any:
    if not isinstance(value, str):
        return value
    filled = ""
    for is_reference, text in _parts(value):
        if not is_reference:
            if _MEANT in text:
                raise UnsetVariable(place, value, _ALLOWED)
            filled += text
            continue
        name = text[len(_MEANT) : -1]
        if name not in os.environ:
            raise UnsetVariable(place, value, f"a variable that is set ({name} is not)")
        filled += os.environ[name]
    return filled


def _parts(text: str) -> Iterator[tuple[bool, str]]:
    """What lies between references, and each of them (True)."""
    end = 0
    for found in _REFERENCE.finditer(text):
        if found.start() > end:
            yield False, text[end : found.start()]
        yield True, found.group()
        end = found.end()
    if end < len(text):
        yield False, text[end:]
