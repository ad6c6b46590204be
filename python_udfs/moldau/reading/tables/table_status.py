"""The status of every table, read from its Delta log: as rows, and as a relation for its mart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from moldau.literals import rows_sql
from moldau.reading.tables.names_of import existing_tables
from moldau.warehouse.damage import DamagedError, looking_at, sizes_told, wrong_file
from moldau.warehouse.opened import deleted_rows, open_latest
from moldau.warehouse.upkeep import overdue

Row = dict[str, Any]
_TYPES = {
    "table_name": "string",
    "row_count": "bigint",
    "file_count": "bigint",
    "size_bytes": "bigint",
    "table_version": "bigint",
    "written_at_ms": "bigint",
}


def table_status_sql(warehouse: Path) -> str:
    """A query, for either engine, that gives one row per table, as it is now."""
    rows = [
        {
            "table_name": row["table"],
            "row_count": row["rows"],
            "file_count": row["files"],
            "size_bytes": row["bytes"],
            "table_version": row["version"],
            "written_at_ms": row["last_write_at_ms"],
        }
        for row in read_tables(warehouse)
    ]
    return rows_sql(_TYPES, rows)


def read_tables(warehouse: Path) -> list[Row]:
    """One row per table: table, rows, files, bytes, version, last_write_at_ms, damage, upkeep.

    `upkeep`: what of it is overdue, in words."""
    return [_table(warehouse, name) for name in existing_tables(warehouse)]


def _table(warehouse: Path, name: str) -> Row:
    row: Row = {"table": name, "rows": None, "files": None, "bytes": None, "version": None}
    row |= {"last_write_at_ms": None, "damage": None, "upkeep": None}
    try:
        with looking_at(warehouse.joinpath(*name.split(".", 1))):
            row |= _measured(warehouse, name)
    except DamagedError as error:
        row["damage"] = str(error)
    return row


def _measured(warehouse: Path, name: str) -> Row:
    table = open_latest(warehouse, name)
    if wrong := wrong_file(sizes_told(table)):
        raise DamagedError(f"{name} cannot be read: {wrong} (see `moldau doctor`)")
    files = table.get_add_actions()
    counts, sizes = (files.column(c).to_pylist() for c in ("num_records", "size_bytes"))
    rows = None if None in counts else sum(counts)
    if rows and table.metadata().configuration.get("delta.enableDeletionVectors"):
        rows -= sum(len(hidden) for hidden in deleted_rows(table).values())
    return {
        "rows": rows,
        "files": len(sizes),
        "bytes": sum(sizes),
        "version": table.version(),
        "upkeep": overdue(table, name),
        "last_write_at_ms": _last_write(warehouse, name, table.version()),
    }


def _last_write(warehouse: Path, name: str, version: int) -> int | None:
    commit = warehouse.joinpath(*name.split(".", 1), "_delta_log", f"{version:020d}.json")
    try:
        return commit.stat().st_mtime_ns // 1_000_000
    except OSError:
        return None
