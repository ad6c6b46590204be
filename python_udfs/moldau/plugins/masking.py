"""What may be told of a plugin's options: what its class names, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any
from urllib.parse import quote

from moldau.plugins.environment import Place, each_value, hidden

_SHORTEST_SECRET = 6  # a shorter one is in too many other words
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

    `more`: texts that nobody is told wherever they stand, as they are and as URLs have them.
    """
    found = {text for it in more for text in (it, quote(it), quote(it, safe=""))}

    def collect(place: Place, value: Any) -> None:
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value)  # a password of digits
        if not isinstance(value, str):
            return
        if place[0] in public:
            found.update(_credentials(value))
        else:
            found.update([value, *value.split()])  # `Bearer TOKEN`

    each_value(dict(options), collect)
    secrets = (secret for secret in found if len(secret) >= _SHORTEST_SECRET)
    return sorted(secrets, key=len, reverse=True)


def without(secrets: list[str], message: str | None) -> str | None:
    """What a plugin said, with `***` in place of each secret."""
    for secret in secrets:
        message = message and message.replace(secret, "***")
    return message


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
    users = [text for found in _USER.finditer(value) for text in (found[0], *found[0].split(":"))]
    if "://" not in value:
        return users
    return [*users, *(found[2] for found in _QUERY.finditer(value)), *_FRAGMENT.findall(value)]
