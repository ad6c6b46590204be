"""Parquet files of any schema: random types, values and names for the fields of a kind of file."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable
from decimal import Decimal
from random import Random
from typing import Any

import pyarrow as pa

from moldau.loading.shape import Shape

T = 1_795_000_000_000
_UNITS = ("s", "ms", "us", "ns")
_ZONES = (None, "UTC", "Europe/Berlin", "+05:30")
_NUMBERS = (0, 1, -1, 5, T, 127, 255, 2**31, 2**53, 2**63 - 1, -(2**63), 2**64 - 1)
_TEXTS = ("", "t", "AAIAAWE=", "a\0b", "\x1b[31m", "🦀", "[]", "{}", "7", "NONE", "x" * 300)
_NAMES = ("key", "value", "value_base64", "a.b", "", "epoch", "start_offset", "retention.ms")


def leaf_type(random: Random) -> pa.DataType:
    choices: list[Callable[[], pa.DataType]] = [
        pa.null, pa.bool_, pa.int8, pa.int16, pa.int32, pa.int64,
        pa.uint8, pa.uint16, pa.uint32, pa.uint64, pa.float16, pa.float32, pa.float64,
        pa.string, pa.large_string, pa.string_view, pa.binary, pa.large_binary, pa.binary_view,
        lambda: pa.binary(random.choice((1, 2, 16))), pa.date32, pa.date64,
        lambda: pa.timestamp(random.choice(_UNITS), random.choice(_ZONES)),
        lambda: pa.time32(random.choice(_UNITS[:2])), lambda: pa.time64(random.choice(_UNITS[2:])),
        lambda: pa.duration(random.choice(_UNITS)),
        lambda: pa.decimal128(20, random.choice((0, 3))),
        lambda: pa.decimal256(50, random.choice((0, 3))), lambda: pa.decimal32(9, 2),
        lambda: pa.decimal64(15, 0), pa.uuid, lambda: pa.json_(pa.string()),
        lambda: pa.dictionary(pa.int32(), random.choice((pa.string(), pa.int64(), pa.binary()))),
    ]  # fmt: skip
    return random.choice(choices)()


def any_type(random: Random, depth: int = 3) -> pa.DataType:
    if depth == 0 or random.random() < 0.4:
        return leaf_type(random)
    inner = any_type(random, depth - 1)
    match random.randrange(6):
        case 0:
            return pa.list_(inner)
        case 1:
            return pa.large_list(inner)
        case 2:
            return pa.list_(inner, 2)
        case 3:
            return pa.map_(random.choice((pa.string(), pa.int32(), pa.binary())), inner)
        case _:
            names = random.sample(_NAMES, random.randrange(1, 4))
            return pa.struct([(name, any_type(random, depth - 1)) for name in names])


def near(wanted: pa.DataType, random: Random, wildness: float) -> pa.DataType:
    """A type as people have it there: mostly near to what is wanted."""
    if random.random() < wildness / 4:
        return any_type(random)
    if pa.types.is_list(wanted):
        make = random.choice((pa.list_, pa.large_list))
        return make(near(wanted.value_type, random, wildness))
    if pa.types.is_struct(wanted):
        members = [member for member in wanted if random.random() > wildness / 2] or [wanted[0]]
        found = [(member.name, near(member.type, random, wildness)) for member in members]
        more = [("more", any_type(random, 1))] if random.random() < wildness else []
        return pa.struct([*found, *more])
    if pa.types.is_map(wanted):
        configs = pa.struct([("key", pa.string()), ("value", leaf_type(random))])
        by_name = pa.map_(pa.string(), leaf_type(random))
        return random.choice([wanted, wanted, by_name, pa.list_(configs), configs])
    return leaf_type(random) if random.random() < wildness else wanted


def value(kind: pa.DataType, random: Random) -> Any:
    if random.random() < 0.1 or pa.types.is_null(kind):
        return None
    if isinstance(kind, pa.BaseExtensionType):
        return value(kind.storage_type, random)
    if pa.types.is_dictionary(kind):
        return value(kind.value_type, random)
    if pa.types.is_boolean(kind):
        return random.random() < 0.5
    if pa.types.is_integer(kind):
        low = -(2 ** (kind.bit_width - 1)) if pa.types.is_signed_integer(kind) else 0
        high = 2**kind.bit_width + low - 1
        return min(max(random.choice(_NUMBERS), low), high)
    if pa.types.is_floating(kind):
        return random.choice((0.0, 7.0, 7.5, -1.0, 1000.0, math.nan, math.inf, 1.2))
    if pa.types.is_decimal(kind):
        return Decimal(random.randrange(-5, 500)).scaleb(-kind.scale)
    if pa.types.is_timestamp(kind) or pa.types.is_duration(kind):
        per_second = 1000 ** _UNITS.index(kind.unit)
        return random.choice((0, -1, T // 1000 * per_second, 7, 2**63 - 1, -(2**63) + 1))
    if pa.types.is_date(kind):
        return dt.date(random.choice((1, 1969, 2026, 9999)), 1, 2)
    if pa.types.is_time(kind):
        return dt.time(3, 4, 5)
    if pa.types.is_fixed_size_binary(kind):
        return random.randbytes(kind.byte_width)
    if pa.types.is_map(kind):
        size = random.randrange(3)
        keys = [value(kind.key_type, random) for _ in range(size)]
        return [(key, value(kind.item_type, random)) for key in keys if key is not None]
    if pa.types.is_fixed_size_list(kind):
        return [value(kind.value_type, random) for _ in range(kind.list_size)]
    if pa.types.is_struct(kind):
        return {member.name: value(member.type, random) for member in kind}
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return [value(kind.value_type, random) for _ in range(random.randrange(4))]
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_binary_view(kind):
        return random.choice((b"", b"AAIAAWE=", b"\xff\xfe", b"a\0"))
    return random.choice(_TEXTS)


def array(kind: pa.DataType, values: list[Any]) -> pa.Array:
    if isinstance(kind, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(kind, array(kind.storage_type, values))
    return pa.array(values, kind)


def random_table(shape: Shape, random: Random) -> pa.Table:
    """Columns of the kind of file: some missing, twice, in capitals, of other types, and more."""
    size = random.choice((0, 1, 3, 3, 3))
    wildness = random.choice((0.02, 0.1, 0.4))
    names: list[str] = []
    columns: list[pa.Array] = []

    def add(name: str, kind: pa.DataType) -> None:
        made = array(kind, [value(kind, random) for _ in range(size)])
        names.append(name)
        columns.append(made)

    for field in shape.members:
        kind = any_type(random) if field.holds_headers else near(field.file_type, random, wildness)
        if random.random() > wildness / 10:
            add(field.name, kind)
        if random.random() < wildness / 10:
            add(field.name, leaf_type(random))
        if random.random() < 0.05:
            add(random.choice((field.name.upper(), f"{field.name}.x")), leaf_type(random))
    if random.random() < 0.3:
        add(random.choice(("note", "headers", "")), any_type(random))
    order = random.sample(range(len(names)), len(names))
    return pa.Table.from_arrays([columns[at] for at in order], names=[names[at] for at in order])
