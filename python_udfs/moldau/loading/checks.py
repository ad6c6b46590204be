"""Checks of a single value of a file; a ValueError says what is wrong with it."""

from __future__ import annotations

import base64
import binascii
import csv
import difflib
import json
from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise
from typing import Any

from pydantic import ValidationError

from moldau.project import SEEDS
from moldau.settings.problems import describe
from moldau.settings.topic import TopicSettings

Check = Callable[[str, Any], Any]
READ_CONFIGS = {field.alias for field in TopicSettings.model_fields.values()}


def name_text(name: str, value: Any) -> str:
    if text(name, value) == "":
        raise ValueError(f"{name} is empty")
    return str(value)


def text(name: str, value: Any) -> str:
    if isinstance(value, bytes):  # of a Parquet file
        raise ValueError(f"{name} is not UTF-8")
    if not isinstance(value, str):
        raise ValueError(f"{name} is {shown(value)}, not a string")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{name} holds half a surrogate pair") from None
    return value


def error_name(name: str, value: Any) -> str:
    """One of Kafka's errors, by its name."""
    if text(name, value) not in _error_names():
        near = difflib.get_close_matches(value, _error_names(), 2) or ["NONE", "UNKNOWN_MEMBER_ID"]
        raise ValueError(
            f"{name} is {shown(value)}, not the name of an error of Kafka such as "
            f"{' or '.join(near)} (all are in the table seeds.error_codes)"
        )
    return str(value)


@cache
def _error_names() -> dict[str, None]:
    with (SEEDS / "error_codes.csv").open(newline="") as file:
        return dict.fromkeys(row["error_code"] for row in csv.DictReader(file))


def among(values: Sequence[str]) -> Check:
    """One of these words."""

    def check(name: str, value: Any) -> str:
        if text(name, value) not in values:
            close = difflib.get_close_matches(value, values, 1)
            meant = f" (did you mean {close[0]}?)" if close else ""
            raise ValueError(f"{name} is {shown(value)}, not one of {', '.join(values)}{meant}")
        return str(value)

    return check


def integer(name: str, value: Any) -> int:
    if isinstance(value, float) and value.is_integer():
        raise ValueError(f"{name} is {value}, a floating-point number, which may not be exact")
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f"{name} is {shown(value)}, not a whole number")
    return value


def boolean(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{name} is {shown(value)}, not true or false")
    return value


def base64_bytes(name: str, value: Any) -> bytes:
    try:
        return base64.b64decode(text(name, value), validate=True)
    except binascii.Error:
        raise ValueError(f"{name} is {shown(value)}, not base64") from None


def headers(name: str, value: Any) -> str | None:
    if not isinstance(value, list):
        raise ValueError(f"{name} is {shown(value)}, not a list")
    return json.dumps(value, ensure_ascii=False) if value else None


def objects(check_object: Callable[[dict[str, Any]], dict[str, Any]]) -> Check:
    """A list of objects, each checked by itself."""

    def check(name: str, value: Any) -> list[dict[str, Any]]:
        if not isinstance(value, list):
            raise ValueError(f"{name} is {shown(value)}, not a list")
        checked = []
        for index, item in enumerate(value):
            if not isinstance(item, dict):
                raise ValueError(f"{name}[{index}] is {shown(item)}, not an object")
            try:
                checked.append(check_object(item))
            except ValueError as error:
                raise ValueError(f"{name}[{index}]: {error}") from None
        return checked

    return check


def each(check_item: Check) -> Check:
    """A list, of which each item is null or what `check_item` takes."""

    def check(name: str, value: Any) -> list[Any]:
        if not isinstance(value, list):
            raise ValueError(f"{name} is {shown(value)}, not a list")
        return [
            None if item is None else check_item(f"{name}[{index}]", item)
            for index, item in enumerate(value)
        ]

    return check


def int32_of(name: str, value: Any) -> int:
    if not -(2**31) <= integer(name, value) < 2**31:
        raise ValueError(f"{name} is {shown(value)}, not a number of 32 bits")
    return int(value)


def between(lowest: float, highest: float) -> Check:
    def check(name: str, value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError(f"{name} is {shown(value)}, not a number")
        if not lowest <= value <= highest:
            raise ValueError(f"{name} is {shown(value)}, not between {lowest} and {highest}")
        return float(value)

    return check


def configs(name: str, value: Any) -> list[tuple[str, str]]:
    """Kafka's configs as Kafka's text; those that moldau reads must be what Kafka allows."""
    if isinstance(value, list) and all(isinstance(pair, tuple) for pair in value):
        value = _once_each(name, value)  # a map of a Parquet file
    if not isinstance(value, dict):
        raise ValueError(f"{name} is {shown(value)}, not an object")
    texts = {
        name_text(name, key): _config_text(f"{name}.{key}", item) for key, item in value.items()
    }
    try:
        TopicSettings.model_validate({key: texts[key] for key in texts.keys() & READ_CONFIGS})
    except ValidationError as error:
        raise ValueError(f"{name}: {describe(error, TopicSettings)}") from None
    return sorted(texts.items())


def _once_each(name: str, pairs: list[tuple[Any, Any]]) -> dict[Any, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(key for key in found if [first for first, _ in pairs].count(key) > 1)
        raise ValueError(f"{name} has {shown(twice)} twice")
    return found


def _config_text(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int) else text(name, value)


def in_order(check: Check, key: str, rises: str) -> Check:
    """The list by `key`, which names each item once and with which `rises` never falls."""

    def ordered(name: str, value: Any) -> list[dict[str, Any]]:
        items = sorted(check(name, value), key=lambda item: int(item[key]))
        for before, after in pairwise(items):
            if after[key] == before[key]:
                raise ValueError(f"{name} has {key} {after[key]} twice")
            if after[rises] < before[rises]:
                raise ValueError(f"{name}: {rises} falls to {after[rises]} at {key} {after[key]}")
        return items

    return ordered


def shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else text[:57] + "..."
