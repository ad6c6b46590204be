"""The tables and marts of a warehouse, and the one that a person names."""

from __future__ import annotations

import difflib
import re
from pathlib import Path

from moldau.errors import MoldauError
from moldau.reading.tables.views import tables_under
from moldau.warehouse.contracts import marts, tables

DATABASES = ("raw", "decoded", "state", "decisions", "history", "plugin", "seeds")
# what lists tables without naming them, in the SQL of DuckDB or Spark
_LISTS_DATABASES = re.compile(
    r"\bshow\s+(?:databases|schemas|functions\s+(?:in|from))\b"
    r"|\b(?:describe|desc)\s+(?:database|schema|namespace)\b"
)
_LISTS_ONE_DATABASE = re.compile(
    r"\bshow\s+(?:tables|views|table\s+extended)\s+(?:in|from)\s+(\w+)\b(?!\s*\.)"
)
_LISTS_ALL = re.compile(
    r"\bshow\b(?!\s+(?:columns|create|functions|partitions|tblproperties)\b)|show_"
    r"|\b(?:describe|desc)\s+(?:all|tables)\b|\bdescribe\s*(?:[;)]|$)"
    r"|(?:^|[(;\n])\s*desc\s*(?:[;)]|$)|information_schema|duckdb_|pg_|sqlite_"
)
_COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)


def existing_tables(warehouse: Path) -> list[str]:
    """Full names of the tables whose folder has a log, in the order of the data flow.

    MoldauError if there is no warehouse.
    """
    require_warehouse(warehouse)
    return [
        f"{database}.{folder.name}"
        for database in DATABASES
        if (warehouse / database).is_dir()
        for folder in sorted((warehouse / database).iterdir())
        if (folder / "_delta_log").is_dir()
    ]


def existing_relations(warehouse: Path) -> list[str]:
    """Full names of the tables, then of the marts that are made from no other ones."""
    existing = existing_tables(warehouse)
    return [*existing, *(mart for mart in marts() if tables_under([mart]) <= set(existing))]


def is_warehouse(warehouse: Path) -> bool:
    """Whether the folder has any of a warehouse's folders."""
    return any((warehouse / database).is_dir() for database in DATABASES)


def require_warehouse(warehouse: Path) -> None:
    """MoldauError, naming what to run, if `warehouse` is none."""
    if not is_warehouse(warehouse):
        raise MoldauError(
            f"there is no warehouse in {warehouse}: make one with "
            f"`moldau init --warehouse {warehouse}`, or name another with --warehouse"
        )


def resolve(warehouse: Path, name: str) -> str:
    """The full name of what `name` means: `marts.tier_lag`, or `tier_lag` if that is unique."""
    existing = existing_relations(warehouse)
    if name in existing:
        return name
    same = [full for full in existing if full.split(".")[1] == name]
    if len(same) == 1:
        return same[0]
    if same:
        raise MoldauError(f"{name} is ambiguous: {', '.join(same)}")
    raise MoldauError(_unknown(warehouse, name, existing))


def mentioned(names: list[str], sql: str) -> list[str]:
    """Those of `names` that a statement may mean: its text has the bare name, or asks for a list.

    Too many do no harm; opening every table would cost time, and making every mart in Spark more.
    """
    text = sql.lower()
    # what looks like a comment may stand in a text
    listed = _listed(names, text) | _listed(names, _COMMENT.sub(" ", text))
    return [
        name
        for name in names
        if name in listed
        or (
            name.split(".")[1].lower() in text
            and ("marts" in text or not name.startswith("marts."))
        )
    ]


def _listed(names: list[str], text: str) -> set[str]:
    """What a statement lists; of databases one name each."""
    listed: set[str] = set()
    if _LISTS_DATABASES.search(text):
        listed |= set({name.split(".")[0]: name for name in reversed(names)}.values())
    for database in _LISTS_ONE_DATABASE.findall(text):
        is_whole = database == "memory"  # the name that DuckDB gives to all of it
        listed |= {name for name in names if is_whole or name.startswith(f"{database}.")}
    if _LISTS_ALL.search(_LISTS_ONE_DATABASE.sub("", _LISTS_DATABASES.sub("", text))):
        listed |= set(names)
    return listed


def _unknown(warehouse: Path, name: str, existing: list[str]) -> str:
    promised = [full for full in (*tables(), *marts()) if name in (full, full.split(".")[1])]
    if promised and promised[0] in marts():
        promised = sorted(tables_under(promised) - set(existing))
    if promised and (warehouse / "state" / "runs").is_dir():
        return f"{promised[0]} is missing in {warehouse}: `moldau doctor` says what else is"
    if promised:
        return (
            f"{promised[0]} is not in {warehouse} yet: "
            f"make the warehouse with `moldau init --warehouse {warehouse}`"
        )
    names = [*existing, *(full.split(".")[1] for full in existing)]
    close = difflib.get_close_matches(name, names, n=1)
    hint = f"; did you mean {close[0]}?" if close else ": `moldau status` lists them"
    return f"there is no table {name[:100]!r}{hint}"
