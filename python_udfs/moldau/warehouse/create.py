"""Create the warehouse's tables, and upgrade those of an earlier version. No JVM is needed.

A table is created with its constraints in a folder of its own, and renamed into place. A table of
state that is missing or damaged is named and refused, never made anew over what is left; look-up
tables hold nothing of their own, so they are made anew.
"""

from __future__ import annotations

import shutil
from collections.abc import Collection
from pathlib import Path

from moldau.errors import MoldauError
from moldau.warehouse.append import append_to
from moldau.warehouse.contracts import Table, tables
from moldau.warehouse.damage import open_table
from moldau.warehouse.delta_log import write_commit
from moldau.warehouse.intact import find_damage
from moldau.warehouse.left import note_again, require_nothing_lost
from moldau.warehouse.metadata import DERIVED, changes, misfit, new_table
from moldau.warehouse.paths import NEW, RUNS
from moldau.warehouse.schema import (
    of_an_earlier_version,
    present_schema,
    read_schema,
    write_schema,
)

_ADVICE = "nothing was changed: make a new warehouse and load again"


def is_initialised(warehouse: Path) -> bool:
    return (warehouse / "state" / "runs" / "_delta_log").is_dir()


def create(warehouse: Path) -> list[Table]:
    """Make every table of a new warehouse; of one that exists those that it may lack.

    Those are the ones that can be rebuilt, and those that an earlier version did not have; its
    other tables gain and lose what their contracts do. Gives the tables that were made. MoldauError
    if the warehouse is of a later version, or a table is damaged or lost: nothing was changed then.
    """
    must_exist: Collection[str] = ()
    is_present = False
    if is_initialised(warehouse):
        found = read_schema(warehouse)
        must_exist, is_present = found.tables, found == present_schema()
    there: list[Table] = []
    missing: list[Table] = []
    for table in tables().values():
        folder = _folder(warehouse, table)
        is_derived = table.database in DERIVED
        damage = find_damage(warehouse, table, is_earlier=not (is_present or is_derived))
        if damage and not is_derived and (folder.exists() or table.full_name in must_exist):
            raise MoldauError(damage)
        (missing if damage else there).append(table)
    if is_initialised(warehouse):
        require_nothing_lost(warehouse)
    if not is_present:
        _grow_up(warehouse, there)
    (warehouse / RUNS).mkdir(parents=True, exist_ok=True)  # where a plain dbt run looks
    _make(warehouse, missing)
    if not is_present:
        write_schema(warehouse)
    note_again(warehouse)
    return missing


def check(warehouse: Path) -> None:
    """Raise MoldauError when there is no warehouse, or when a table is missing or damaged."""
    if not is_initialised(warehouse):
        raise MoldauError(f"{warehouse} is not a warehouse: `moldau init` creates one")
    if earlier := of_an_earlier_version(warehouse):
        raise MoldauError(earlier)
    for table in tables().values():
        damage = find_damage(warehouse, table)
        if damage:
            raise MoldauError(damage)
    require_nothing_lost(warehouse)


def _make(warehouse: Path, missing: list[Table]) -> None:
    """Beside the warehouse's tables first: whoever is killed leaves none that is half made."""
    new = warehouse / NEW
    shutil.rmtree(new, ignore_errors=True)
    for table in missing:
        folder = new / table.database / table.name
        (folder / "_delta_log").mkdir(parents=True)
        write_commit(folder, 0, new_table(table))
        if table.latest_of:
            _fill(folder, table, warehouse.joinpath(*table.latest_of.split(".")))
    # state.runs comes last: its presence says that the others are there
    for table in sorted(missing, key=lambda table: table.full_name == "state.runs"):
        place = _folder(warehouse, table)
        place.parent.mkdir(exist_ok=True)
        if place.exists():
            shutil.rmtree(place)  # what was left of one that can be rebuilt
        (new / table.database / table.name).rename(place)
    shutil.rmtree(new, ignore_errors=True)


def _fill(folder: Path, table: Table, history: Path) -> None:
    """The latest rows of a history that is there already: an earlier version kept it alone."""
    import pyarrow as pa
    from deltalake import QueryBuilder

    if not (history / "_delta_log").is_dir():
        return
    columns = ", ".join(column.name for column in table.columns)
    latest = (
        f"select {columns} from (select *, row_number() over (partition by "
        f"{', '.join(table.primary_key)} order by run_id desc) as recency from history) "
        "where recency = 1"
    )
    rows = QueryBuilder().register("history", open_table(history)).execute(latest)
    append_to(open_table(folder), pa.RecordBatchReader.from_stream(rows), folder.parent)


def _grow_up(warehouse: Path, there: list[Table]) -> None:
    """Let the tables of an earlier version follow the contracts of this one.

    A column that no contract has any more is dropped from sight: its values stay in the files
    until these are rewritten. Whoever is killed leaves what the next command goes on with.
    """
    commits = []
    for table in there:
        folder = _folder(warehouse, table)
        opened = open_table(folder)
        has_rows = bool(opened.file_uris())
        if has_rows and (why := misfit(table, opened)):
            raise MoldauError(f"{warehouse} is of an earlier version, and {why}; {_ADVICE}")
        if actions := changes(table, opened, has_rows):
            commits.append((folder, opened.version() + 1, actions))
    for commit in commits:
        write_commit(*commit)
    shutil.rmtree(warehouse / "marts", ignore_errors=True)  # views since


def _folder(warehouse: Path, table: Table) -> Path:
    return warehouse / table.database / table.name
