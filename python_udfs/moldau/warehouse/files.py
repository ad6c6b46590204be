"""Write Parquet files of tables, each page with its checksum.

Delta's library writes none, so moldau writes with pyarrow.
"""

from __future__ import annotations

import json
import math
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from moldau.instants import now_ms
from moldau.warehouse.metadata import STATISTICS

if TYPE_CHECKING:
    import pyarrow as pa
    from deltalake import DeltaTable
    from deltalake.transaction import AddAction

# whoever looks for a key reads groups of rows that may hold it, and whoever changes it a file
FILE_BYTES = 4 * 1024 * 1024
ROWS_IN_GROUP = 128 * 1024
# of a table whose rows change: a file is read and written for each of them that does, and opened
# by whoever looks for one, so a big table has bigger files and not ever more of them
_FILE_ROWS = 64 * 1024
_FEW_ROWS_IN_GROUP = 64 * 1024
_MANY_FILES = 64
_BYTES_AT_ONCE = 16 * FILE_BYTES  # in memory


def texts(schema: pa.Schema) -> list[str]:
    """The columns whose values repeat: names, reasons, runs.

    Numbers mostly differ: to look for those that repeat takes a third of the time of a write.
    """
    import pyarrow as pa

    return [field.name for field in schema if pa.types.is_string(field.type)]


def encoded(rows: pa.Table) -> pa.Table:
    """With texts as Parquet has them: each value once, and numbers in its place."""
    import pyarrow as pa
    import pyarrow.compute as pc

    rows = rows.combine_chunks()  # else each chunk has values of its own, or the table all of them
    columns = {name: pc.dictionary_encode(rows[name]) for name in texts(rows.schema)}
    arrays = [columns.get(name, rows[name]) for name in rows.column_names]
    return pa.Table.from_arrays(arrays, schema=encoded_schema(rows.schema))


def encoded_schema(schema: pa.Schema) -> pa.Schema:
    import pyarrow as pa

    told = set(texts(schema))
    kind = pa.dictionary(pa.int32(), pa.string())
    return pa.schema([one.with_type(kind) if one.name in told else one for one in schema])


def indexed_columns(opened: DeltaTable, schema: pa.Schema) -> list[str]:
    """The columns by which Delta leaves out files that cannot hold what is asked."""
    told = opened.metadata().configuration.get(STATISTICS, "")
    return [name for name in told.split(",") if name in schema.names]


