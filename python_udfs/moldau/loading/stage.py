"""Stage files, or rows, in a folder: checked, each record once, ready to be appended."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from moldau.loading.checked_rows import Chunk, check_rows
from moldau.loading.inputs import Place
from moldau.loading.refusals import Refusals
from moldau.loading.shape import Shape
from moldau.loading.sources import sources
from moldau.sessions.brought import Brought
from moldau.settings.limits import Limits
from moldau.warehouse.durable import fsync


@dataclass
class Staged(Brought):
    """What a load brings, and where its rows lie."""

    folder: Path = field(kw_only=True)

    @classmethod
    def of(cls, brought: Brought, folder: Path) -> Staged:
        return cls(**vars(brought), folder=folder)

    def brought(self) -> Brought:
        return Brought(**{name: value for name, value in vars(self).items() if name != "folder"})

    @property
    def rows_folder(self) -> Path:
        return self.folder / "rows"

    @property
    def refused_file(self) -> Path:
        return self.folder / "refused.jsonl"

    def row_files(self) -> list[Path]:
        """In the order of the files that they came from."""
        return sorted(self.rows_folder.glob("*.parquet"))

    def bytes(self) -> int:
        return sum(file.stat().st_size for file in self.row_files())


def stage(
    staged: Staged,
    files: list[Path],
    shape: Shape,
    limits: Limits,
    place: Place | None = None,
    tell: Callable[[int], None] | None = None,
) -> None:
    """Stage what these files hold; MoldauError when one cannot be read.

    `tell` hears how many rows there are, each time there are more.
    """
    stage_chunks(staged, sources(files, shape, limits, staged.notes.append, place), shape, tell)


def stage_rows(
    staged: Staged, rows: Iterable[Mapping[str, Any]], origin: str, shape: Shape
) -> None:
    """Stage rows that stand in no file: objects as a line of one would have them.

    `origin`: where they are from, as a refusal names it.
    """

    def check(row: Mapping[str, Any], _number: int) -> dict[str, Any]:
        return shape.check(dict(row))

    stage_chunks(staged, [(origin, check_rows(enumerate(rows, 1), origin, shape, check))], shape)


def stage_chunks(
    staged: Staged,
    sources: Sequence[tuple[str, Iterable[Chunk]]],
    shape: Shape,
    tell: Callable[[int], None] | None = None,
) -> None:
    """Write the chunks of each source, by its name, into `staged.folder`, a Parquet file a chunk.

    Columns: `shape.schema`, `file_index` and `line` (where the row stood). They are on disk then.
    """
    staged.rows_folder.mkdir(parents=True)
    staged.files = [source for source, _ in sources]
    refusals = Refusals(staged.refused_file)
    spans = Spans()
    for index, (source, chunks) in enumerate(sources):
        for number, (table, refused) in enumerate(chunks):
            refusals.add(refused)
            if refused and shape.is_snapshot and source not in staged.refused_files:
                staged.refused_files.append(source)
            if staged.refused_files or not table.num_rows:
                continue
            staged.rows += table.num_rows
            if tell:
                tell(staged.rows)
            if shape.kind == "records":
                spans.add(table)
            else:
                spans.may_repeat = True
            indexes = pa.array(np.full(table.num_rows, index, np.int32))
            path = staged.rows_folder / f"{index:05d}-{number:05d}.parquet"
            rows = table.append_column("file_index", indexes)
            pa.parquet.write_table(rows, path, write_page_checksum=True)
    if staged.refused_files:
        # a snapshot replaces the one before as a whole, so one bad line refuses all of it
        for path in staged.row_files():
            path.unlink()
        staged.rows = 0
    staged.refused, staged.refused_more = refusals.first, refusals.count - len(refusals.first)
    staged.ranges, staged.has_repeats = spans.ranges(), spans.may_repeat
    fsync(*staged.row_files(), staged.rows_folder, staged.folder, staged.folder.parent)


class Spans:
    """First and last offset of each partition; whether a key may have come twice."""

    def __init__(self) -> None:
        self._ends: dict[tuple[str, int], tuple[int, int]] = {}
        self.may_repeat = False

    def add(self, table: pa.Table) -> None:
        by_partition = table.group_by(["topic_name", "partition_index"]).aggregate(
            [("log_offset", "min"), ("log_offset", "max")]
        )
        for row in by_partition.to_pylist():
            low, high = row["log_offset_min"], row["log_offset_max"]
            key = (row["topic_name"], row["partition_index"])
            first, last = self._ends.get(key, (low, low - 1))
            self.may_repeat |= low <= last
            self._ends[key] = (min(first, low), max(last, high))
        self.may_repeat = self.may_repeat or not _ascends(table)

    def ranges(self) -> list[tuple[str, int, int, int]]:
        return [(*key, *ends) for key, ends in self._ends.items()]


def _ascends(table: pa.Table) -> bool:
    """Within each run of rows of one partition offsets rise, and no partition comes back."""
    if table.num_rows < 2:
        return True
    offsets = table["log_offset"].to_numpy()
    partitions = table["partition_index"].to_numpy()
    topics = table["topic_name"].combine_chunks().dictionary_encode().indices.to_numpy()
    ordered = np.lexsort((partitions, topics))  # stable: the order in the file is kept
    offsets, partitions, topics = offsets[ordered], partitions[ordered], topics[ordered]
    same = (partitions[1:] == partitions[:-1]) & (topics[1:] == topics[:-1])
    return bool(np.all(offsets[1:][same] > offsets[:-1][same]))
