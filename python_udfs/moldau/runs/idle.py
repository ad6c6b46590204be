"""Idle runs, in which nothing can have changed: only their row is written, and Spark never starts.

A run notes what it decided on for each cluster to which it had nothing to apply. While all of
that stands still, and until the first of its decisions comes due, a run of the same kind can only
decide the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from moldau.declared import kinds
from moldau.project import seeds_digest
from moldau.sessions.closing import publish_told
from moldau.sessions.faults import fault
from moldau.sessions.open_run import recorded_of
from moldau.sessions.run import Run
from moldau.sessions.run_rows import append_rows
from moldau.settings import Settings
from moldau.warehouse.intact import intact_table
from moldau.warehouse.left import find_lost
from moldau.warehouse.notes import EXACTLY, NotUnderstood, read_note, write_note
from moldau.warehouse.paths import IDLE, LOADS, RUNS
from moldau.warehouse.schema import NUMBER, read_schema
from moldau.warehouse.seeds import seeded_digest


@dataclass(frozen=True)
class Standstill:
    """What the last run of a kind decided for one cluster, and what it read: table -> version."""

    __pydantic_config__ = EXACTLY

    settings_hash: str
    decided_at_ms: int
    next_due_at_ms: int | None
    counts: dict[str, int]
    versions: dict[str, int]


@dataclass
class Notes:
    """Of one kind of run. `known`: every cluster there was; `tables`: every table."""

    __pydantic_config__ = EXACTLY

    known: list[str] = field(default_factory=list)
    tables: list[str] = field(default_factory=list)
    clusters: dict[str, Standstill] = field(default_factory=dict)


def read_notes(warehouse: Path, kind: str) -> Notes:
    """The notes; none where they are not understood: the next run then decides and notes anew."""
    try:
        return read_note(_file(warehouse, kind), Notes)
    except (FileNotFoundError, NotADirectoryError, NotUnderstood):
        return Notes()


def write_notes(warehouse: Path, kind: str, notes: Notes) -> None:
    write_note(_file(warehouse, kind), notes)


def table_versions(warehouse: Path, tables: Iterable[str]) -> dict[str, int | None]:
    """Latest versions; None = the table is not whole."""
    found = {name: intact_table(warehouse.joinpath(*name.split("."))) for name in tables}
    return {name: table and table.version() for name, table in found.items()}


def idle_run(
    settings: Settings, kind: str, clusters: Sequence[str], at_ms: int, is_dry_run: bool
) -> Run | None:
    """Write the row of a run that would decide what the last one did; None = it might not.

    The warehouse is locked by the caller.
    """
    warehouse = settings.warehouse.resolve()
    notes = read_notes(warehouse, kind)
    if clusters and kinds()[kind].in_scope:
        return None
    scope = sorted(set(clusters or [*notes.known, *settings.named_clusters()]))
    found = {name: notes.clusters[name] for name in scope if name in notes.clusters}
    if (
        not found
        or len(found) < len(scope)
        or not all(_holds(one, digest(settings, kind, name), at_ms) for name, one in found.items())
        or fault()
        or not _is_in_order(warehouse, notes.tables)
        or (runs := intact_table(warehouse / "state" / "runs")) is None
    ):
        return None
    read = {pair for one in found.values() for pair in one.versions.items()}
    if read != set(table_versions(warehouse, {table for table, _ in read}).items()):
        return None
    counts = {"decided": 0}
    for one in found.values():
        counts |= {name: counts.get(name, 0) + count for name, count in one.counts.items()}
    run = Run("", kind, scope, at_ms, is_dry_run=is_dry_run, counts=counts)
    append_rows(warehouse, [run], maintain=settings.maintain, table=runs)
    publish_told(settings, warehouse, at_ms)
    return run


def digest(settings: Settings, kind: str, cluster: str) -> str:
    """Of the settings that a run of the kind decides under for the cluster."""
    run = Run("", kind, [cluster], 0)
    told = [
        f"{row['settings_hash']} {next(iter(row.values()))}"
        for recorded in recorded_of(run)
        for row in recorded.rows(settings, run)
    ]
    return " ".join([settings.cluster(cluster).digest(), *sorted(told)])


def _holds(one: Standstill, settings_hash: str, at_ms: int) -> bool:
    is_before_due = one.next_due_at_ms is None or at_ms < one.next_due_at_ms
    is_same = one.settings_hash == settings_hash
    return is_same and is_before_due and one.decided_at_ms <= at_ms


def _is_in_order(warehouse: Path, tables: Sequence[str]) -> bool:
    """A session would have nothing to do at its start."""
    owed = [file for folder in (LOADS, RUNS) for file in (warehouse / folder).glob("[!.]*")]
    return (
        not owed
        and read_schema(warehouse).number == NUMBER
        and seeded_digest(warehouse) == seeds_digest()
        and not find_lost(warehouse, is_of_note=True)
        and all(warehouse.joinpath(*table.split("."), "_delta_log").is_dir() for table in tables)
    )


def _file(warehouse: Path, kind: str) -> Path:
    return warehouse / IDLE / f"{kind}.json"
