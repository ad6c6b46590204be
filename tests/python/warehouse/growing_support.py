"""The warehouse of moldau 0.1 that is kept in tests/fixtures, and contracts that differ."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from moldau.warehouse.contracts import Table, tables

PACKED = Path(__file__).parents[2] / "fixtures" / "warehouse_of_0_1" / "warehouse.tar.xz"


def unpack(folder: Path) -> Path:
    shutil.unpack_archive(PACKED, folder)  # a filter is not known to every Python 3.11
    return folder / "warehouse"


def with_contracts(patch: pytest.MonkeyPatch, *others: Table, without: str = "") -> None:
    """As if this version had these tables in place of its own, and none of a database `without`."""
    kept = {k: v for k, v in tables().items() if v.database != without}
    changed = kept | {table.full_name: table for table in others}
    for module in ("create", "schema"):
        patch.setattr(f"moldau.warehouse.{module}.tables", lambda: changed)
