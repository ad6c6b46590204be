"""One moment, while it is made: loads and runs of then are gone through again, in their order."""

from __future__ import annotations

from collections.abc import Sequence

from moldau.literals import literal, rows_sql
from moldau.runs.past.source import CALLS, NOW, RECORDS, REQUESTS, SNAPSHOTS, Source
from moldau.sessions.open_run import open_run
from moldau.sessions.run import Run
from moldau.sessions.session import Session
from moldau.warehouse.contracts import run_views, tables
from moldau.warehouse.delta_log import last_commit
from moldau.warehouse.merge import merge


class Rebuilt:
    """`session`: of the moment's own warehouse, on the engine that its size and settings say."""

    def __init__(self, source: Source, session: Session) -> None:
        self._source, self._session = source, session
        self._folded = ""  # the last load that is folded
        self._last = source.one(f"select max(run_id) from state.runs where {source.before}") or ""

    def go_through(self) -> None:
        """Loads and runs that changed something, in their order."""
        source = self._source
        for earlier in source.applied:
            self._fold(earlier.run_id)
            self._again(earlier)
        self._fold(source.until)
        self._fold_records(f"run_id > {literal(source.until)} and {source.followed}")
        if source.applied:
            self._set_back_clocks()

    def decide(self) -> None:
        """What cycle and sweep would decide at the instant; nothing is applied.

        What a run decided for this very instant stands: it was applied since. No run of the
        warehouse has an id like those that are given here, and they come after all of them."""
        source = self._source
        decided = {run.kind for run in source.applied if run.at_ms == source.at_ms}
        for kind in ("cycle", "sweep"):
            if kind in decided:
                continue
            run = Run(f"as-of-{kind}", kind, source.clusters, source.at_ms, is_dry_run=True)
            self._open(run, self._last)
            models = self._session.models("decide", kind)
            self._run([model.name for model in models if model.decides])

    def _fold(self, until: str) -> None:
        """What loads brought since the last fold, and before this run."""
        mine = f"run_id > {literal(self._folded)} and run_id < {literal(until)}"
        rest = f"run_id >= {literal(self._folded)} and run_id < {literal(until)}"
        again = ", ".join(literal(run.run_id) for run in self._source.applied) or "null"
        decides = "kind in ('cycle', 'sweep')"  # what was decided without a trace is not made again
        over = f"{rest} and (run_id in ({again}) or not {decides})"
        self._source.copy("state.runs", over)  # a run that has its row is over
        self._folded = until
        for kind in (*REQUESTS, "coordinator_unloads"):
            self._source.copy(f"raw.{kind}", mine)
        self._fold_records(mine)
        for kind in SNAPSHOTS:
            if self._source.has_snapshots(kind):
                self._fold_snapshot(kind, mine)

    def _fold_records(self, mine: str) -> None:
        last = self._session.sql(f"select max(run_id) from {RECORDS} where {mine}")[0][0]
        if last is None:
            return
        run = Run(last, "load", self._source.clusters, self._source.at_ms, load_kind="records")
        self._open(run, last)
        self._session.bring("records", f"select * from {RECORDS} where {mine}")
        self._run([model.name for model in self._session.models("fold", "consumer_offsets")])

    def _fold_snapshot(self, kind: str, mine: str) -> None:
        """The last one of each cluster. An empty one has no rows that would tell when it came, so
        the one that is in force is taken as state has it."""
        source = self._source
        is_now = source.until == NOW and self._folded == NOW
        for cluster in source.clusters:
            here = f"cluster_id = {literal(cluster)}"
            last = source.one(f"select max(run_id) from raw.{kind} where {here} and {mine}")
            table = f"state.{kind}" if is_now else f"raw.{kind}"
            loaded = "true" if is_now else f"run_id = {literal(last or '')}"
            rows = source.snapshot(kind, table, f"{here} and {loaded}")
            # of a load that came before another run the rows may be gone since
            if last is None and not (is_now and rows):
                continue
            source.put_snapshot(kind, rows or [])
            run = Run(last or self._last, "load", [cluster], source.at_ms, load_kind=kind)
            self._open(run, NOW)
            self._session.bring(kind, f"select * from raw.{kind}")
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
                    self._source.copy(CALLS, f"run_id = {literal(run.run_id)}")
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

    def _open(self, run: Run, at_run_id: str) -> None:
        """Under the settings that were in force in that run."""
        open_run(self._session, run)
        told = self._source.settings_at(at_run_id)
        if told := [row for row in told if row["cluster_id"] in run.cluster_ids]:
            self._session.bring("settings", rows_sql(run_views()["settings"], told))
