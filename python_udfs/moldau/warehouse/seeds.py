"""The look-up tables of the warehouse, written from `seeds/*.csv` without Spark or dbt."""

from __future__ import annotations

from pathlib import Path

from moldau.project import SEEDS, seeds_digest
from moldau.warehouse.append import append
from moldau.warehouse.contracts import Table, tables
from moldau.warehouse.durable import write_durably
from moldau.warehouse.kept import kept_table
from moldau.warehouse.paths import SEEDED

_ARROW = {"string": "string", "int": "int32", "bigint": "int64", "boolean": "bool"}


def seed(warehouse: Path) -> None:
    """Write those look-up tables that are empty, and all if their files are not as at last."""
    digest = seeds_digest()
    is_as_written = seeded_digest(warehouse) == digest
    for table in tables().values():
        if table.database == "seeds":
            opened = kept_table(warehouse / table.database / table.name)
            if not (is_as_written and opened.file_uris()):
                _write(warehouse, table)
    if not is_as_written:
        write_durably(warehouse / SEEDED, digest)


def seeded_digest(warehouse: Path) -> str | None:
    """Of the files that were written last; None = not known."""
    try:
        return (warehouse / SEEDED).read_text(encoding="ascii")
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError, ValueError):
        return None


def _write(warehouse: Path, table: Table) -> None:
    """In the place of all its rows; an empty field is null, as dbt has it."""
    from pyarrow.csv import ConvertOptions, read_csv

    options = ConvertOptions(
        column_types={column.name: _ARROW[column.data_type] for column in table.columns},
        include_columns=[column.name for column in table.columns],
        null_values=[""],
        strings_can_be_null=True,
    )
    rows = read_csv(SEEDS / f"{table.name}.csv", convert_options=options)
    append(warehouse, table.full_name, rows.to_batches(), is_instead=True)
