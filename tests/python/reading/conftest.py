"""Small real Delta tables with the columns of the contracts, without Spark."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from rows_support import Write, arrow_type, writer

from moldau.reading.tables.views import tables_under

__all__ = ["Write", "arrow_type"]


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    return tmp_path / "warehouse"


@pytest.fixture
def write(warehouse: Path) -> Write:
    """Appends rows to a table; columns that a row leaves out are null or empty."""
    return writer(warehouse)


@pytest.fixture
def write_empty(write: Write) -> Callable[..., None]:
    """Makes every table that these marts are made from, without rows."""

    def make(*marts: str) -> None:
        for name in sorted(tables_under(marts)):
            write(name)

    return make


@pytest.fixture
def hidden_rows() -> Path:
    """A warehouse with one table that Spark wrote with a deletion vector."""
    return Path(__file__).parents[2] / "fixtures" / "hidden_rows"
