"""Fields and shapes of lines, of which domains compose the lines of their kinds of files."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

import pyarrow as pa

from moldau.declared import domains
from moldau.loading.checks import (
    Check,
    among,
    base64_bytes,
    between,
    boolean,
    configs,
    each,
    error_name,
    headers,
    in_order,
    int32_of,
    integer,
    name_text,
    objects,
    text,
)
from moldau.loading.shape import Field, Shape
from moldau.topologies.pushed import PUSHED, pushed

INT32_MAX, INT64_MAX = 2**31 - 1, 2**63 - 1


OPTIONAL: dict[str, Any] = {"is_required": False, "is_nullable": True}
_COLUMNS = {"topic": "topic_name", "partition": "partition_index"}  # field of a file -> column
TEXTS = each(text)
_TEXTS = pa.map_(pa.string(), pa.string())


def name(field: str, **more: Any) -> Field:
    """A text that Kafka takes as a name."""
    return any_text(field, check=name_text, **more)


def any_text(field: str, check: Check = text, **more: Any) -> Field:
    return Field(field, _COLUMNS.get(field, field), pa.string(), pa.string(), check, **more)


def error(field: str, **more: Any) -> Field:
    """The name of one of Kafka's errors."""
    return any_text(field, check=error_name, **more)


def one_of(field: str, values: tuple[str, ...], **more: Any) -> Field:
    """One of these words."""
    return any_text(field, check=among(values), values=values, **more)


def int32(field: str, column: str | None = None, minimum: int = 0, **more: Any) -> Field:
    return Field(
        field, column or _COLUMNS.get(field, field), pa.int64(), pa.int32(), integer,
        minimum=minimum, maximum=INT32_MAX, **more,
    )  # fmt: skip


def int64(field: str, column: str | None = None, minimum: int = 0, **more: Any) -> Field:
    return Field(
        field, column or field, pa.int64(), pa.int64(), integer,
        minimum=minimum, maximum=INT64_MAX, **more,
    )  # fmt: skip


def flag(field: str) -> Field:
    return Field(field, field, pa.bool_(), pa.bool_(), boolean)


def config_texts(field: str) -> Field:
    """An object of texts, by Kafka's names of configs."""
    return Field(field, field, _TEXTS, _TEXTS, configs)


def ordered(field: str, key: str, rises: str, *members: Field) -> Field:
    """A list of objects, in the order of a field of theirs."""
    check = in_order(objects(Shape("", members).check), key, rises)
    file_kind = pa.list_(pa.struct([(f.name, f.file_type) for f in members]))
    kind = pa.list_(pa.struct([(f.column, f.type) for f in members]))
    return Field(field, field, file_kind, kind, check)


def texts(field: str, check: Check = TEXTS, **more: Any) -> Field:
    """A list of texts, each of which may be null."""
    return Field(field, field, pa.list_(pa.string()), pa.list_(pa.string()), check, **more)


def int32s(field: str, **more: Any) -> Field:
    """A list of whole numbers, each of which may be null."""
    return Field(
        field, field, pa.list_(pa.int64()), pa.list_(pa.int32()), each(int32_of), **more
    )  # fmt: skip


def share(field: str, lowest: float, highest: float) -> Field:
    """A number between these, which may be left out."""
    check = between(lowest, highest)
    return Field(field, field, pa.float64(), pa.float64(), check, **OPTIONAL)


def description(field: str) -> Field:
    """A topology description: any JSON at all, for the client is answered what is wrong with it."""
    return Field(field, field, pa.string(), PUSHED, pushed, is_nullable=True)


def _bytes(field: str, column: str) -> Field:
    return Field(field, column, pa.string(), pa.binary(), base64_bytes, is_nullable=True)


RECORDS = Shape(
    "records",
    (
        name("topic"),
        int32("partition"),
        int64("offset", "log_offset"),
        int64("timestamp_ms", "recorded_at_ms", minimum=-1),  # -1: the record has none
        any_text("timestamp_type", **OPTIONAL),
        _bytes("key_base64", "record_key"),
        _bytes("value_base64", "record_value"),
        Field("headers", "headers", pa.string(), pa.string(), headers, **OPTIONAL),
    ),
)


@cache
def shapes() -> Mapping[str, Shape]:
    """Every kind of file that `moldau load` takes: records, and those of the domains."""
    of_domains = {kind: shape() for domain in domains() for kind, shape in domain.files.items()}
    return MappingProxyType({RECORDS.kind: RECORDS, **of_domains})
