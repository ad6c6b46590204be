"""A plain decoder that reads one record after the other: the reference of the column-wise one.

It shares nothing with it but the table of definitions. Also the peer in ``benchmarks/decode.py``.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import Any

from moldau.records.families import FAMILIES, RecordType
from moldau.records.wire_schema import Field, Message, default_of

_FORMATS = {"int8": ">b", "int16": ">h", "uint16": ">H", "int32": ">i", "int64": ">q"}


class Broken(Exception):
    """The bytes are not what the definition says."""


@dataclass
class Row:
    """What one record holds; uuids and bytes as bytes."""

    status: str
    record_type: int | None = None
    value_version: int | None = None
    key: dict[str, Any] | None = None
    value: dict[str, Any] | None = None
    unknown_tags: dict[str, str] = field(default_factory=dict)


class Reader:
    """A position in one record's bytes."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.pos = 0
        self.unknown: dict[str, str] = {}

    def take(self, size: int) -> bytes:
        if size < 0 or self.pos + size > len(self.data):
            raise Broken("past the end")
        self.pos += size
        return self.data[self.pos - size : self.pos]

    def left(self) -> int:
        return len(self.data) - self.pos

    def number(self, kind: str) -> int:
        fmt = _FORMATS[kind]
        return int(struct.unpack(fmt, self.take(struct.calcsize(fmt)))[0])

    def uvarint(self) -> int:
        value = 0
        for k in range(5):
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << (7 * k)
            if byte < 0x80:
                value &= 0xFFFFFFFF
                return value - (1 << 32) if value >= 1 << 31 else value
        raise Broken("varint of more than five bytes")

    def message(self, message: Message, version: int) -> dict[str, Any]:
        return self.struct(message.fields, version, message.is_flexible(version), "")

    def struct(
        self, fields: tuple[Field, ...], version: int, flexible: bool, path: str
    ) -> dict[str, Any]:
        here = [f for f in fields if f.present_in(version)]
        values = {
            f.name: self.field(f, version, flexible, path + f.name, False)
            if f.tag is None
            else default_of(f, version)
            for f in here
        }
        if flexible:
            by_tag = {f.tag: f for f in here if f.tag is not None}
            number = self.uvarint()
            if number < 0:
                raise Broken("negative number of tags")
            for _ in range(number):
                tag, size = self.uvarint(), self.uvarint()
                if size < 0 or size > self.left():
                    raise Broken("tag size")
                if tag in by_tag:
                    f = by_tag[tag]
                    inner = Reader(self.data[: self.pos + size])
                    inner.pos = self.pos
                    values[f.name] = inner.field(f, version, flexible, path + f.name, True)
                    self.unknown.update(inner.unknown)
                    if inner.pos != self.pos + size:
                        raise Broken("tag size")
                    self.pos = inner.pos
                else:
                    self.unknown[f"{path}{tag & 0xFFFFFFFF}"] = self.take(size).hex()
        return values

    def field(self, f: Field, version: int, flexible: bool, path: str, tagged: bool) -> Any:
        if f.is_array:
            count = self.uvarint() - 1 if flexible else self.number("int32")
            if count < 0:
                return self.null(f.nullable)
            if count > self.left():
                raise Broken("count")
            return [self.one(f, version, flexible, f"{path}[{i}].") for i in range(count)]
        if f.struct is not None and f.nullable:
            marker = self.uvarint() if tagged else self.number("int8")
            if marker < 0 or (tagged and marker == 0):
                return None
        return self.one(f, version, flexible, path + ".", f.nullable)

    def one(self, f: Field, version: int, flexible: bool, path: str, nullable: bool = False) -> Any:
        if f.struct is not None:
            return self.struct(f.struct, version, flexible, path)
        if f.kind == "uuid":
            return self.take(16)
        if f.kind == "bool":
            return self.take(1) != b"\0"
        if f.kind not in ("string", "bytes"):
            return self.number(f.kind)
        if flexible:
            size = self.uvarint() - 1
        else:
            size = self.number("int16" if f.kind == "string" else "int32")
        if size < 0:
            return self.null(nullable)
        if f.kind == "string" and size > 0x7FFF:
            raise Broken("string too long")
        data = self.take(size)
        return data if f.kind == "bytes" else java_string(data)

    @staticmethod
    def null(nullable: bool) -> None:
        if not nullable:
            raise Broken("null where none may be")


def java_string(data: bytes) -> str:
    """``new String(data, UTF_8)``: an encoded surrogate is one malformed character."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        pass
    out, pos = "", 0
    while pos < len(data):
        for end in range(min(len(data), pos + 4), pos, -1):
            try:
                out += data[pos:end].decode("utf-8")
                pos = end
                break
            except UnicodeDecodeError:
                continue
        else:
            out += "\ufffd"
            pos += _malformed_length(data[pos : pos + 4])
    return out


def _malformed_length(data: bytes) -> int:
    lead = data[0]
    if 0xC2 <= lead <= 0xDF:
        following, low, high = 1, 0x80, 0xBF
    elif 0xE0 <= lead <= 0xEF:
        following, low, high = 2, 0xA0 if lead == 0xE0 else 0x80, 0xBF
    elif 0xF0 <= lead <= 0xF4:
        following, low, high = 3, 0x90 if lead == 0xF0 else 0x80, 0x8F if lead == 0xF4 else 0xBF
    else:
        return 1
    length = 1
    for byte in data[1 : 1 + following]:
        if not low <= byte <= high:
            break
        length, low, high = length + 1, 0x80, 0xBF
    return length


def decode_row(family_name: str, key: bytes | None, value: bytes | None) -> Row:
    """Decode one record."""
    family = FAMILIES[family_name]
    if family.framed_value:
        return _framed(family.types, value)
    row = Row("bad_key")
    if key is None:
        return row
    reader = Reader(key)
    try:
        number = reader.number("int16") if family.typed_key else None
        row.record_type = number
        record = family.types.get(number)
        if record is None:
            row.status = "unknown_type"
            return row
        assert record.key is not None
        row.key = reader.message(record.key, 0)
    except Broken:
        return row
    if value is None:
        row.status = "tombstone"
        return row
    body = Reader(value)
    try:
        version = 0
        if family.versioned_value:
            row.value_version = version = body.number("int16")
        _value(row, record, version, body, trailing=reader.left() > 0)
    except Broken:
        row.status = "bad_value"
    return row


def _value(row: Row, record: RecordType, version: int, body: Reader, trailing: bool) -> None:
    if version not in record.value.valid:
        row.status = "unknown_version"
        return
    row.value = body.message(record.value, version)
    row.unknown_tags = body.unknown
    row.status = "ok_trailing" if trailing or body.left() else "ok"


def _framed(types: dict[int | None, RecordType], value: bytes | None) -> Row:
    if value is None:
        return Row("tombstone")
    row, body = Row("bad_value"), Reader(value)
    try:
        frame, api_key, version = (body.uvarint() for _ in range(3))
        if frame != 1:
            return row
        row.record_type = _int16(api_key)
        record = types.get(row.record_type)
        if record is None:
            row.status = "unknown_type"
            return row
        row.value_version = _int16(version)
        _value(row, record, row.value_version, body, trailing=False)
        if body.left() and row.status == "ok_trailing":
            row.status, row.value, row.unknown_tags = "bad_value", None, {}
    except Broken:
        row.status = "bad_value"
    return row


def _int16(number: int) -> int:
    return (number + 0x8000) % 0x10000 - 0x8000
