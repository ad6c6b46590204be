"""Read the rows of a Parquet file, whatever its schema is, or refuse it in one line.

A type is converted where that is possible (`parquet_columns`). A column that cannot be converted
refuses the file; a value that cannot be refuses its row.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from moldau.errors import MoldauError
from moldau.loading.checked_rows import Chunk, check_rows, with_lines
from moldau.loading.kafka_columns import own_name, path_values, shape_of, types_of
from moldau.loading.parquet_columns import suited
from moldau.loading.parquet_values import Column, Unsuited, values_of
from moldau.loading.shape import Field, Shape
from moldau.settings.limits import Limits

BATCH_ROWS, BATCH_BYTES = 65_536, 32 * 1024 * 1024
_AT_ONCE = 256  # rows that are unpacked before anybody looks how long they are


def parquet_chunks(file: Path, shape: Shape, limits: Limits) -> Iterator[Chunk]:
    """Rows of `file` as tables of `shape.schema` plus `line`; MoldauError if it cannot be read."""
    # the 12 bytes of an INT96 reach further than nanoseconds in a number do; pages are read one by
    # one, not all of a row group
    with (
        _readable(file, "as Parquet"),
        pa.parquet.ParquetFile(
            file, coerce_int96_timestamp_unit="us", pre_buffer=False, buffer_size=1024 * 1024
        ) as parquet,
    ):
        yield from _chunks(parquet, str(file), shape, limits)


def delta_chunks(folder: Path, shape: Shape) -> Iterator[Chunk]:
    """Rows of the latest version of a Delta table, likewise; a line is a row as it is read."""
    from deltalake import DeltaTable, QueryBuilder

    with _readable(folder, "as a Delta table"):
        table = DeltaTable(folder)
        reader = pa.RecordBatchReader.from_stream(
            QueryBuilder().register("t", table).execute("select * from t")
        )
        layout = _Layout(reader.schema, str(folder), shape)
        line = 1
        for batch in reader:
            for start in range(0, batch.num_rows, BATCH_ROWS):
                rows = batch.slice(start, BATCH_ROWS)
                yield from _chunk(layout.columns(rows), line, str(folder), layout.shape)
                line += rows.num_rows


@contextmanager
def _readable(path: Path, how: str) -> Iterator[None]:
    try:
        yield
    except (MoldauError, OSError):
        raise
    except Exception as error:  # of a damaged file a library says all kinds of things
        said = (str(error) or type(error).__name__).splitlines()[0]
        raise MoldauError(f"{path} cannot be read {how}: {said}") from error


def _chunks(
    parquet: pa.parquet.ParquetFile, file: str, shape: Shape, limits: Limits
) -> Iterator[Chunk]:
    layout = _Layout(parquet.schema_arrow, file, shape)
    line = 1
    for batch in _batches(parquet, file, layout.names, limits):
        yield from _chunk(layout.columns(batch), line, file, layout.shape)
        line += batch.num_rows
    if line == 1:  # what no row shows
        layout.columns(pa.table(parquet.schema_arrow.empty_table()))


def _batches(
    parquet: pa.parquet.ParquetFile, file: str, names: list[str], limits: Limits
) -> Iterator[pa.Table]:
    """Few rows at once where rows are long, as values of a dictionary may be, however small the
    file."""
    file_bytes, unpacked, size = Path(file).stat().st_size, 0, 0
    some: list[pa.RecordBatch] = []
    for batch in parquet.iter_batches(_AT_ONCE, columns=names):
        unpacked += batch.nbytes
        limits.refuse_bomb(file, unpacked, file_bytes)
        some.append(batch)
        size += batch.nbytes
        if size >= BATCH_BYTES or len(some) * _AT_ONCE >= BATCH_ROWS:
            yield pa.Table.from_batches(some)
            some, size = [], 0
    if some:
        yield pa.Table.from_batches(some)


class _Layout:
    """Which columns of a file are which fields of `shape`; MoldauError if that is not clear."""

    def __init__(self, schema: pa.Schema, file: str, shape: Shape) -> None:
        self._file, self.shape = file, shape_of(schema.names, shape)
        named = {own_name(name, schema.names, self.shape): name for name in schema.names}
        self._told = path_values(file, [f for f in self.shape.members if f.name not in named])
        fields = _fields(schema, [*named, *self._told], file, self.shape)
        self._columns = {named[field.name]: field for field in fields if field.name in named}
        self.names = list(self._columns)

    def columns(self, batch: Any) -> dict[str, Column]:
        found: dict[str, Column] = {}
        for name, field in self._columns.items():
            # a name with a dot in it comes along with the column that is named before the dot
            column = batch.column(batch.schema.names.index(name))
            if isinstance(column, pa.ChunkedArray):
                column = column.combine_chunks()
            if field.name == "timestamp_type":
                column = types_of(column)
            try:
                found[field.name] = suited(column, field)
            except Unsuited as error:
                raise MoldauError(f"{self._file}: column {error}") from None
        for name, value in self._told.items():
            found[name] = pa.repeat(value, batch.num_rows)
        return found


def _fields(schema: pa.Schema, names: list[str], file: str, shape: Shape) -> list[Field]:
    """Those that the file has; a name is a column's once, and as it is written."""
    twice = [name for name in shape.fields if schema.names.count(name) > 1]
    if twice:
        raise MoldauError(f"{file} has the column {', '.join(twice)} twice: which one holds?")
    missing = [name for name in shape.required_fields if name not in names]
    if missing:
        alike = [name for name in names if name.lower() in missing]
        there = f" (it has {', '.join(alike)}: capitals count)" if alike else ""
        raise MoldauError(f"{file} has no column {', '.join(missing)}{there}")
    return [field for field in shape.members if field.name in names]


def _chunk(columns: dict[str, Column], first: int, file: str, shape: Shape) -> Iterator[Chunk]:
    table = None if shape.needs_lines else _whole(dict(columns), shape)
    if table is not None:
        yield with_lines(table, first), []
        return
    rows = zip(*map(values_of, columns.values()), strict=True)

    def check(row: tuple[Any, ...], _number: int) -> dict[str, Any]:
        return shape.check(dict(zip(columns, row, strict=True)))

    yield from check_rows(enumerate(rows, first), file, shape, check)


def _whole(columns: dict[str, Column], shape: Shape) -> pa.Table | None:
    """The batch as a whole, or None when a row must be looked at for itself."""
    for field in shape.members:
        if field.holds_headers and isinstance(columns.get(field.name), list):
            columns[field.name] = _as_text(field, values_of(columns[field.name]))
    if not all(isinstance(column, pa.Array) for column in columns.values()):
        return None
    table = pa.table(columns)
    if any(table[name].null_count for name in shape.required):
        return None
    return shape.convert(table)


def _as_text(field: Field, values: list[Any]) -> Column:
    try:
        texts = [value if value is None else field.check(field.name, value) for value in values]
    except ValueError:
        return values
    return pa.array(texts, field.type)
