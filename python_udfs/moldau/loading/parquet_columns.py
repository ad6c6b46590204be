"""Convert a column of a Parquet file to the type of its field, whatever type it has.

* An instant (`*_ms`): a number is milliseconds. TIMESTAMP in any unit, with a zone or without one
  (UTC), DATE (its midnight in UTC) and INT96 become milliseconds since 1970; what is finer is cut
  off, down to the millisecond that has begun, as Kafka's own clock does.
* A whole number: integers of any size and sign; fractions and decimals where they are whole and
  told exactly.
* A text: strings, or bytes that are UTF-8.
* Lists, structs and maps: member by member, the same way.

What has another type is Unsuited. A single value that cannot be it stays what it is, and the check
of its row says what is wrong with it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from moldau.loading.parquet_values import Column, Unsuited, leaf, plain, values_of, whole_numbers
from moldau.loading.shape import Field
from moldau.records.around import base64_text

# an inner column and its path -> its values
Convert = Callable[[pa.Array, str], list[Any]]


def suited(column: pa.Array, field: Field) -> Column:
    """The column in `field.file_type`, or a list if a value is not of it. Unsuited if none is."""
    column = plain(column)
    if pa.types.is_null(column.type):
        return pa.nulls(len(column), field.file_type)
    if field.holds_headers:
        return _header_values(column, field.name)
    if field.holds_anything:
        return _any_values(column, field.name)
    if pa.types.is_nested(field.file_type):
        return _nested_values(column, field.file_type, field.name)
    return leaf(column, field.file_type, field.name)


def _nested_values(column: pa.Array, wanted: pa.DataType, path: str) -> list[Any]:
    """One value a row in the form of `wanted`. What a struct has not is left out, as in JSON."""
    column = plain(column)
    if pa.types.is_null(column.type):
        return [None] * len(column)
    if pa.types.is_map(wanted):
        return _configs(column, path)
    if pa.types.is_list(wanted):
        if not _is_list(column.type):
            raise Unsuited(path, column.type, "a list")
        return _lists(column, path, partial(_member, wanted.value_type))
    if pa.types.is_struct(wanted):
        if not pa.types.is_struct(column.type):
            raise Unsuited(path, column.type, "a struct")
        members = {member.name: partial(_member, member.type) for member in wanted}
        return _structs(column, path, members)
    return values_of(leaf(column, wanted, path))


def _member(wanted: pa.DataType, column: pa.Array, path: str) -> list[Any]:
    return _nested_values(column, wanted, path)


def _any_values(column: pa.Array, path: str) -> Column:
    """Whatever JSON can hold: in a text, or as it is, and then null is what is not there."""
    if _is_text(column.type):
        return leaf(column, pa.string(), path)
    return _anything(column, path)


def _header_values(column: pa.Array, path: str) -> Column:
    """A list of headers a row, as `dump` writes them: {key, value_base64}."""
    if len(column) and column.null_count == len(column):
        return pa.nulls(len(column), pa.string())
    if _is_text(column.type):
        return [_parsed(text) for text in values_of(leaf(column, pa.string(), path))]
    if pa.types.is_map(column.type):
        pairs = _pairs(column, path, partial(_parts, "value"))
        return [
            None if row is None else [{"key": key, **(parts or {})} for key, parts in row]
            for row in pairs
        ]
    if _is_list(column.type):
        return _lists(column, path, _headers)
    raise Unsuited(path, column.type, "a list of headers")


def _headers(column: pa.Array, path: str) -> list[Any]:
    column = plain(column)
    if not pa.types.is_struct(column.type):
        return _anything(column, path)
    names = _names(column, path)
    found = _structs(column, path, {name: partial(_parts, name) for name in names})
    return [
        row and {name: value for parts in row.values() for name, value in parts.items()}
        for row in found
    ]


def _parts(name: str, column: pa.Array, path: str) -> list[dict[str, Any]]:
    """What a member of a header becomes: bytes are told as base64 unless they are a name."""
    column = plain(column)
    if pa.types.is_binary(column.type) and name != "key" and not name.endswith("_base64"):
        return [{f"{name}_base64": base64_text(value)} for value in column.to_pylist()]
    return [{name: value} for value in _anything(column, path)]


def _parsed(text: Any) -> Any:
    try:
        return json.loads(text) if isinstance(text, str) else text
    except (ValueError, RecursionError):
        return text


def _configs(column: pa.Array, path: str) -> list[Any]:
    """Pairs of name and value, or an object of them."""
    kind = column.type
    if pa.types.is_map(kind):
        return _pairs(column, path, _config_values)
    if pa.types.is_struct(kind):
        # a column of its own for each name: null is where the topic has no such config
        rows = _structs(column, path, dict.fromkeys(_names(column, path), _config_values))
        return _without_null(rows)
    if _is_list(kind) and pa.types.is_struct(kind.value_type):
        members = dict.fromkeys(("key", "value"), _config_values)
        rows = _lists(column, path, lambda inner, at: _structs(inner, at, members))
        return [
            None if row is None else [(pair.get("key"), pair.get("value")) for pair in row if pair]
            for row in rows
        ]
    raise Unsuited(path, kind, "a map")


def _config_values(column: pa.Array, path: str) -> list[Any]:
    column = plain(column)
    if pa.types.is_floating(column.type) or pa.types.is_decimal(column.type):
        return values_of(whole_numbers(column, path, "text"))
    return _anything(column, path)


def _anything(column: pa.Array, path: str) -> list[Any]:
    column = plain(column)
    kind = column.type
    if _is_list(kind):
        return _lists(column, path, _anything)
    if pa.types.is_struct(kind):
        return _without_null(_structs(column, path, dict.fromkeys(_names(column, path), _anything)))
    if pa.types.is_map(kind):
        return [row if row is None else dict(row) for row in _pairs(column, path, _anything)]
    if _is_text(kind):
        values = values_of(leaf(column, pa.string(), path))
        return [base64_text(value) if isinstance(value, bytes) else value for value in values]
    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    if is_number or pa.types.is_boolean(kind) or pa.types.is_null(kind):
        return list(column.to_pylist())
    raise Unsuited(path, kind, "what JSON can hold")


def _without_null(rows: list[Any]) -> list[Any]:
    """The objects without what they have as null."""
    return [
        row and {name: value for name, value in row.items() if value is not None} for row in rows
    ]


def _lists(column: pa.Array, path: str, convert: Convert) -> list[Any]:
    values = iter(convert(column.flatten(), f"{path}[]"))
    lengths = pc.list_value_length(column).to_pylist()
    return [None if length is None else [next(values) for _ in range(length)] for length in lengths]


def _structs(column: pa.Array, path: str, members: Mapping[str, Convert]) -> list[Any]:
    """An object a row, of those members that the column has."""
    names = _names(column, path)
    inner = dict(zip(names, column.flatten(), strict=True))
    columns = {
        name: convert(inner[name], f"{path}.{name}")
        for name, convert in members.items()
        if name in inner
    }
    rows = zip(*columns.values(), strict=True) if columns else iter([()] * len(column))
    is_there = column.is_valid().to_pylist()
    return [
        dict(zip(columns, row, strict=True)) if there else None
        for row, there in zip(rows, is_there, strict=True)
    ]


def _pairs(column: pa.Array, path: str, convert: Convert) -> list[Any]:
    """A list of (key, value) a row of a map."""
    keys = plain(column.keys)
    if not _is_text(keys.type):
        raise Unsuited(f"{path}.key", keys.type, "text")
    pairs = list(zip(_anything(keys, path), convert(column.items, f"{path}.value"), strict=True))
    ends = column.offsets.to_pylist()  # of the children as a whole, wherever the column begins
    is_there = column.is_valid().to_pylist()
    return [
        pairs[ends[row] : ends[row + 1]] if there else None for row, there in enumerate(is_there)
    ]


def _names(column: pa.Array, path: str) -> list[str]:
    names = [member.name for member in column.type]
    if len(set(names)) < len(names):
        raise Unsuited(path, column.type, "a struct that has each member once")
    return names


def _is_list(kind: pa.DataType) -> bool:
    return not pa.types.is_map(kind) and (
        pa.types.is_list(kind)
        or pa.types.is_large_list(kind)
        or pa.types.is_fixed_size_list(kind)
        or pa.types.is_list_view(kind)
        or pa.types.is_large_list_view(kind)
    )


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_binary(kind))
