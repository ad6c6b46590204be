"""Which keys the files of a table may hold, as its log tells."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from deltalake import DeltaTable

Key = tuple[Any, ...]


@dataclass(frozen=True)
class Extent:
    """Of a file, or of neighbours; paths are relative to the table's folder."""

    paths: tuple[str, ...]
    bytes: int
    rows: int  # 0 = not known
    # by column of the key; None = not known
    least: Key
    greatest: Key

    def may_hold(self, key: Key) -> bool:
        return is_within(key, self.least, self.greatest)

    def may_share(self, other: Extent) -> bool:
        """A key with another one of the same columns."""
        ours, theirs = (
            zip(self.least, self.greatest, strict=True),
            zip(other.least, other.greatest, strict=True),
        )
        return all(
            (least is None or end is None or least <= end)
            and (start is None or greatest is None or start <= greatest)
            for (least, greatest), (start, end) in zip(ours, theirs, strict=True)
        )


def extents(opened: DeltaTable, key: Sequence[str]) -> list[Extent]:
    """Of the table's files, by their least key."""
    import pyarrow as pa

    told = pa.table(opened.get_add_actions(flatten=True))

    def column(name: str) -> list[Any]:
        is_told = name in told.column_names
        return told[name].to_pylist() if is_told else [None] * told.num_rows

    ends = [zip(*(column(f"{end}.{name}") for name in key), strict=True) for end in ("min", "max")]
    columns = map(column, ("path", "size_bytes", "num_records"))
    files = [
        Extent((path,), size, rows or 0, least, greatest)
        for path, size, rows, least, greatest in zip(*columns, *ends, strict=True)
    ]
    return sorted(files, key=lambda file: sortable(file.least))


def is_within(key: Key, least: Key, greatest: Key) -> bool:
    """Column by column; None = not known."""
    return all(
        (low is None or low <= value) and (high is None or value <= high)
        for value, low, high in zip(key, least, greatest, strict=True)
    )


def sortable(key: Sequence[Any]) -> tuple[Any, ...]:
    """What is not known comes first."""
    return tuple((value is not None, value) for value in key)


def joined(one: Extent, other: Extent) -> Extent:
    def ends(which: Any, ours: Key, theirs: Key) -> Key:
        pairs = zip(ours, theirs, strict=True)
        return tuple(None if None in pair else which(pair) for pair in pairs)

    return Extent(
        (*one.paths, *other.paths),
        one.bytes + other.bytes,
        one.rows + other.rows,
        ends(min, one.least, other.least),
        ends(max, one.greatest, other.greatest),
    )


def holding(files: Iterable[Extent], keys: Sequence[Key]) -> list[str]:
    """The files that may hold a row of one of these keys."""
    return [path for one in files if any(map(one.may_hold, keys)) for path in one.paths]
