"""Rewrite the files of a table in which rows change, each by itself.

Delta's library writes all files that a merge touches as one stream: the order of the keys is lost
with the first changes that are spread over a table, and from then on every file may hold any key.
Here a row stays among its neighbours, so what a change costs does not follow what exists.
"""

from __future__ import annotations

import math
import os
from bisect import bisect_right
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable
from deltalake.transaction import AddAction, RemoveAction

from moldau.errors import MoldauError
from moldau.instants import now_ms
from moldau.warehouse.commit import commit_merge
from moldau.warehouse.damage import path_of
from moldau.warehouse.extents import Extent, extents, joined, sortable
from moldau.warehouse.files import (
    FILE_BYTES,
    ROWS_IN_GROUP,
    encoded,
    rows_of_file,
    write_file,
    write_parts,
)
from moldau.warehouse.files_read import read_encoded, read_files, read_groups
from moldau.warehouse.hold import Contract
from moldau.warehouse.metadata import STATISTICS

ACTION = "_action"
_FEW = 64  # rows that are looked for in groups of rows that may hold them
# numbers of rows: of all that are merged, of those that a file may hold, in the file
_CHANGE, _ASKED, _ROW = "_change", "_asked", "_row"


Actions = list[AddAction | RemoveAction]


def rewrite(opened: DeltaTable, key: Sequence[str], rows: pa.Table, scratch: Path) -> None:
    """Commit rows as they are to be; `_action` of each: insert, update or delete.

    `rows` has the columns of the table, which is at its new version then. CommitFailedError if
    there is a later version already, DamagedError if a file cannot be read, what Delta raises if
    rows break the contract. Files that no commit names are left by who is killed, or comes too
    late. `scratch`: a folder for what is thrown away.
    """
    began_at_ms = now_ms()
    _check(opened, rows, scratch)
    files = _Files(opened, key, rows)
    try:
        actions = files.write()
    except BaseException:
        files.remove()
        raise
    kinds = {"inserted": "insert", "updated": "update", "deleted": "delete"}
    changed = {told: _count(rows, kind) for told, kind in kinds.items()}
    commit_merge(opened, actions, key, changed, began_at_ms)


def _check(opened: DeltaTable, rows: pa.Table, scratch: Path) -> None:
    """Of rows that are deleted only the key is known."""
    kept = _only(rows, pc.not_equal(rows[ACTION], "delete"))
    Contract(opened, scratch).hold(kept.drop_columns(ACTION))


def _pieces(opened: DeltaTable, key: Sequence[str]) -> list[Extent]:
    """The table's files in order, neighbours that fit in one together; mostly a single one."""
    files = extents(opened, key)
    rows_at_most = rows_of_file(Path(path_of(opened.table_uri)), sum(one.rows for one in files))
    pieces: list[Extent] = []
    for file in files:
        both = joined(pieces[-1], file) if pieces else None
        if both and not _is_too_big(both.bytes, both.rows, rows_at_most):
            pieces[-1] = both
        else:
            pieces.append(file)
    return pieces


def _is_too_big(size: int, rows: int, rows_at_most: int | None) -> bool:
    return size > FILE_BYTES or (rows_at_most is not None and rows > rows_at_most)


class _Changes:
    """Rows that are changed, some thousand at a time: mostly they come in the order of the key."""

    def __init__(self, rows: pa.Table, key: Sequence[str]) -> None:
        self._none = rows.slice(0, 0)
        self._batches = []
        for batch in rows.to_batches(max_chunksize=ROWS_IN_GROUP):
            ends = [pc.min_max(batch[name]).as_py() for name in key]
            self._batches.append((pa.Table.from_batches([batch]), ends))
        self._key = key

    def within(self, piece: Extent) -> pa.Table:
        """Those whose keys the piece may hold."""
        return pa.concat_tables([self._none, *(self._some(*one, piece) for one in self._batches)])

    def _some(self, rows: pa.Table, ends: Sequence[Any], piece: Extent) -> pa.Table:
        around = zip(self._key, ends, piece.least, piece.greatest, strict=True)
        for name, have, least, greatest in around:
            if least is not None and have["min"] < least:
                if have["max"] < least:
                    return self._none
                rows = rows.filter(pc.greater_equal(rows[name], least))
            if greatest is not None and have["max"] > greatest:
                if have["min"] > greatest:
                    return self._none
                rows = rows.filter(pc.less_equal(rows[name], greatest))
        return rows


