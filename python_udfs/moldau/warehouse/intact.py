"""Check that a table is present and intact. Damage is named and refused, never overwritten."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from moldau.warehouse.damage import (
    DamagedError,
    find_log_damage,
    is_there,
    looking_at,
    sizes_told,
    spark_type,
    wrong_file,
)
from moldau.warehouse.kept import kept_table

if TYPE_CHECKING:
    from deltalake import DeltaTable

    from moldau.warehouse.contracts import Table

_ADVICE = (
    "nothing was changed: restore the warehouse from a copy, or move all of it away and load again"
)


def find_damage(warehouse: Path, table: Table, is_earlier: bool = False) -> str | None:
    """One line that names table, file and what can be done; None = the table is whole.

    Looks at the log since its last checkpoint, at presence and size of every file of the current
    version, and at names and types of the columns; `is_earlier`: an earlier version of moldau made
    them. A few milliseconds for a small table. UnreadableError if that cannot be looked at.
    """
    folder = warehouse / table.database / table.name
    with looking_at(folder):
        if not is_there(folder):
            return (
                f"{table.full_name} is missing in {warehouse}: `moldau init` creates new warehouses"
            )
        wrong = find_log_damage(folder)
        if wrong is None:
            try:
                opened = kept_table(folder)
                wrong = wrong_file(sizes_told(opened)) or (
                    None if is_earlier else _other_columns(opened, table)
                )
            except DamagedError as error:
                wrong = str(error)
    return wrong and f"{table.full_name} in {folder} is damaged: {wrong}; {_ADVICE}"


def intact_table(folder: Path) -> DeltaTable | None:
    """A kept table whose log and files are whole; None = they are not."""
    if find_log_damage(folder):
        return None
    with looking_at(folder):
        table = kept_table(folder)
        return None if wrong_file(sizes_told(table)) else table


def _other_columns(opened: DeltaTable, table: Table) -> str | None:
    fields = json.loads(opened.schema().to_json())["fields"]
    found = {field["name"]: spark_type(field["type"]) for field in fields}
    expected = {
        column.name: spark_type("".join(column.data_type.lower().split()))
        for column in table.columns
    }
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
