"""Groups as of an instant: a warehouse of that moment, rebuilt from the records up to it.

It lies in a temporary folder and is made by the models that fold and decide, so every reader
answers from it as from any other; the warehouse itself is only read. What has no time of its own
(snapshots, settings, what moldau did) counts as far as it was there before the first run that
decided for a later instant. Runs of moldau that changed a group are gone through again, in their
order among the loads; the calls that they made are not: their outcomes are in history.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn

from moldau.engines.chosen import Engines
from moldau.engines.duckdb.delta_types import literal
from moldau.errors import MoldauError
from moldau.instants import format_instant
from moldau.literals import rows_sql
from moldau.reading.explain.phrases import count
from moldau.reading.tables.duckdb_views import connect_duckdb
from moldau.reading.tables.names_of import existing_tables, resolve
from moldau.reading.tables.query import arrow_table, run
from moldau.reading.tables.views import tables_under
from moldau.sessions.open_run import open_run
from moldau.sessions.run import Run
from moldau.sessions.session import Session
from moldau.settings import Settings
from moldau.warehouse.append import append
from moldau.warehouse.contracts import marts, run_views, tables
from moldau.warehouse.create import create
from moldau.warehouse.delta_log import last_commit
from moldau.warehouse.lock import locked
from moldau.warehouse.merge import merge
from moldau.warehouse.seeds import seed

RECORDS = "decoded.group_records"
REQUESTS = ("heartbeats", "topology_pushes", "group_deletions", "classic_joins")
SNAPSHOTS = ("open_transactions", "group_listings")
# what stands there as it is, up to the moment
_CALLS = "history.plugin_calls"
_HISTORY = (
    _CALLS,
    "history.epoch_clears",
    "history.tombstones",
    "history.decision_changes",
)
_STATE = (
    "state.groups", "state.group_offsets", "state.group_records", "state.topology_backoffs",
    "state.open_transactions", "state.group_listings",
)  # fmt: skip
_DECISIONS = tuple(
    f"decisions.{name}"
    for name in (
        "cleanup_eligibility", "offset_expirations", "group_sweeps", "heartbeat_gates",
        "topology_push_results", "group_deletion_results", "classic_join_results",
    )
)  # fmt: skip
SHOWN = (RECORDS, *_STATE, *_DECISIONS, _CALLS, "history.epoch_clears",
         "history.tombstones")  # fmt: skip
# a run of moldau's own changed a group if one of these has it
_TRACES = (
    "history.tombstones",
    "history.epoch_clears",
    "decisions.heartbeat_gates",
    "decisions.topology_push_results",
    "decisions.group_deletion_results",
    "decisions.classic_join_results",
)


@dataclass(frozen=True)
class Moment:
    """`settings`: those to read with; `warehouse` in them is the one of the moment."""

    settings: Settings
    words: str
    """From which instant on the history is whole."""


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


def require_groups(warehouse: Path, name: str) -> str:
    """The full name of a table or mart that can be rebuilt; MoldauError for one that cannot."""
    full_name = resolve(warehouse, name)
    under = tables_under([full_name]) if full_name in marts() else {full_name}
    known = {*SHOWN, *_HISTORY, "state.runs", "state.settings"}
    read = {one for one in under if not one.startswith("seeds.")}
    is_of_groups = any(one in SHOWN for one in read)
    if full_name in SHOWN or (full_name in marts() and is_of_groups and read <= known):
        return full_name
    raise MoldauError(
        f"--as-of rebuilds groups, and {full_name} is made of other things, too: ask for "
        "state.groups, state.group_offsets, what is decided about groups and offsets, or a mart "
        "of these alone, such as marts.groups"
    )


def needs_decisions(full_name: str) -> bool:
    """Whether a table or mart has to do with what is decided."""
    under = tables_under([full_name]) if full_name in marts() else {full_name}
    return any(name.startswith("decisions.") for name in under)


@contextlib.contextmanager
def as_of(settings: Settings, at_ms: int, about: About, decides: bool = True) -> Iterator[Moment]:
    """The moment `at_ms`, as long as the block lasts.

    `decides`: with what would have been decided then, of every group that is asked about.
    """
    with tempfile.TemporaryDirectory(prefix="moldau-as-of-", dir=_place(about)) as folder:
        warehouse = Path(folder).resolve()
        create(warehouse)
        seed(warehouse)
        then = settings.model_copy(
            update={
                "warehouse": warehouse,
                "engine": "duckdb",
                "sections": {name: {} for name in settings.sections},
            }
        )
        with locked(warehouse, "as of an instant"):
            session = Session(then, warehouse, Engines(warehouse, _no_spark))
            rebuilt = _Rebuilt(settings.warehouse, session, at_ms, about)
            rebuilt.take_over()
            rebuilt.go_through()
            if decides:
                rebuilt.decide()
            yield Moment(then, rebuilt.words())


class _Rebuilt:
    """One moment, while it is made."""

    def __init__(self, source: Path, session: Session, at_ms: int, about: About) -> None:
        self._session, self._at_ms, self._about = session, at_ms, about
        self._there = self._read_tables(source)
        self._source = connect_duckdb(source, self._there)
        self._folded = ""  # the last load that is folded
        self._last = self._one(f"select max(run_id) from state.runs where {self._before()}") or ""

    def take_over(self) -> None:
        """Records up to the instant, and what moldau had noted by then."""
        self._copy(RECORDS, f"recorded_at_ms <= {self._at_ms:d}")
        again = ", ".join(literal(run.run_id) for run in self._applied) or "''"
        extra = {
            # a dry run may have decided for a later instant
            "history.decision_changes": f"{self._subjects} and decided_at_ms <= {self._at_ms:d}",
            _CALLS: f"run_id not in ({again})",  # their outcomes come as they are gone through
        }
        for table in _HISTORY:
            self._copy(table, f"{self._before()} and {extra.get(table, 'true')}")
        columns = ", ".join(
            "if(valid_to_ms is null or until_run_id >= " + literal(self._until)
            + ", null, valid_to_ms) as valid_to_ms" if column.name == "valid_to_ms" else column.name
            for column in tables()["state.settings"].columns
        )  # fmt: skip
        self._give("state.settings", f"select {columns} from ({_VERSIONS}) where {self._before()}")

    def go_through(self) -> None:
        """Loads and runs that changed something, in their order."""
        for earlier in self._applied:
            self._fold(earlier.run_id)
            self._again(earlier)
        self._fold(self._until)
        self._fold_records(f"run_id > {literal(self._until)} and {self._followed}")
        if self._applied:
            self._set_back_clocks()

    def decide(self) -> None:
        """What cycle and sweep would decide at the instant; nothing is applied.

        What a run decided for this very instant stands: it was applied since. No run of the
        warehouse has an id like those that are given here, and they come after all of them."""
        decided = {run.kind for run in self._applied if run.at_ms == self._at_ms}
        for kind in ("cycle", "sweep"):
            if kind in decided:
                continue
            run = Run(f"as-of-{kind}", kind, self._clusters, self._at_ms, is_dry_run=True)
            self._open(run, self._last)
            models = self._session.models("decide", kind)
            self._run([model.name for model in models if model.decides])

    def words(self) -> str:
        """From which instant on the records are whole, as far as that can be seen."""
        [(first, places)] = self._session.sql(
            f"select min(recorded_at_ms), collect_set(partition_index) from {RECORDS}"
        )
        mine = About(self._about.cluster_id).condition(RECORDS)
        if self._about.group_id is not None:
            mine += f" and partition_index in ({', '.join(map(str, places)) or 'null'})"
        log = (
            "select recorded_at_ms, log_offset, lag(log_offset, 1, -1) over (partition by "
            f"cluster_id, partition_index order by log_offset) as previous from {RECORDS} "
            f"where {mine} and recorded_at_ms <= {self._at_ms:d}"
        )
        [(gap,)] = self._rows(
            f"select max(recorded_at_ms) from ({log}) where log_offset > previous + 1"
        )
        [(left_out,)] = self._rows(
            f"select count(*) from {RECORDS} where {mine} and recorded_at_ms <= {self._at_ms:d} "
            f"and run_id > {literal(self._until)} and not ({self._followed})"
        )
        told = _whole_words(self._at_ms, first, gap)
        if left_out:
            told += (
                f"; {count(left_out, 'record')} up to then came after run {self._until}, which "
                "decided for later, and are left out: moldau was in charge"
            )
        return told

    def _fold(self, until: str) -> None:
        """What loads brought since the last fold, and before this run."""
        mine = f"run_id > {literal(self._folded)} and run_id < {literal(until)}"
        rest = f"run_id >= {literal(self._folded)} and run_id < {literal(until)}"
        self._copy("state.runs", rest)  # a run that has its row is over
        self._folded = until
        for kind in (*REQUESTS, "coordinator_unloads"):
            self._copy(f"raw.{kind}", mine)
        self._fold_records(mine)
        for kind in SNAPSHOTS:
            self._fold_snapshot(kind, mine)

    def _fold_records(self, mine: str) -> None:
        last = self._session.sql(f"select max(run_id) from {RECORDS} where {mine}")[0][0]
        if last is None:
            return
        self._open(Run(last, "load", self._clusters, self._at_ms, load_kind="records"), last)
        self._session.bring("records", f"select * from {RECORDS} where {mine}")
        self._run([model.name for model in self._session.models("fold", "consumer_offsets")])

    def _fold_snapshot(self, kind: str, mine: str) -> None:
        """The last one of each cluster. An empty one has no rows that would tell when it came, so
        the one that is in force is taken as state has it."""
        if not {f"raw.{kind}", f"state.{kind}"} <= set(self._there):
            return
        is_now = self._until == _NOW and self._folded == _NOW
        columns = ", ".join(column.name for column in tables()[f"raw.{kind}"].columns)
        for cluster in self._clusters:
            here = f"cluster_id = {literal(cluster)}"
            last = self._one(f"select max(run_id) from raw.{kind} where {here} and {mine}")
            table = f"state.{kind}" if is_now else f"raw.{kind}"
            loaded = "true" if is_now else f"run_id = {literal(last or '')}"
            asked = self._about.condition(table)
            rows = arrow_table(
                self._source,
                f"select {columns} from {table} where {here} and {loaded} and {asked}",
            )
            # of a load that came before another run the rows may be gone since
            if last is None and not (is_now and rows.num_rows):
                continue
            self._open(
                Run(last or self._last, "load", [cluster], self._at_ms, load_kind=kind), _NOW
            )
            self._session.bring(kind, rows_sql(run_views()[kind], rows.to_pylist()))
            self._run([model.name for model in self._session.models("fold", kind)])

    def _again(self, run: Run) -> None:
        """A run that was applied: decided anew on the same state, and applied to it."""
        self._open(run, run.run_id)
        for stage, database in (("call", "state."), ("decide", "decisions."), ("apply", "state.")):
            waiting: list[str] = []
            for model in self._session.models(stage, run.kind):
                if model.calls_plugins:
                    # what is noted before a call is noted while its outcome is not known
                    self._run(waiting)
                    waiting = []
                    self._copy(_CALLS, f"run_id = {literal(run.run_id)}")
                elif model.table.startswith(database):
                    waiting.append(model.name)
            self._run(waiting)

    def _run(self, names: Sequence[str]) -> None:
        if names:
            self._session.run_models(*names)

    def _set_back_clocks(self) -> None:
        """What was removed again was removed when history says."""
        for table, condition in (
            ("state.groups", "h.topic_name is null"),
            ("state.group_offsets",
             "h.topic_name = t.topic_name and h.partition_index = t.partition_index"),
        ):  # fmt: skip
            listed = ", ".join(
                "h.removed_at_ms as deleted_at_ms" if c.name == "deleted_at_ms" else f"t.{c.name}"
                for c in tables()[table].columns
            )
            changed = self._session.engines.duckdb.arrow(
                f"select 'update' as _action, {listed} from {table} as t "
                "inner join history.tombstones as h on h.cluster_id = t.cluster_id "
                f"and h.group_id = t.group_id and h.run_id = t.deleted_run_id and {condition}"
            )
            version, _ = last_commit(self._session.warehouse.joinpath(*table.split(".")))
            key = tables()[table].primary_key
            merge(self._session.warehouse, table, list(key), changed.to_batches(), version)

    @cached_property
    def _applied(self) -> list[Run]:
        """Runs that changed what is asked about, or that decided for the very instant."""
        traces = " union ".join(
            f"select run_id from {table} where {self._about.condition(table)}"
            for table in _TRACES
            if table in self._there
        )
        found = self._rows(
            "select run_id, kind, cluster_ids, decided_at_ms from state.runs "
            f"where (run_id in ({traces}) or (decided_at_ms = {self._at_ms:d} "
            "and kind in ('cycle', 'sweep'))) and not is_dry_run and status = 'succeeded' "
            f"and decided_at_ms is not null and {self._before()} order by run_id"
        )
        runs = [
            Run(run_id, kind, [name for name in names if name in self._clusters], at_ms)
            for run_id, kind, names, at_ms in found
        ]
        return [run for run in runs if run.cluster_ids]

    def _open(self, run: Run, at_run_id: str) -> None:
        """Under the settings that were in force in that run."""
        open_run(self._session, run)
        at = literal(at_run_id)
        listed = ", ".join(column.name for column in tables()["state.settings"].columns)
        rows = arrow_table(
            self._source,
            f"select {listed} from ({_VERSIONS}) where from_run_id <= {at} "
            f"and coalesce(until_run_id > {at}, true)",
        ).to_pylist()
        if told := [row for row in rows if row["cluster_id"] in run.cluster_ids]:
            told = [row | {"rulesets": dict(row["rulesets"])} for row in told]
            self._session.bring("settings", rows_sql(run_views()["settings"], told))

    @cached_property
    def _until(self) -> str:
        """The first run that decided for a later instant; past all runs if there is none."""
        found = self._one(
            f"select min(run_id) from state.runs where decided_at_ms > {self._at_ms:d} "
            "and not is_dry_run"
        )
        return found or _NOW

    def _before(self) -> str:
        return f"run_id < {literal(self._until)}"

    @cached_property
    def _followed(self) -> str:
        """Clusters that moldau never was in charge of: its runs left their state alone, so records
        count there whenever they were loaded."""
        return (
            "cluster_id not in (select cluster_id from state.settings where authority = 'moldau')"
        )

    @cached_property
    def _clusters(self) -> list[str]:
        if self._about.cluster_id is not None:
            return [self._about.cluster_id]
        return [
            row[0] for row in self._rows("select distinct cluster_id from state.groups order by 1")
        ]

    @property
    def _subjects(self) -> str:
        group = self._about.group_id
        if group is None:
            return "domain = 'groups'"
        about = ", ".join(literal(f"{kind} {group}") for kind in ("cleanup", "sweep"))
        return (
            f"domain = 'groups' and (subject in ({about}) "
            f"or starts_with(subject, {literal(f'offset {group} ')}))"
        )

    def _copy(self, table: str, condition: str) -> None:
        if table not in self._there:  # of a warehouse that an earlier version made
            return
        mine = self._about.condition(table)
        self._give(table, f"select * from {table} where {mine} and {condition}")

    def _give(self, table: str, sql: str) -> None:
        rows = arrow_table(self._source, sql)
        if rows.num_rows:
            append(self._session.warehouse, table, rows.to_batches())

    def _one(self, sql: str) -> str | None:
        [(found,)] = self._rows(sql)
        return None if found is None else str(found)

    def _rows(self, sql: str) -> list[tuple[Any, ...]]:
        return list(run(self._source, sql).rows)

    @staticmethod
    def _read_tables(source: Path) -> list[str]:
        raw = {f"raw.{kind}" for kind in (*REQUESTS, *SNAPSHOTS, "coordinator_unloads")}
        now = {f"state.{kind}" for kind in ("groups", "settings", *SNAPSHOTS)}
        wanted = {RECORDS, *_HISTORY, "state.runs", *_TRACES, *raw, *now}
        return [name for name in existing_tables(source) if name in wanted]


_NOW = "~"  # later than any run
_VERSIONS = (
    "select *, run_id as from_run_id, lead(run_id) over (partition by cluster_id "
    "order by valid_from_ms) as until_run_id from state.settings"
)


def _place(about: About) -> str | None:
    """A group's records are few: they lie in memory, where no write waits for a disk."""
    is_small = about.group_id is not None and os.access("/dev/shm", os.W_OK)
    return "/dev/shm" if is_small else None


def _no_spark() -> NoReturn:
    raise MoldauError("--as-of is answered without Spark")


def _whole_words(at_ms: int, first: int | None, gap: int | None) -> str:
    told = f"as of {format_instant(at_ms)}"
    if first is None:
        return f"{told}: no record up to then was loaded"
    if gap is None:
        return f"{told}, from every record since the log began"
    return (
        f"{told}: records are known from {format_instant(first)} on, and without a gap from "
        f"{format_instant(gap)} on (compaction and aborted transactions leave gaps)"
    )
