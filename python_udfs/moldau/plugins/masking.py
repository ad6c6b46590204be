"""Mask a plugin's options: only those that its class declares public are shown."""

from __future__ import annotations

import contextlib
import re
from base64 import b64decode
from collections.abc import Collection, Mapping
from typing import Any
from urllib.parse import unquote, unquote_plus

from moldau.plugins.disguises import SHORTEST_WORD, masked
from moldau.plugins.environment import Place, each_value, hidden

_BETWEEN = re.compile(r"[\s;,]+")
_BASIC = re.compile(r"(?i)\s*basic\s+([A-Za-z0-9+/]+)")
_SCHEMES = ("basic", "bearer", "digest", "negotiate", "true", "false", "none", "null")
# the user of a URL, up to its last @; what its query holds; its fragment
_USER = re.compile(r"(?<=://).*(?=@)|^[^/@]*:(?!//).*(?=@)", re.DOTALL)
_QUERY = re.compile(r"(?<=[?&])(?:([^=&#]*)=)?([^&#]+)")
_FRAGMENT = re.compile(r"(?<=#).+", re.DOTALL)


def told(options: Mapping[str, Any], public: Collection[str]) -> dict[str, Any]:
    """The options, JSON-able, with `***` for each value, at any depth, of one that is not public.

    A public URL is told without its user, what its query holds, and its fragment.
    """

    def tell(place: Place, value: Any) -> Any:
        return _without_credentials(value) if place[0] in public else hidden(value)

    found: dict[str, Any] = each_value(_text_keys(options), tell)
    return found


def _text_keys(given: Any) -> Any:
    if isinstance(given, Mapping):
        return {str(key): _text_keys(value) for key, value in given.items()}
    return [_text_keys(it) for it in given] if isinstance(given, list) else given


def secrets_in(
    options: Mapping[str, Any], public: Collection[str], more: Collection[str] = ()
) -> list[str]:
    """The texts in these options, references replaced, that nobody is told; the longest first.

    `more`: texts that nobody is told wherever they stand.
    """
    found = {part for it in more for part in _parts(it)}

    def collect(place: Place, value: Any) -> None:
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value)  # a password of digits
        if not isinstance(value, str):
            return
        found.update(_credentials(value))
        if place[0] not in public:
            found.update(_parts(value))

    each_value(dict(options), collect)
    found |= {unquote(text) for text in found} | {unquote_plus(text) for text in found}
    secrets = (it for it in found if len(it) >= SHORTEST_WORD and it.lower() not in _SCHEMES)
    return sorted(secrets, key=lambda it: (-len(it), it))


def without(secrets: Collection[str], message: str | None) -> str | None:
    """What a plugin said, with `***` in place of each secret, whatever it is disguised as."""
    return message and masked(secrets, message)


def without_in(secrets: Collection[str], answer: Any) -> Any:
    """The same of each text in an answer of mappings and lists."""
    return each_value(answer, lambda _, it: masked(secrets, it) if isinstance(it, str) else it)


def _parts(value: str) -> set[str]:
    """A text, its words (`Bearer TOKEN`), what is set in it (`AccountKey=KEY;`), and the user and
    the password of `Basic ...`."""
    words = {word for word in _BETWEEN.split(value) if word}
    found = {value, value.strip(), *words}
    found |= {word.partition("=")[2] for word in words}
    if basic := _BASIC.match(value):
        with contextlib.suppress(ValueError):
            user = b64decode(basic[1] + "=" * (-len(basic[1]) % 4)).decode(errors="replace")
            found |= {user, *user.split(":", 1)}
    return found


def _without_credentials(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float):
        return value
    value = str(value)  # YAML has dates too
    value = _USER.sub(lambda found: hidden(found[0]), value)
    if "://" not in value:
        return value  # a path, in which ? and # are letters
    value = _QUERY.sub(lambda found: (f"{found[1]}=" if found[1] else "") + hidden(found[2]), value)
    return _FRAGMENT.sub(lambda found: hidden(found[0]), value)


def _credentials(value: str) -> list[str]:
    """Of a URL; what is too short to be found alone with what stands beside it."""
    users = [it[0] for it in _USER.finditer(value)]
    found = [*users, *(part for user in users for part in user.split(":", 1))]
    found += [f"{user}@" for user in users if len(user) < SHORTEST_WORD]
    if "://" not in value:
        return found
    for it in _QUERY.finditer(value):
        found += [it[2], it[0]] if len(it[2]) < SHORTEST_WORD else [it[2]]
    return [*found, *_FRAGMENT.findall(value)]
