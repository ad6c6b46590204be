"""Delta's column types and texts as DuckDB SQL, and DuckDB's errors in one line."""

from __future__ import annotations

from typing import Any

from moldau.engines.duckdb.translation import identifier

_NAMES = {
    "string": "VARCHAR",
    "long": "BIGINT",
    "integer": "INTEGER",
    "short": "SMALLINT",
    "byte": "TINYINT",
    "float": "REAL",
    "double": "DOUBLE",
    "boolean": "BOOLEAN",
    "binary": "BLOB",
    "date": "DATE",
    "timestamp": "TIMESTAMP WITH TIME ZONE",
    "timestamp_ntz": "TIMESTAMP",
}


def duckdb_type(delta: Any) -> str:
    """DuckDB's name of a type as Delta's schema JSON has it."""
    if isinstance(delta, str):
        return _NAMES.get(delta, delta)  # decimal(p,s) reads the same
    match delta["type"]:
        case "array":
            return f"{duckdb_type(delta['elementType'])}[]"
        case "map":
            return f"MAP({duckdb_type(delta['keyType'])}, {duckdb_type(delta['valueType'])})"
        case _:
            fields = (f"{identifier(f['name'])} {duckdb_type(f['type'])}" for f in delta["fields"])
            return f"STRUCT({', '.join(fields)})"


def literal(text: str) -> str:
    """A quoted SQL string."""
    return "'" + text.replace("'", "''") + "'"


def in_one_line(error: Exception) -> str:
    """What DuckDB says is wrong, and where in the statement."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return " ".join(lines[:2])[:500]
