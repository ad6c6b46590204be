"""One moment, while it is made: loads and runs of then are gone through again, in their order."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from moldau.compiled.graph import Node, tables_under
from moldau.literals import literal, rows_sql
from moldau.runs.past.source import CALLS, NOW, RECORDS, REQUESTS, SNAPSHOTS, Source
from moldau.sessions.open_run import open_run
from moldau.sessions.run import Run
from moldau.sessions.session import Session
from moldau.warehouse.contracts import run_views, tables
from moldau.warehouse.delta_log import last_commit
from moldau.warehouse.merge import merge

OF_RECORDS = "consumer_offsets"
STAGES = ("call", "decide", "apply")
DECIDED = ("cycle", "sweep")  # for any instant
_MADE = ("state.", "decisions.")  # what else a run writes is history, which comes as it is


class Rebuilt:
    """`session`: of the moment's own warehouse, on the engine that its size and settings say.

    `asked`: the tables that will be read; what none of them is made from is not made."""

    def __init__(self, source: Source, session: Session, asked: Collection[str]) -> None:
        self._source, self._session, self._asked = source, session, asked
        self._folded = ""  # the last load that is folded
        self._snapshots: dict[tuple[str, str], str] = {}  # by kind and cluster: the last load
        folds = (self._folds(kind) for kind in (OF_RECORDS, *SNAPSHOTS))
        parts = [[model] for models in folds for model in models]
        parts += [self._models(kind) for kind in {run.kind for run in source.applied}]
        parts += [[model] for kind in DECIDED for model in self._deciding(kind)]
        self._needed = _needed(asked, parts)
        self._last = source.one(f"select max(run_id) from state.runs where {source.before}") or ""

    def go_through(self) -> None:
        """Loads and runs that changed something, in their order."""
        source = self._source
        for earlier in source.applied:
            if self._needed & _written(self._models(earlier.kind)):
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
        for kind in DECIDED:
            asked = _needed(self._asked, ([model] for model in self._deciding(kind)))
            models = [model for model in self._deciding(kind) if model.table in asked]
            if models and kind not in decided:
                run = Run(f"as-of-{kind}", kind, source.clusters, source.at_ms, is_dry_run=True)
                self._open(run, self._last)
                self._run(models)

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
            if f"raw.{kind}" in self._needed:
                self._source.copy(f"raw.{kind}", mine)
        self._fold_records(mine)
        for kind in SNAPSHOTS:
            if self._source.has_snapshots(kind) and self._wanted(kind):
                self._fold_snapshot(kind, mine)

    def _fold_records(self, mine: str) -> None:
        if not (models := self._wanted(OF_RECORDS)):
            return
        last = self._session.sql(f"select max(run_id) from {RECORDS} where {mine}")[0][0]
        if last is None:
            return
        run = Run(last, "load", self._source.clusters, self._source.at_ms, load_kind="records")
        self._open(run, last)
        self._session.bring("records", f"select * from {RECORDS} where {mine}")
        self._run(models)

    def _fold_snapshot(self, kind: str, mine: str) -> None:
        """The last one of each cluster. An empty one has no rows that would tell when it came, so
        the one that is in force is taken as state has it."""
        source = self._source
        is_now = source.until == NOW and self._folded == NOW
        for cluster in source.clusters:
            here = f"cluster_id = {literal(cluster)}"
            last = source.one(f"select max(run_id) from raw.{kind} where {here} and {mine}")
            if last is None and not (is_now and self._is_other(kind, cluster)):
                continue
            table = f"state.{kind}" if is_now else f"raw.{kind}"
            loaded = "true" if is_now else f"run_id = {literal(last or '')}"
            rows = source.snapshot(kind, table, f"{here} and {loaded}")
            source.put_snapshot(kind, rows or [])
            run = Run(last or self._last, "load", [cluster], source.at_ms, load_kind=kind)
            self._open(run, NOW)
            self._session.bring(kind, f"select * from raw.{kind}")
            self._run(self._wanted(kind))
            self._snapshots[kind, cluster] = run.run_id

    def _is_other(self, kind: str, cluster: str) -> bool:
        """Whether the snapshot in force is none that was folded: an empty one came since, or the
        rows of its load are gone."""
        here = f"cluster_id = {literal(cluster)}"
        in_force = self._source.one(f"select max(run_id) from state.{kind} where {here}")
        folded = self._snapshots.get((kind, cluster))
        return (in_force is None) != (folded is None) or (in_force or "") > (folded or "")

    def _again(self, run: Run) -> None:
        """A run that was applied: decided anew on the same state, and applied to it."""
        self._open(run, run.run_id)
        waiting: list[Node] = []
        for model in self._models(run.kind):
            if model.calls_plugins:
                # what is noted before a call is noted while its outcome is not known
                self._run(waiting)
                waiting = []
                self._source.copy(CALLS, f"run_id = {literal(run.run_id)}")
            elif _written([model]):
                waiting.append(model)
        self._run(waiting)

    def _models(self, kind: str) -> list[Node]:
        """Of a whole run, in the order of its stages."""
        return [model for stage in STAGES for model in self._session.models(stage, kind)]

    def _folds(self, kind: str) -> list[Node]:
        return self._session.models("fold", kind)

    def _wanted(self, kind: str) -> list[Node]:
        """Those of its folds that are needed."""
        return [model for model in self._folds(kind) if model.table in self._needed]

    def _deciding(self, kind: str) -> list[Node]:
        return [model for model in self._session.models("decide", kind) if model.decides]

    def _run(self, models: Iterable[Node]) -> None:
        if names := [model.name for model in models]:
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


def _needed(asked: Collection[str], parts: Iterable[Sequence[Node]]) -> frozenset[str]:
    """The tables that are asked about, and what is read to make them, through any number of steps.

    `parts`: models of which all are made, or none: one that folds, or all of a run."""
    steps = [(_written(models), tables_under([model.name for model in models])) for models in parts]
    found: set[str] = set(asked)
    while more := {name for made, read in steps if made & found for name in read - found}:
        found |= more
    return frozenset(found)


def _written(models: Iterable[Node]) -> set[str]:
    return {model.table for model in models if model.table.startswith(_MADE)}
