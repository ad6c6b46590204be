"""The warehouse at a glance: tables, runs, settings in force, what is open, who holds the lock."""

from __future__ import annotations

import fcntl
import json
import os
from dataclasses import dataclass
from pathlib import Path

from moldau.reading.explain.listed import LISTED, UNRECORDED
from moldau.reading.explain.listed import MART as LISTED_GROUPS
from moldau.reading.health.freshness import freshness
from moldau.reading.health.stopped_syncs import MART, STOPPED
from moldau.reading.tables.query import Tables
from moldau.reading.tables.table_status import Row, read_tables
from moldau.warehouse.aside import read_aside
from moldau.warehouse.paths import LOADS, LOCK

_RUNS_SHOWN = 10


@dataclass(frozen=True)
class Status:
    """`tables`, `runs`, `settings`, `set_aside`, `freshness` (of live clusters),
    `unrecorded_groups` (the first of those that Kafka lists), `stopped_syncs`: one row each;
    `loads`: run ids of loads that did not end."""

    warehouse: Path
    tables: list[Row]
    runs: list[Row]
    loads: list[str]
    set_aside: list[Row]
    settings: list[Row]
    freshness: list[Row]
    unrecorded_groups: list[Row]
    stopped_syncs: list[Row]
    lock: Row | None


def read_status(warehouse: Path) -> Status:
    """Everything at once; a damaged table is named in its row.

    MoldauError without a warehouse, or when a table cannot be looked at.
    """
    tables = read_tables(warehouse)
    damaged = {row["table"] for row in tables if row["damage"]}
    in_force = "where valid_to_ms is null order by cluster_id"

    def rows(name: str, condition: str) -> list[Row]:
        whole = [name] if name not in damaged else []  # else its row says what is wrong
        return [row for n in whole for row in Tables(warehouse, [n]).rows(n, condition, [])]

    is_mirrored = bool(rows("state.mirrored_partitions", "limit 1"))
    is_listed = bool(rows("state.group_listings", "limit 1"))
    unrecorded = f"{UNRECORDED} limit {LISTED + 1}"
    return Status(
        warehouse=warehouse.resolve(),
        tables=tables,
        runs=rows("state.runs", f"order by run_id desc limit {_RUNS_SHOWN}"),
        loads=open_loads(warehouse),
        set_aside=[
            {"run_id": entry.run_id, "set_aside_at_ms": entry.at_ms, "reason": entry.reason}
            for entry in read_aside(warehouse)
        ],
        freshness=freshness(warehouse),
        unrecorded_groups=rows(LISTED_GROUPS, unrecorded) if is_listed and not damaged else [],
        stopped_syncs=rows(MART, STOPPED) if is_mirrored and not damaged else [],
        settings=[_with_rulesets(row) for row in rows("state.settings", in_force)],
        lock=lock_holder(warehouse),
    )


def _with_rulesets(row: Row) -> Row:
    """A row of moldau 0.1 tells the rule sets in its settings alone."""
    return {**row, "rulesets": row["rulesets"] or json.loads(row["settings"])["ruleset"]}


def open_loads(warehouse: Path) -> list[str]:
    """Run ids of loads that are running or were interrupted."""
    folder = warehouse / LOADS
    if not folder.is_dir():
        return []
    return sorted(entry.name for entry in folder.iterdir() if entry.is_dir())


def lock_holder(warehouse: Path) -> Row | None:
    """Who holds the warehouse's lock: pid, command, since_ms; None = nobody."""
    path = warehouse / LOCK
    try:
        # whoever lets go empties the file: probing an empty one could get in a writer's way
        if path.stat().st_size == 0:
            return None
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return _told(path)
    finally:
        os.close(descriptor)
    return None


def _told(path: Path) -> Row:
    try:
        told = json.loads(path.read_text())
    except (OSError, ValueError):
        told = None
    return told if isinstance(told, dict) else {"pid": None, "command": None, "since_ms": None}
