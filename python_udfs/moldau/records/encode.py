"""Write records from plain dicts, by the same table that reads them.

Values use Kafka's field names; uuids and bytes are ``bytes``.
Fields left out take Kafka's default. A tagged field at its default is not written, as in Kafka's
generated writers; ``None`` in a nullable tagged field is written as a null payload.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

from moldau.records.families import FAMILIES, Family
from moldau.records.wire_schema import Field, Message, default_of

_FORMATS = {"int8": ">b", "int16": ">h", "uint16": ">H", "int32": ">i", "int64": ">q"}
_FRAME_VERSION = 1

Values = Mapping[str, Any]
RawTags = Mapping[int, bytes]


def uvarint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _length(size: int | None, kind: str, flexible: bool) -> bytes:
    """The length or count in front of a string, bytes or an array; None is null."""
    if flexible:
        return uvarint(0 if size is None else size + 1)
    return struct.pack(">h" if kind == "string" else ">i", -1 if size is None else size)


def _one(field: Field, value: Any, version: int, flexible: bool) -> bytes:
    """One value of the field's type, or one element of it."""
    if field.kind in ("string", "bytes"):
        if value is None:
            return _length(None, field.kind, flexible)
        data = value.encode("utf-8") if isinstance(value, str) else bytes(value)
        return _length(len(data), field.kind, flexible) + data
    if field.kind == "uuid":
        return bytes(value)
    if field.kind == "bool":
        return b"\x01" if value else b"\x00"
    if field.struct is not None:
        return encode_struct(field.struct, value, version, flexible)
    return struct.pack(_FORMATS[field.kind], value)


def _value(field: Field, value: Any, version: int, flexible: bool, tagged: bool) -> bytes:
    if field.is_array:
        if value is None:
            return _length(None, "array", flexible)
        elements = [_one(field, element, version, flexible) for element in value]
        return _length(len(elements), "array", flexible) + b"".join(elements)
    if field.struct is not None and field.nullable:
        if value is None:
            return b"\x00" if tagged else b"\xff"
        return b"\x01" + _one(field, value, version, flexible)
    return _one(field, value, version, flexible)


def encode_struct(
    fields: tuple[Field, ...],
    values: Values,
    version: int,
    flexible: bool,
    unknown_tags: RawTags | None = None,
) -> bytes:
    """The fields of one struct and, if flexible, its tag section."""
    body = []
    tags: dict[int, bytes] = dict(unknown_tags or {})
    for field in fields:
        if not field.present_in(version):
            continue
        default = default_of(field, version)
        value = values.get(field.name, default)
        if field.tag is None:
            body.append(_value(field, value, version, flexible, tagged=False))
        elif value != default:
            tags[field.tag] = _value(field, value, version, flexible, tagged=True)
    if flexible:
        body.append(uvarint(len(tags)))
        body.extend(uvarint(t) + uvarint(len(tags[t])) + tags[t] for t in sorted(tags))
    return b"".join(body)


def encode_message(
    message: Message, version: int, values: Values, unknown_tags: RawTags | None = None
) -> bytes:
    """A message without anything in front of it."""
    flexible = message.is_flexible(version)
    return encode_struct(message.fields, values, version, flexible, unknown_tags)


def encode_key(family_name: str, record_type: int | None, key: Values) -> bytes | None:
    """A record's key; None for families whose records have none."""
    family: Family = FAMILIES[family_name]
    message = family.types[record_type].key
    if message is None:
        return None
    prefix = struct.pack(">h", record_type) if family.typed_key else b""
    return prefix + encode_message(message, 0, key)


def encode_value(
    family_name: str,
    record_type: int | None,
    version: int,
    value: Values,
    unknown_tags: RawTags | None = None,
) -> bytes:
    """A record's value with its version, or the remote log's frame, in front."""
    family: Family = FAMILIES[family_name]
    prefix = b""
    if family.versioned_value:
        prefix = struct.pack(">h", version)
    elif family.framed_value:
        prefix = uvarint(_FRAME_VERSION) + uvarint(record_type or 0) + uvarint(version)
    return prefix + encode_message(family.types[record_type].value, version, value, unknown_tags)
