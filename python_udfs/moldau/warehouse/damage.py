"""Is a table present and whole? Damage is named and refused; nothing is ever made anew over it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from moldau.warehouse.delta_log import LogDamageError, read_log_tail

if TYPE_CHECKING:
    from deltalake import DeltaTable

    from moldau.warehouse.contracts import Table

_ADVICE = "nothing was changed: restore the folder from a copy, or move it away and load again"
_SPARK_NAMES = {"long": "bigint", "integer": "int", "short": "smallint", "byte": "tinyint"}


def find_damage(warehouse: Path, table: Table) -> str | None:
    """One line that names table, file and what can be done; None = the table is whole.

    Looks at the log since its last checkpoint, at the presence of every file of the current
    version, and at names and types of the columns. A few milliseconds for a small table.
    """
    folder = warehouse / table.database / table.name
    if not folder.exists():
        return f"{table.full_name} is missing in {warehouse}: `moldau init` creates new warehouses"
    wrong = find_log_damage(folder)
    if wrong is None:
        try:
            opened = open_table(folder)
            wrong = _missing_file(opened) or _other_columns(opened, table)
        except Exception as error:
            wrong = f"it cannot be opened ({_one_line(error)})"
    return wrong and f"{table.full_name} in {folder} is damaged: {wrong}; {_ADVICE}"


def find_log_damage(folder: Path) -> str | None:
    """What is wrong with a table's log or its deletion vectors; None = nothing."""
    try:
        tail = read_log_tail(folder)
    except LogDamageError as error:
        return str(error)
    except OSError as error:
        return f"{error.filename}: {error.strerror}"
    missing = [name for name in tail.deletion_vector_files if not os.path.exists(folder / name)]
    return f"the deletion vector {min(missing)} is missing" if missing else None


def intact_version(folder: Path) -> int | None:
    """The latest version of a table whose log and files are whole; None = it is not."""
    if find_log_damage(folder):
        return None
    table = open_table(folder)
    return None if _missing_file(table) else table.version()


def open_table(folder: Path) -> DeltaTable:
    """The table at its latest version."""
    from deltalake import DeltaTable

    path = os.path.abspath(folder)
    if unquote(path) != path:
        raise OSError("a path with % and two hex digits is read as a URL by Delta: move it")
    return DeltaTable(path)


def data_files(table: DeltaTable) -> list[str]:
    """Absolute paths of the files of the current version."""
    return [unquote(uri.removeprefix("file://")) for uri in table.file_uris()]


def _missing_file(table: DeltaTable) -> str | None:
    for path in data_files(table):
        if not os.path.exists(path):
            return f"the data file {os.path.basename(path)} is missing"
    return None


def _other_columns(opened: DeltaTable, table: Table) -> str | None:

    fields = json.loads(opened.schema().to_json())["fields"]
    found = {field["name"]: _spark_type(field["type"]) for field in fields}
    expected = {column.name: _normal(column.data_type) for column in table.columns}
    if found == expected:
        return None
    differences = [f"{name} is missing" for name in expected if name not in found]
    differences += [f"{name} is not expected" for name in found if name not in expected]
    differences += [
        f"{name} is {found[name]} instead of {expected[name]}"
        for name in expected
        if name in found and found[name] != expected[name]
    ]
    return f"other columns than this version of moldau has ({', '.join(differences)})"


def _spark_type(delta: Any) -> str:
    """Spark's name of a type of Delta's schema JSON."""
    if isinstance(delta, str):
        return _SPARK_NAMES.get(delta, delta)
    match delta["type"]:
        case "array":
            return f"array<{_spark_type(delta['elementType'])}>"
        case "map":
            return f"map<{_spark_type(delta['keyType'])},{_spark_type(delta['valueType'])}>"
        case _:
            fields = (f"{f['name']}:{_spark_type(f['type'])}" for f in delta["fields"])
            return f"struct<{','.join(fields)}>"


def _normal(data_type: str) -> str:
    text = "".join(data_type.lower().split())
    return _SPARK_NAMES.get(text, text)


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:300]
