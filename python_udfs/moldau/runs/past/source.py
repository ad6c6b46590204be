"""The warehouse as it is, of which a moment is rebuilt: it is only read.

DuckDB reads it, in batches, whichever engine makes the moment: nothing is decided here, and rows
are handed over as they are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from moldau.engines.duckdb.delta_types import literal
from moldau.reading.tables.duckdb_views import connect_duckdb
from moldau.reading.tables.names_of import existing_tables
from moldau.reading.tables.query import arrow_batches, run
from moldau.sessions.run import Run
from moldau.warehouse.append import append, with_rows
from moldau.warehouse.contracts import tables

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyConnection

RECORDS = "decoded.group_records"
REQUESTS = ("heartbeats", "topology_pushes", "group_deletions", "classic_joins")
SNAPSHOTS = ("open_transactions", "group_listings")
CALLS = "history.plugin_calls"
# what stands there as it is, up to the moment
HISTORY = (
    CALLS,
    "history.epoch_clears",
    "history.tombstones",
    "history.decision_changes",
)
NOW = "~"  # later than any run
# a run of moldau's own changed a group if one of these has it
_TRACES = (
    "history.tombstones",
    "history.epoch_clears",
    "decisions.heartbeat_gates",
    "decisions.topology_push_results",
    "decisions.group_deletion_results",
    "decisions.classic_join_results",
)
_VERSIONS = (
    "select *, run_id as from_run_id, lead(run_id) over (partition by cluster_id "
    "order by valid_from_ms) as until_run_id from state.settings"
)


@dataclass(frozen=True)
class About:
    """What is asked about; null = every cluster, or every group."""

    cluster_id: str | None = None
    group_id: str | None = None

    def condition(self, table: str) -> str:
        names = {column.name for column in tables()[table].columns}
        told = {"cluster_id": self.cluster_id, "group_id": self.group_id}
        found = [
            f"{name} = {literal(value)}"
            for name, value in told.items()
            if value is not None and name in names
        ]
        return " and ".join(found) or "true"


@dataclass(frozen=True)
class Present:
    """A warehouse as it is: `there` are those of its tables that moments are rebuilt of."""

    there: Collection[str]
    connection: DuckDBPyConnection

    @classmethod
    def of(cls, warehouse: Path, own: Mapping[str, str] = MappingProxyType({})) -> Present:
        """Opened at its latest version. `own`: settings of DuckDB."""
        there = [name for name in existing_tables(warehouse) if name in _read()]
        return cls(there, connect_duckdb(warehouse, there, own=own))


class Source:
    """What of a warehouse counts at the instant `at_ms`.

    `moment`: the warehouse that rows are taken over into."""

    def __init__(self, present: Present, moment: Path, at_ms: int, about: About) -> None:
        self.moment, self.at_ms, self.about = moment, at_ms, about
        self._there, self._connection = present.there, present.connection

    def take_over(self) -> None:
        """Records up to the instant, and what moldau had noted by then."""
        self.copy(RECORDS, f"recorded_at_ms <= {self.at_ms:d}")
        again = ", ".join(literal(run.run_id) for run in self.applied) or "''"
        extra = {
            # a dry run may have decided for a later instant
            "history.decision_changes": f"{self._subjects} and decided_at_ms <= {self.at_ms:d}",
            CALLS: f"run_id not in ({again})",  # their outcomes come as they are gone through
        }
        for table in HISTORY:
            self.copy(table, f"{self.before} and {extra.get(table, 'true')}")
        columns = ", ".join(
            "if(valid_to_ms is null or until_run_id >= " + literal(self.until)
            + ", null, valid_to_ms) as valid_to_ms" if column.name == "valid_to_ms" else column.name
            for column in tables()["state.settings"].columns
        )  # fmt: skip
        self._give("state.settings", f"select {columns} from ({_VERSIONS}) where {self.before}")

    def copy(self, table: str, condition: str) -> None:
        """Take over the rows of what is asked about for which the condition holds."""
        if table in self._there:  # else of a warehouse that an earlier version made
            mine = self.about.condition(table)
            self._give(table, f"select * from {table} where {mine} and {condition}")

    def has_snapshots(self, kind: str) -> bool:
        return {f"raw.{kind}", f"state.{kind}"} <= set(self._there)

    def put_snapshot(self, kind: str, rows: Iterable[pa.RecordBatch]) -> None:
        """These rows alone into `raw.<kind>` of the moment."""
        append(self.moment, f"raw.{kind}", rows, is_instead=True)

    def snapshot(self, kind: str, table: str, condition: str) -> Iterable[pa.RecordBatch] | None:
        """Rows of a snapshot with the columns of `raw.<kind>`; None = there are none."""
        columns = ", ".join(column.name for column in tables()[f"raw.{kind}"].columns)
        mine = self.about.condition(table)
        sql = f"select {columns} from {table} where {condition} and {mine}"
        return with_rows(arrow_batches(self._connection, sql))

    def settings_at(self, run_id: str) -> list[dict[str, Any]]:
        """Rows of `state.settings` that were in force in a run."""
        at = literal(run_id)
        listed = ", ".join(column.name for column in tables()["state.settings"].columns)
        sql = (
            f"select {listed} from ({_VERSIONS}) where from_run_id <= {at} "
            f"and coalesce(until_run_id > {at}, true)"
        )
        batches = arrow_batches(self._connection, sql)
        found = [row for batch in batches for row in batch.to_pylist()]
        return [row | {"rulesets": dict(row["rulesets"])} for row in found]

    def one(self, sql: str) -> str | None:
        """The one value of a query in DuckDB's SQL, as text."""
        [(found,)] = self.rows(sql)
        return None if found is None else str(found)

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        return list(run(self._connection, sql).rows)

    @cached_property
    def applied(self) -> list[Run]:
        """Runs that changed what is asked about, or that decided for the very instant."""
        traces = " union ".join(
            f"select run_id from {table} where {self.about.condition(table)}"
            for table in _TRACES
            if table in self._there
        )
        found = self.rows(
            "select run_id, kind, cluster_ids, decided_at_ms from state.runs "
            f"where (run_id in ({traces}) or (decided_at_ms = {self.at_ms:d} "
            "and kind in ('cycle', 'sweep'))) and not is_dry_run and status = 'succeeded' "
            f"and decided_at_ms is not null and {self.before} order by run_id"
        )
        runs = [
            Run(run_id, kind, [name for name in names if name in self.clusters], at_ms)
            for run_id, kind, names, at_ms in found
        ]
        return [run for run in runs if run.cluster_ids]

    @cached_property
    def until(self) -> str:
        """The first run that decided for a later instant; past all runs if there is none."""
        found = self.one(
            f"select min(run_id) from state.runs where decided_at_ms > {self.at_ms:d} "
            "and not is_dry_run"
        )
        return found or NOW

    @property
    def before(self) -> str:
        """Predicate on what runs wrote before that one."""
        return f"run_id < {literal(self.until)}"

    @property
    def followed(self) -> str:
        """Predicate for clusters that moldau never was in charge of: its runs left their state
        alone, so records count there whenever they were loaded."""
        return (
            "cluster_id not in (select cluster_id from state.settings where authority = 'moldau')"
        )

    @cached_property
    def clusters(self) -> list[str]:
        if self.about.cluster_id is not None:
            return [self.about.cluster_id]
        return [
            row[0] for row in self.rows("select distinct cluster_id from state.groups order by 1")
        ]

    @property
    def _subjects(self) -> str:
        group = self.about.group_id
        if group is None:
            return "domain = 'groups'"
        about = ", ".join(literal(f"{kind} {group}") for kind in ("cleanup", "sweep"))
        return (
            f"domain = 'groups' and (subject in ({about}) "
            f"or starts_with(subject, {literal(f'offset {group} ')}))"
        )

    def _give(self, table: str, sql: str) -> None:
        if rows := with_rows(arrow_batches(self._connection, sql)):
            append(self.moment, table, rows)


def _read() -> set[str]:
    raw = {f"raw.{kind}" for kind in (*REQUESTS, *SNAPSHOTS, "coordinator_unloads")}
    now = {f"state.{kind}" for kind in ("groups", "settings", *SNAPSHOTS)}
    return {RECORDS, *HISTORY, "state.runs", *_TRACES, *raw, *now}
