"""A function over batches does the same in several processes as in one."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable, Iterator

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from moldau.engines.duckdb import processes
from moldau.engines.duckdb.processes import in_processes


def squared(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        length = pc.list_value_length(batch.column("names"))
        columns = [pc.multiply(batch.column("number"), batch.column("number")), length]
        pids = pa.array([os.getpid()] * batch.num_rows)
        yield pa.RecordBatch.from_arrays([*columns, pids], ["square", "names", "pid"])


def fails_beside(pid: int, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    if os.getpid() != pid:
        os._exit(1)
    yield from squared(batches)


ROWS = pa.table({"number": list(range(1_000)), "names": [["x"] * (n % 3) for n in range(1_000)]})


def test_parts_come_back_in_order_from_other_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    here = pa.Table.from_batches(in_processes(squared, ROWS))
    assert set(here["pid"].to_pylist()) == {os.getpid()}
    monkeypatch.setattr(processes, "WORTH_BYTES", 0)
    there = pa.Table.from_batches(in_processes(squared, ROWS))
    assert there.drop(["pid"]).to_pylist() == here.drop(["pid"]).to_pylist()
    if len(os.sched_getaffinity(0)) > 1:
        assert os.getpid() not in there["pid"].to_pylist()


def test_where_processes_end_this_one_does_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "WORTH_BYTES", 0)
    change = functools.partial(fails_beside, os.getpid())
    found = pa.Table.from_batches(in_processes(change, ROWS))
    assert found["square"].to_pylist() == [number**2 for number in range(1_000)]
