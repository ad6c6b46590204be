"""Random records of every type and version, from the table of definitions."""

from __future__ import annotations

from typing import Any

from encode import encode_key, encode_value
from hypothesis import strategies as st

from moldau.records.families import FAMILIES
from moldau.records.wire_schema import Field

_RANGES = {
    "int8": (-(2**7), 2**7 - 1),
    "int16": (-(2**15), 2**15 - 1),
    "uint16": (0, 2**16 - 1),
    "int32": (-(2**31), 2**31 - 1),
    "int64": (-(2**63), 2**63 - 1),
}
TEXT = st.one_of(
    st.sampled_from(["", "g", "orders", "hé世", "\N{PILE OF POO}", "x" * 130]),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
)

KINDS = [
    (family.name, number, version)
    for family in FAMILIES.values()
    for number, record in family.types.items()
    for version in range(record.value.valid.low, record.value.valid.high + 1)
]


def _element(field: Field, version: int) -> st.SearchStrategy[Any]:
    if field.struct is not None:
        return structs(field.struct, version)
    if field.kind == "string":
        return TEXT
    if field.kind == "bytes":
        return st.binary(max_size=20)
    if field.kind == "uuid":
        return st.one_of(st.just(bytes(16)), st.binary(min_size=16, max_size=16))
    if field.kind == "bool":
        return st.booleans()
    low, high = _RANGES[field.kind]
    return st.one_of(st.sampled_from([0, -1 if low < 0 else 1, low, high]), st.integers(low, high))


def _value(field: Field, version: int) -> st.SearchStrategy[Any]:
    value = _element(field, version)
    if field.is_array:
        value = st.lists(value, max_size=3)
    return st.none() | value if field.nullable else value


def structs(fields: tuple[Field, ...], version: int) -> st.SearchStrategy[dict[str, Any]]:
    here = [f for f in fields if f.present_in(version)]
    return st.fixed_dictionaries({f.name: _value(f, version) for f in here})


@st.composite
def records(draw: st.DrawFn, family: str, number: int | None, version: int) -> dict[str, Any]:
    """One record: its key and value as dicts and as bytes."""
    record = FAMILIES[family].types[number]
    key = None if record.key is None else draw(structs(record.key.fields, 0))
    value = draw(structs(record.value.fields, version))
    flexible = record.value.is_flexible(version)
    extra = st.dictionaries(st.integers(10, 2**31), st.binary(max_size=4), max_size=2)
    tags = draw(extra) if flexible else {}
    return {
        "record_type": number,
        "value_version": version,
        "key": key,
        "value": value,
        "tags": tags,
        "key_bytes": encode_key(family, number, key or {}),
        "value_bytes": encode_value(family, number, version, value, tags),
    }


@st.composite
def mutated(draw: st.DrawFn, data: bytes | None) -> bytes | None:
    """The same bytes, or cut, or lengthened, or with a few bytes changed."""
    if data is None or draw(st.integers(0, 19)) == 0:
        return draw(st.none() | st.binary(max_size=12))
    out = bytearray(data)
    for _ in range(draw(st.integers(0, 3))):
        if not out:
            break
        at = draw(st.integers(0, len(out) - 1))
        kind = draw(st.integers(0, 4))
        if kind == 0:
            del out[at:]
        elif kind == 1:
            out[at:at] = draw(st.binary(min_size=1, max_size=5))
        elif kind == 2:
            del out[at]
        else:
            edge = st.sampled_from([0, 1, 2, 0x7F, 0x80, 0x8F, 0xFF])
            out[at] = draw(edge | st.integers(0, 255))
    return bytes(out)