class _Files:
    """The table's files, and what becomes of them."""

    def __init__(self, opened: DeltaTable, key: Sequence[str], rows: pa.Table) -> None:
        self.folder = Path(path_of(opened.table_uri))
        self._schema = pa.schema(opened.schema().to_arrow())
        self._key = list(key)
        indexed = opened.metadata().configuration.get(STATISTICS, ",".join(key))
        self._indexed = [name for name in indexed.split(",") if name in self._schema.names]
        self._pieces = _pieces(opened, key)
        rows_before = sum(piece.rows for piece in self._pieces)
        self._rows_at_most = rows_of_file(self.folder, rows_before)
        is_new = pc.equal(rows[ACTION], "insert")
        rows = _numbered(rows, _CHANGE)
        self._new = _only(rows, is_new)
        self._changes = _Changes(_only(rows, pc.invert(is_new)), key)
        self._is_done = is_new.to_numpy()
        self._written: list[Path] = []

    def write(self) -> Actions:
        """Every file that is written anew, and those in whose place they are."""
        alone, gained = self._places()
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            rewritten = pool.map(self._rewrite, self._pieces, gained)
            written = pool.map(lambda rows: self._write(self._suited(rows)), alone)
            actions = [action for some in chain(rewritten, written) for action in some]
        if not self._is_done.all():
            raise MoldauError(f"{self.folder}: no file has a row that is to be changed")
        return actions

    def _places(self) -> tuple[list[pa.Table], list[list[int]]]:
        """New rows of each file of their own, and the numbers of those that each piece gains.

        Few go where their keys belong.
        """
        gained: list[list[int]] = [[] for _ in self._pieces]
        if self._new.num_rows > ROWS_IN_GROUP:
            starts = range(0, self._new.num_rows, ROWS_IN_GROUP)
            return [self._new.slice(start, ROWS_IN_GROUP) for start in starts], gained
        least = [sortable(piece.least) for piece in self._pieces]
        keys = self._new.select(self._key).to_pydict().values()
        for number, values in enumerate(zip(*keys, strict=True)):
            place = bisect_right(least, sortable(values)) - 1
            gained[max(place, 0)].append(number)
        return [], gained

    def _rewrite(self, piece: Extent, gained: list[int]) -> Actions:
        """Write a piece as it is to be; [] = nothing changes in it."""
        changes = self._changes.within(piece)
        if not (changes.num_rows or gained):
            return []
        keys = self._keys(piece, changes)
        asked = _numbered(changes.select(self._key), _ASKED)
        few, many = sorted((asked, keys), key=len)
        found = many.join(few, self._key, join_type="inner")  # few are hashed
        if not (found.num_rows or gained):
            return []
        changes = changes.take(found[_ASKED])
        self._is_done[changes[_CHANGE].to_numpy()] = True
        places = found[_ROW].to_numpy()
        new = self._suited(self._new.take(pa.array(gained, pa.int64())))
        gone = [RemoveAction(path, True, now_ms()) for path in piece.paths]
        if whole := self._in_groups(piece, changes, places, new):
            return [whole, *gone]
        rows = _changed(self._read(piece), places, self._updated(changes), new)
        return [*self._write(rows), *gone]

    def _updated(self, changes: pa.Table) -> pa.Table:
        return self._suited(changes.filter(pc.equal(changes[ACTION], "update")))

    def _in_groups(
        self, piece: Extent, changes: pa.Table, places: Any, new: pa.Table
    ) -> AddAction | None:
        """Write a file of several groups of rows, of which most stay as they are encoded.

        `places`: of the rows that change. None = it is another file, or one without rows, or grows
        too big."""
        grown = piece.rows + new.num_rows
        if len(piece.paths) > 1 or (self._rows_at_most and grown > self._rows_at_most):
            return None
        groups = read_encoded(self.folder, piece.paths[0], self._schema)
        if groups is None or len(groups) == 1:
            return None
        starts = np.cumsum([0, *(group.num_rows for group in groups)])
        changed_in = np.searchsorted(starts, places, side="right") - 1
        new_in = self._groups_of(new, groups)
        parts = []
        for number, group in enumerate(groups):
            ours, added = changed_in == number, new_in == number
            if ours.any() or added.any():
                rows = _changed(
                    group,
                    places[ours] - starts[number],
                    self._updated(changes.filter(pa.array(ours))),
                    new.filter(pa.array(added)),
                )
                group = encoded(rows)
            if group.num_rows:
                parts.append(group)
        if not parts:
            return None
        whole = self._noted(write_parts(self.folder, parts, self._indexed))
        if whole.size <= FILE_BYTES:
            return whole
        (self.folder / whole.path).unlink()
        return None

    def _groups_of(self, rows: pa.Table, groups: Sequence[pa.Table]) -> Any:
        """Number of the group where the key of each row belongs."""
        if not rows.num_rows:
            return np.empty(0, int)
        least = [sortable([_least(group[name]) for name in self._key]) for group in groups]
        keys = zip(*(rows[name].to_pylist() for name in self._key), strict=True)
        return np.array([max(bisect_right(least, sortable(key)) - 1, 0) for key in keys])

    def _keys(self, piece: Extent, changes: pa.Table) -> pa.Table:
        """Those of the piece by which rows may change, each with the place of its row."""
        if changes.num_rows > _FEW:
            return _numbered(self._read(piece, self._key), _ROW)
        wanted = list(zip(*(changes[name].to_pylist() for name in self._key), strict=True))
        return read_groups(self.folder, piece.paths, self._schema, self._key, wanted, _ROW)

    def _read(self, piece: Extent, columns: list[str] | None = None) -> pa.Table:
        return read_files(self.folder, piece.paths, self._schema, columns)

    def _suited(self, rows: pa.Table) -> pa.Table:
        """As the table has them."""
        return rows.select(self._schema.names).cast(self._schema)

    def remove(self) -> None:
        for path in self._written:
            path.unlink(missing_ok=True)

    def _write(self, rows: pa.Table) -> Sequence[AddAction]:
        """In one file, or in as many as it turns out to need, and then in order."""
        if not rows.num_rows:
            return []
        room = 1.5  # so that each may grow
        if self._rows_at_most is not None and rows.num_rows > self._rows_at_most:
            count = math.ceil(room * rows.num_rows / self._rows_at_most)
        else:
            whole = self._write_file(rows)
            if whole.size <= FILE_BYTES or rows.num_rows == 1:
                return [whole]
            count = math.ceil(room * whole.size / FILE_BYTES)
            (self.folder / whole.path).unlink()
        rows = rows.sort_by([(name, "ascending") for name in self._key])
        size = math.ceil(rows.num_rows / count)
        starts = range(0, rows.num_rows, size)
        return [self._write_file(rows.slice(start, size)) for start in starts]

    def _write_file(self, rows: pa.Table) -> AddAction:
        return self._noted(write_file(self.folder, rows, self._indexed))

    def _noted(self, written: AddAction) -> AddAction:
        self._written.append(self.folder / written.path)
        return written


def _changed(before: pa.Table, places: Any, updated: pa.Table, new: pa.Table) -> pa.Table:
    """Rows without those at these places, and with others, as which they come out."""
    is_left = np.ones(before.num_rows, bool)
    is_left[places] = False
    left = before.filter(pa.array(is_left)).cast(updated.schema)
    return pa.concat_tables([left, updated, new])


def _least(column: pa.ChunkedArray) -> Any:
    is_encoded = pa.types.is_dictionary(column.type)
    values = [chunk.dictionary if is_encoded else chunk for chunk in column.chunks]
    return min(pc.min(some).as_py() for some in values if len(some))


def _count(rows: pa.Table, kind: str) -> int:
    return int(pc.sum(pc.equal(rows[ACTION], kind)).as_py() or 0)


def _only(rows: pa.Table, are_wanted: pa.ChunkedArray) -> pa.Table:
    """As `filter`; all of them are not copied."""
    return rows if pc.all(are_wanted).as_py() else rows.filter(are_wanted)


def _numbered(rows: pa.Table, column: str) -> pa.Table:
    return rows.append_column(column, pa.array(np.arange(rows.num_rows)))
