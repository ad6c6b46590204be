"""A Delta table at its latest version, and the rows that it hides."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from moldau.warehouse.damage import DamagedError, find_log_damage, looking_at, path_of
from moldau.warehouse.kept import kept_table

if TYPE_CHECKING:
    from deltalake import DeltaTable


def open_latest(warehouse: Path, name: str) -> DeltaTable:
    """Table `database.table` at its latest version; DamagedError or UnreadableError."""
    folder = warehouse.joinpath(*name.split(".", 1))
    wrong = find_log_damage(folder)
    if wrong is None:
        try:
            return kept_table(folder)
        except DamagedError as error:
            wrong = str(error)
    raise DamagedError(f"{name} in {folder} cannot be read: {wrong} (see `moldau doctor`)")


def may_hide_rows(table: DeltaTable) -> bool:
    """Whether a version of it may have deletion vectors."""
    return "deletionVectors" in (table.protocol().reader_features or [])


def hides_rows(table: DeltaTable) -> bool:
    """Whether a deletion vector does."""
    return any(batch.num_rows for batch in table.deletion_vectors())


def deleted_rows(table: DeltaTable) -> dict[str, list[int]]:
    """Row numbers (from 0) that deletion vectors hide, by absolute path of the data file.

    DamagedError or UnreadableError if one cannot be read.
    """
    if not may_hide_rows(table):
        return {}
    with looking_at(Path(path_of(table.table_uri))):
        vectors = [batch for batch in table.deletion_vectors() if batch.num_rows]
    if not vectors:
        return {}
    # most tables hide no row, and these take a second to import
    import numpy as np
    import pyarrow as pa

    found: dict[str, list[int]] = {}
    for batch in map(pa.record_batch, vectors):
        columns = (batch["filepath"], batch["selection_vector"])
        for uri, mask in zip(*columns, strict=True):
            keep = mask.values.to_numpy(zero_copy_only=False)
            path = path_of(uri.as_py())
            found[path] = np.flatnonzero(~keep).tolist()
    return found
