"""Read Parquet files of tables, and hold their pages against the checksums that they have.

What reads with pyarrow, or with Spark, notices a page whose bytes have changed; Delta's library and
DuckDB do not look.
"""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from moldau.warehouse.damage import DamagedError
from moldau.warehouse.extents import Key, is_within
from moldau.warehouse.files import encoded_schema, texts

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.dataset as ds
    import pyarrow.parquet as pq


def read_files(
    folder: Path,
    names: Sequence[str],
    schema: pa.Schema,
    columns: Sequence[str] | None = None,
    is_encoded: bool = False,
) -> pa.Table:
    """The rows of these files of a table; the pages that have checksums are held against them.

    `is_encoded`: texts as `encoded` gives them. DamagedError if a file cannot be read.
    """
    with _reading(folder, names):
        dataset = _dataset(folder, names, encoded_schema(schema) if is_encoded else schema)
        return dataset.to_table(None if columns is None else list(columns))


def read_encoded(folder: Path, name: str, schema: pa.Schema) -> list[pa.Table] | None:
    """The groups of rows of a file of a table, each `encoded`: of many rows that stay as they are
    it takes a tenth of the time. None = the file has other columns than the table.

    DamagedError if it cannot be read.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    wanted = encoded_schema(schema)
    with (
        _reading(folder, [name]),
        pq.ParquetFile(
            folder / name, read_dictionary=texts(schema), page_checksum_verification=True
        ) as file,
    ):
        found = file.schema_arrow
        if found.names != wanted.names or found.types != wanted.types:
            return None
        groups = map(file.read_row_group, range(file.num_row_groups))
        return [pa.Table.from_arrays(group.columns, schema=wanted) for group in groups]


def read_groups(
    folder: Path,
    names: Sequence[str],
    schema: pa.Schema,
    columns: Sequence[str],
    keys: Sequence[Key],
    place: str,
) -> pa.Table:
    """Columns of those groups of rows of these files that may hold one of these keys, by their
    least and greatest values and by the texts that they have. `place`: column for the places of
    the rows among all of the files. DamagedError as above.
    """
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    plain = pa.schema([*map(schema.field, columns)])
    found = [pa.schema([*plain, pa.field(place, pa.int64())]).empty_table()]
    named = texts(plain)
    values = {name: pa.array({key[columns.index(name)] for key in keys}) for name in named}
    first = 0
    with _reading(folder, names):
        for name in names:
            with pq.ParquetFile(
                folder / name, read_dictionary=named, page_checksum_verification=True
            ) as file:
                for number in range(file.num_row_groups):
                    group = file.metadata.row_group(number)
                    rows, told = group.num_rows, _ends(group)
                    ends = zip(*(told.get(one, (None, None)) for one in columns), strict=True)
                    least, greatest = map(tuple, ends)
                    if any(is_within(key, least, greatest) for key in keys):
                        there = {}
                        for one in columns:  # mostly the second one tells, and no more is read
                            there[one] = file.read_row_group(number, [one])[one]
                            if one in values and not _has_one(there[one], values[one]):
                                break
                        else:
                            places = pa.array(np.arange(first, first + rows))
                            part = pa.table(there).cast(plain)
                            found.append(part.append_column(place, places))
                    first += rows
    return pa.concat_tables(found)


def _has_one(texts_there: pa.ChunkedArray, wanted: pa.Array) -> bool:
    import pyarrow.compute as pc

    return any(
        pc.any(pc.is_in(chunk.dictionary, value_set=wanted)).as_py() for chunk in texts_there.chunks
    )


def _ends(group: pq.RowGroupMetaData) -> dict[str, tuple[Any, Any]]:
    """Least and greatest value by column, where they are known."""
    columns = (group.column(number) for number in range(group.num_columns))
    return {
        column.path_in_schema: (column.statistics.min, column.statistics.max)
        for column in columns
        if column.is_stats_set and column.statistics.has_min_max
    }


def _dataset(folder: Path, names: Sequence[str], schema: pa.Schema) -> ds.Dataset:
    import pyarrow as pa
    import pyarrow.dataset as ds

    options = ds.ParquetFragmentScanOptions(page_checksum_verification=True)
    encoded_ones = [one.name for one in schema if pa.types.is_dictionary(one.type)]
    form = ds.ParquetFileFormat(
        default_fragment_scan_options=options, dictionary_columns=encoded_ones
    )
    return ds.dataset([str(folder / name) for name in names], schema=schema, format=form)


@contextlib.contextmanager
def _reading(folder: Path, names: Sequence[str]) -> Iterator[None]:
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno not in (None, errno.ENOENT):
            raise
        told = " ".join(str(error).split())
        listed = ", ".join(names)
        raise DamagedError(f"{folder} cannot be read: {told} (of {listed})") from error
