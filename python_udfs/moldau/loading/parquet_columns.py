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

import pyarrow as pa

from moldau.loading.parquet_nested import any_values, header_values, nested_values
from moldau.loading.parquet_values import Column, leaf, plain
from moldau.loading.shape import Field


def suited(column: pa.Array, field: Field) -> Column:
    """The column in `field.file_type`, or a list if a value is not of it. Unsuited if none is."""
    column = plain(column)
    if pa.types.is_null(column.type):
        return pa.nulls(len(column), field.file_type)
    if field.holds_headers:
        return header_values(column, field.name)
    if field.holds_anything:
        return any_values(column, field.name)
    if pa.types.is_nested(field.file_type):
        return nested_values(column, field.file_type, field.name)
    return leaf(column, field.file_type, field.name)
