"""Run a function over Arrow batches in several processes, since a Python process uses one core."""

from __future__ import annotations

import functools
import os
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import TYPE_CHECKING

from moldau.engines.engine import Mapped

if TYPE_CHECKING:
    import pyarrow as pa

WORTH_BYTES = 4 << 20  # below that a process takes longer to start than to work
_PARTS_PER_PROCESS = 8


def in_processes(change: Mapped, rows: pa.Table) -> list[pa.RecordBatch]:
    """What `change` makes of all rows; the parts are in the order of the rows."""
    processes = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    if rows.nbytes >= WORTH_BYTES and processes > 1:
        try:
            return _parts_changed(change, rows, processes)
        except (BrokenProcessPool, OSError):
            pass  # where no process can be started, or one was ended, this one does it
    return list(change(rows.to_batches()))


def _parts_changed(change: Mapped, rows: pa.Table, processes: int) -> list[pa.RecordBatch]:
    length = max(rows.num_rows // (processes * _PARTS_PER_PROCESS), 1)
    parts = [_written(rows.slice(begin, length)) for begin in range(0, rows.num_rows, length)]
    # a fork would copy the threads of DuckDB and Arrow in the middle of what they do
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        made = list(pool.map(functools.partial(_part_changed, change), parts))
    return [batch for part in made for batch in _read(part)]


def _part_changed(change: Mapped, part: bytes) -> bytes:
    import pyarrow as pa

    return _written(pa.Table.from_batches(change(_read(part))))


def _written(rows: pa.Table) -> bytes:
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as writer:
        writer.write_table(rows)
    written: bytes = sink.getvalue().to_pybytes()
    return written


def _read(written: bytes) -> list[pa.RecordBatch]:
    import pyarrow as pa

    batches: list[pa.RecordBatch] = pa.ipc.open_stream(written).read_all().to_batches()
    return batches
