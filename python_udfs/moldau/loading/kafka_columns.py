"""Columns of records as Spark's Kafka source and Connect name them: key and value are bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa

from moldau.loading.shape import Field, Shape
from moldau.loading.shapes import RECORDS
from moldau.records.around import timestamp_types

_BYTES = {"key_base64": "key", "value_base64": "value"}
_NAMES = {"timestamp": "timestamp_ms", "timestampType": "timestamp_type"}


def _content(name: str, value: Any) -> bytes:
    if not isinstance(value, bytes):
        raise ValueError(f"{name} is no bytes")
    return value


def _own(field: Field) -> Field:
    name = _BYTES.get(field.name)
    return replace(field, name=name, file_type=pa.binary(), check=_content) if name else field


OF_KAFKA = Shape(RECORDS.kind, tuple(map(_own, RECORDS.members)))


def shape_of(names: Sequence[str], shape: Shape) -> Shape:
    """The shape of a file with these columns: records may be OF_KAFKA."""
    own = set(_BYTES) & set(names)
    is_of_kafka = shape is RECORDS and not own and set(_BYTES.values()) <= set(names)
    return OF_KAFKA if is_of_kafka else shape


def own_name(name: str, names: Sequence[str], shape: Shape) -> str:
    """The field that a column of OF_KAFKA fills."""
    own = _NAMES.get(name, name) if shape is OF_KAFKA else name
    return name if own in names else own


def types_of(column: pa.Array) -> pa.Array:
    """A timestamp type by Kafka's name, where Spark has its number."""
    if not pa.types.is_integer(column.type):
        return column
    return timestamp_types(column)


def path_values(file: str, fields: Sequence[Field]) -> dict[str, Any]:
    """What the folders of a partitioned table tell of these fields: `topic=a/partition=3`."""
    told = dict(part.split("=", 1) for part in Path(file).parts[:-1] if "=" in part)
    found = {}
    for field in fields:
        if field.name in told:
            text = unquote(told[field.name])
            is_number = pa.types.is_integer(field.file_type) and text.lstrip("-").isdigit()
            found[field.name] = int(text) if is_number else text
    return found
