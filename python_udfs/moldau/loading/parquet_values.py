"""The values of a column of a Parquet file that holds no lists, structs or maps."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

Column: TypeAlias = "pa.Array | list[Any]"
_DAY_MS = 86_400_000
_PER_MS = {"us": 1_000, "ns": 1_000_000}
# a float tells whole numbers one by one up to here
_EXACT = {16: 2**11, 32: 2**24, 64: 2**53}


class Unsuited(Exception):
    """Which column holds what, and what is wanted, in one line."""

    def __init__(self, path: str, kind: pa.DataType, wanted: str) -> None:
        text = " ".join(str(kind).split())
        shown = text if len(text) <= 80 else text[:79] + "…"
        super().__init__(f"{path} holds {shown}, not {wanted}")


def values_of(column: Column) -> list[Any]:
    return column if isinstance(column, list) else column.to_pylist()


def plain(column: pa.Array) -> pa.Array:
    """The same values without an encoding, a view or an extension around them."""
    while True:
        kind = column.type
        if isinstance(kind, pa.BaseExtensionType):
            column = column.storage
        elif pa.types.is_dictionary(kind):
            column = column.dictionary_decode()
        elif pa.types.is_run_end_encoded(kind):
            column = pc.run_end_decode(column)
        elif pa.types.is_string_view(kind) or pa.types.is_large_string(kind):
            column = column.cast(pa.string())
        elif pa.types.is_binary_view(kind) or pa.types.is_large_binary(kind):
            column = column.cast(pa.binary())
        else:
            return column


def leaf(column: pa.Array, wanted: pa.DataType, path: str) -> Column:
    if pa.types.is_null(column.type):
        return pa.nulls(len(column), wanted)
    if pa.types.is_string(wanted):
        return _texts(column, path)
    if pa.types.is_boolean(wanted):
        return _booleans(column, path)
    if pa.types.is_binary(wanted):
        return _contents(column, path)
    if pa.types.is_floating(wanted):
        return _fractions(column, path)
    if path.endswith("_ms"):
        return _instants(column, path)
    return whole_numbers(column, path, "a whole number")


def _texts(column: pa.Array, path: str) -> Column:
    kind = column.type
    if not (pa.types.is_string(kind) or pa.types.is_binary(kind)):
        raise Unsuited(path, kind, "text")
    content = column.cast(pa.binary())
    try:
        return content.cast(pa.string())  # looks whether it is UTF-8
    except pa.ArrowInvalid:
        return [_text(value) for value in content.to_pylist()]


def _text(value: bytes | None) -> str | bytes | None:
    try:
        return None if value is None else value.decode()
    except UnicodeDecodeError:
        return value


def _contents(column: pa.Array, path: str) -> Column:
    if not (pa.types.is_string(column.type) or pa.types.is_binary(column.type)):
        raise Unsuited(path, column.type, "bytes")
    return column.cast(pa.binary())


def _booleans(column: pa.Array, path: str) -> Column:
    if not pa.types.is_boolean(column.type):
        raise Unsuited(path, column.type, "true or false")
    return column


def _fractions(column: pa.Array, path: str) -> Column:
    kind = column.type
    if pa.types.is_floating(kind) and kind.bit_width < 64:
        # 0.8 in 32 bits is 0.8, not what is left of it in 64
        return column.cast(pa.float32()).cast(pa.string()).cast(pa.float64())
    if pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_decimal(kind):
        return column.cast(pa.float64(), safe=False)
    raise Unsuited(path, kind, "a number")


def _instants(column: pa.Array, path: str) -> Column:
    kind = column.type
    if pa.types.is_date32(kind):
        return pc.multiply(column.view(pa.int32()).cast(pa.int64()), _DAY_MS)
    if pa.types.is_date64(kind):
        return column.view(pa.int64())
    if pa.types.is_timestamp(kind):
        ticks = column.view(pa.int64())
        if kind.unit == "s":
            return pc.multiply_checked(ticks, 1_000)  # a file has them in milliseconds
        return ticks if kind.unit == "ms" else _floored(ticks, _PER_MS[kind.unit])
    if pa.types.is_time(kind):
        raise Unsuited(path, kind, "an instant: a time of day has no date")
    if pa.types.is_duration(kind):
        raise Unsuited(path, kind, "an instant: a duration has no beginning")
    wanted = "an instant (TIMESTAMP, DATE, INT96 or a number of milliseconds)"
    return whole_numbers(column, path, wanted)


def _floored(ticks: pa.Array, divisor: int) -> pa.Array:
    whole = np.floor_divide(ticks.fill_null(0).to_numpy(zero_copy_only=False), divisor)
    missing = ticks.is_null().to_numpy(zero_copy_only=False) if ticks.null_count else None
    return pa.array(whole, pa.int64(), mask=missing)


def whole_numbers(column: pa.Array, path: str, wanted: str) -> Column:
    kind = column.type
    if pa.types.is_floating(kind):
        return _whole_fractions(column)
    if not (pa.types.is_integer(kind) or pa.types.is_decimal(kind)):
        raise Unsuited(path, kind, wanted)
    try:
        return column.cast(pa.int64())
    except pa.ArrowInvalid:  # more than 63 bits, or a fraction
        return [
            int(value) if value is not None and value == int(value) else value
            for value in column.to_pylist()
        ]


def _whole_fractions(column: pa.Array) -> Column:
    exact = _EXACT[column.type.bit_width]
    values = column.cast(pa.float32()) if exact == _EXACT[16] else column
    values = values.cast(pa.float64())
    is_whole = pc.and_(
        pc.equal(pc.floor(values), values), pc.less_equal(pc.abs(values), float(exact))
    )
    if pc.all(is_whole).as_py() in (True, None):  # None: there is nothing in it
        return values.cast(pa.int64())
    return [
        int(value) if good else value
        for value, good in zip(values.to_pylist(), is_whole.to_pylist(), strict=True)
    ]