def rows_of_file(folder: Path, rows: int) -> int | None:
    """How many rows a file of the table in this folder has at most, beside so many in the table.

    None = nobody changes its rows: FILE_BYTES is all that limits a file."""
    return max(_FILE_ROWS, rows // _MANY_FILES) if _is_changed(folder) else None


def _is_changed(folder: Path) -> bool:
    return folder.parent.name in ("state", "decisions")


def rows_told(opened: DeltaTable) -> int:
    """How many rows a table has, as far as its log tells."""
    return sum(filter(None, opened.get_add_actions().column("num_records").to_pylist()))


def write_file(folder: Path, rows: pa.Table, indexed: Sequence[str]) -> AddAction:
    """Write a file of a table; gives what its log is to be told. No file is left if that fails."""
    return write_parts(folder, [rows], indexed)


def write_parts(folder: Path, parts: Sequence[pa.Table], indexed: Sequence[str]) -> AddAction:
    """The same of rows that come in parts, each of which has groups of rows of its own.

    All of them as they are, or `encoded`."""
    import pyarrow.parquet as pq
    from deltalake.transaction import AddAction

    path = folder / f"part-{uuid4()}.snappy.parquet"
    schema = parts[0].schema
    most = _FEW_ROWS_IN_GROUP if _is_changed(folder) else ROWS_IN_GROUP
    try:
        with pq.ParquetWriter(
            path,
            schema,
            use_dictionary=[one.name for one in schema if _is_text(one.type)],
            store_schema=False,
            write_page_checksum=True,
        ) as writer:
            for part in parts:
                writer.write_table(part, row_group_size=_evenly(part.num_rows, most))
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    columns = {name: [part[name] for part in parts] for name in indexed}
    ends = {name: _ends_of(some) for name, some in columns.items()}
    statistics = {
        "numRecords": sum(part.num_rows for part in parts),
        "minValues": {name: found[0] for name, found in ends.items() if found},
        "maxValues": {name: found[1] for name, found in ends.items() if found},
        "nullCount": {name: sum(c.null_count for c in some) for name, some in columns.items()},
    }
    # Delta's library misreads characters beyond U+FFFF that are escaped
    text = json.dumps(statistics, ensure_ascii=False)
    return AddAction(path.name, path.stat().st_size, {}, now_ms(), True, text)


def _is_text(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_dictionary(kind))


def _evenly(rows: int, most: int) -> int:
    """Rows of a group, of which there are so many that each has about so many as it may have:
    else one that has grown by a row would leave a group of one."""
    return max(1, math.ceil(rows / max(1, round(rows / most))))


def _ends_of(columns: Sequence[pa.ChunkedArray]) -> tuple[Any, Any] | None:
    """The least and the greatest value; None = there are none but nulls."""
    import pyarrow as pa
    import pyarrow.compute as pc

    found = []
    for column in columns:
        chunks = column.chunks
        if pa.types.is_dictionary(column.type):
            chunks = [chunk.dictionary for chunk in chunks]
        found += [pc.min_max(chunk).as_py() for chunk in chunks if len(chunk) > chunk.null_count]
    if not found:
        return None
    return min(one["min"] for one in found), max(one["max"] for one in found)


def write_files(
    folder: Path,
    batches: Iterable[pa.RecordBatch],
    write: Callable[[pa.Table], AddAction],
    rows_before: int = 0,
) -> list[AddAction]:
    """Rows as they come, in files of about FILE_BYTES or `rows_of_file`, several at a time.

    `write` makes one file; `rows_before`: that the table has already. None of the files is left if
    one fails.
    """
    import pyarrow as pa

    workers = os.cpu_count() or 1
    actions: list[AddAction] = []
    written: deque[Future[AddAction]] = deque()
    sizes = _Sizes(folder, rows_before)
    with ThreadPoolExecutor(workers) as pool:
        try:
            for rows in _portions(batches, sizes):
                written.append(pool.submit(write, pa.Table.from_batches(rows)))
                while len(written) > workers or (written and written[0].done()):
                    actions.append(written.popleft().result())
                    sizes.learn(actions[-1])
            while written:
                actions.append(written.popleft().result())
        except BaseException:
            wait(written)
            made = [one.result() for one in written if one.exception() is None]
            remove(folder, [*actions, *made])
            raise
    return actions


def remove(folder: Path, actions: Iterable[AddAction]) -> None:
    """Files of which nobody was told."""
    for action in actions:
        (folder / action.path).unlink(missing_ok=True)


class _Sizes:
    """How many bytes a row takes in a file: guessed from memory, until one is written."""

    def __init__(self, folder: Path, rows_before: int) -> None:
        self._folder = folder
        self._rows = rows_before
        self._of_row: float | None = None

    def rows_of_file(self, batch: pa.RecordBatch) -> int:
        in_memory = max(batch.nbytes / batch.num_rows, 1)
        on_disk = in_memory / 3 if self._of_row is None else self._of_row
        fit = max(1, int(min(FILE_BYTES / on_disk, _BYTES_AT_ONCE / in_memory)))
        at_most = rows_of_file(self._folder, self._rows)
        return fit if at_most is None else min(fit, at_most)

    def learn(self, action: AddAction) -> None:
        rows = json.loads(action.stats)["numRecords"]
        self._rows += rows
        self._of_row = action.size / rows


def _portions(batches: Iterable[pa.RecordBatch], sizes: _Sizes) -> Iterator[list[pa.RecordBatch]]:
    """The rows of a file each."""
    portion: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        start = 0
        while start < batch.num_rows:
            fit = max(1, sizes.rows_of_file(batch) - rows)
            part = batch.slice(start, fit)
            portion.append(part)
            rows += part.num_rows
            start += part.num_rows
            if part.num_rows == fit:
                yield portion
                portion, rows = [], 0
    if portion:
        yield portion
