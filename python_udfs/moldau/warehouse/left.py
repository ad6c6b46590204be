"""The versions of the tables as the last run left them: a table with an earlier one lost commits.

Delta cannot notice this: without its newest commit a table still looks intact. Each row of
`state.runs` has the versions of the other tables, and a note beside the tables that of
`state.runs`, too. Both are written after the commits that they record, so they never claim too
much; a writer other than moldau only makes versions go up.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from zlib import crc32

from moldau.warehouse.contracts import tables
from moldau.warehouse.damage import DamagedError
from moldau.warehouse.delta_log import newest_version
from moldau.warehouse.kept import kept_table
from moldau.warehouse.metadata import DERIVED
from moldau.warehouse.notes import EXACTLY, NotUnderstood, read_note, write_note
from moldau.warehouse.paths import LEFT

RUNS = "state.runs"
_IS_RUN_ID = re.compile(r"\d{8}-[a-z_]+")
_ADVICE = (
    "nothing was changed: put the missing files of its _delta_log back, or restore the whole "
    "warehouse from a copy, or move all of it away and load again"
)


@dataclass(frozen=True)
class Left:
    """`run_id`: the last that was given; `versions`: table -> version, of those above 0.

    With a checksum: a digit that has changed would be a loss that never was.
    """

    __pydantic_config__ = EXACTLY

    run_id: str = ""
    versions: dict[str, int] = field(default_factory=dict)
    checksum: int = 0

    def sum_up(self) -> int:
        return crc32(repr((self.run_id, sorted(self.versions.items()))).encode())


def versions_now(warehouse: Path) -> dict[str, int]:
    """Table -> version, of all that cannot be made anew and were ever written to."""
    found = {
        name: newest_version(warehouse.joinpath(*name.split(".")))
        for name, table in tables().items()
        if table.database not in DERIVED
    }
    return {name: version for name, version in found.items() if version > 0}


def note_left(warehouse: Path, run_id: str, versions: dict[str, int]) -> tuple[Left, Left]:
    """The row of the run has been written. Gives what was noted before, and what is now."""
    before = read_left(warehouse)
    left = Left(max(run_id, before.run_id), versions)
    write_note(warehouse / LEFT, replace(left, checksum=left.sum_up()))
    return before, left


def note_again(warehouse: Path) -> None:
    """Of a warehouse without a note that is understood; its tables can be opened."""
    if read_left(warehouse) == Left():
        note_left(warehouse, last_run_id(warehouse), versions_now(warehouse))


def read_left(warehouse: Path) -> Left:
    """Of the note; nothing if there is none, or none that is understood."""
    try:
        left = read_note(warehouse / LEFT, Left)
        return left if left.checksum == left.sum_up() else Left()
    except (FileNotFoundError, NotADirectoryError, NotUnderstood):
        return Left()


def last_run_id(warehouse: Path) -> str:
    """The last that was given, as far as something beside `state.runs` knows; "" = nothing does.

    Without a note it is the greatest in any table: a row that is lost may have left others.
    """
    if noted := read_left(warehouse).run_id:
        return noted
    found = [""]
    for name in versions_now(warehouse):
        added = kept_table(warehouse.joinpath(*name.split("."))).get_add_actions(flatten=True)
        for column in added.schema.names:
            if re.fullmatch(r"max\..*run_id", column):
                found += added.column(column).to_pylist()
    return max((one for one in found if one and _IS_RUN_ID.fullmatch(one)), default="")


def find_lost(warehouse: Path, is_of_note: bool = False) -> str | None:
    """Which table has lost commits since the last run; None = none, as far as is known.

    `is_of_note`: the row of the run is not looked at. The tables can be opened.
    """
    known: dict[str, tuple[int, str]] = {}
    left = read_left(warehouse)
    told = [(left.run_id, left.versions)]
    if not is_of_note:
        told.append(_of_row(warehouse))
    for run_id, versions in told:
        for name, version in versions.items():
            known[name] = max(known.get(name, (-1, "")), (version, run_id))
    for name, (version, run_id) in sorted(known.items()):
        table = tables().get(name)
        if table is None or table.database in DERIVED:
            continue
        folder = warehouse.joinpath(*name.split("."))
        found = newest_version(folder)
        if found < version:
            ends = f"its log ends at version {found}, and {run_id} left version {version}"
            return (
                f"{name} in {folder} is damaged: {ends}: what was written in between is lost; "
                f"{_ADVICE}"
            )
    return None


def require_nothing_lost(warehouse: Path) -> None:
    if lost := find_lost(warehouse):
        raise DamagedError(lost)


def _of_row(warehouse: Path) -> tuple[str, dict[str, int]]:
    """Of the last row that tells; earlier versions of moldau told nothing."""
    from moldau.warehouse.ask import ask_rows, sql_text

    opened = kept_table(warehouse / "state" / "runs")
    if "table_versions" not in {field.name for field in opened.schema().fields}:
        return "", {}
    added = opened.get_add_actions(flatten=True)
    largest = added.column("max.run_id").to_pylist() if added.num_rows else []
    last = max(filter(None, largest), default="")
    rows = ask_rows(
        warehouse,
        RUNS,
        f"select table_versions from t where run_id = {sql_text(last)} "
        "and table_versions is not null",
    )
    return last, dict(rows[0][0]) if rows else {}
