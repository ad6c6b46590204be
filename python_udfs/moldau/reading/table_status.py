"""What the Delta logs tell of every table, for the mart that shows it."""

from __future__ import annotations

from pathlib import Path

from moldau.engine.literals import rows_sql

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
    from moldau.reading.status import read_tables

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
