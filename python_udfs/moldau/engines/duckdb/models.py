"""Make models with DuckDB: the SQL that dbt compiled, on small tables.

Planning is all that small tables cost Spark, so here a run takes a tenth of the time and no JVM.
What is written is what the statement of `merge_into` comes to (`outcome.py`). The lock keeps other
commands out; who writes without it is noticed by the table's version.
"""

from __future__ import annotations

import contextlib
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from moldau.compiled.dbt import DbtError
from moldau.compiled.graph import Node, helpers_under, models, run_views_under, tables_of
from moldau.compiled.written import SOURCE
from moldau.engines.duckdb.delta_types import in_one_line
from moldau.engines.duckdb.delta_views import create_view, open_duckdb
from moldau.engines.duckdb.processes import in_processes
from moldau.engines.duckdb.translated import translated_models
from moldau.engines.duckdb.translation import ANSWERS, MACROS, to_duckdb
from moldau.engines.engine import Looked, Mapped, Part
from moldau.engines.run_views import RunViews
from moldau.plugins.registry import PluginSpec
from moldau.plugins.slices import RETURNS
from moldau.plugins.worker import Worker
from moldau.warehouse.append import append, with_rows
from moldau.warehouse.contracts import tables
from moldau.warehouse.damage import system_error
from moldau.warehouse.delta_log import last_commit
from moldau.warehouse.extents import Extent, extents, holding
from moldau.warehouse.logs import begun
from moldau.warehouse.merge import ChangedMeanwhileError, SeveralChangesError, merge
from moldau.warehouse.opened import open_latest
from moldau.warehouse.paths import PLUGIN_LOG
from moldau.warehouse.verify import naming_damage

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyConnection

_ATTEMPTS = 20
_FEW = 64  # subjects whose files are looked for one by one
_VIEW = re.compile(r"\b(?:staging|intermediate|marts)\.(\w+)")
_Commit = tuple[int, int]
_translated = lru_cache(64)(to_duckdb)


class DuckDBModels:
    def __init__(self, warehouse: Path) -> None:
        self._warehouse = warehouse
        self._commits: dict[str, _Commit] = {}  # of the tables as DuckDB knows them
        self._looked_at: dict[str, Looked] = {}
        # by table and columns of a key
        self._extents: dict[tuple[str, tuple[str, ...]], tuple[_Commit, list[Extent]]] = {}
        self._views: set[str] = set()
        self._run_views = RunViews(self._make_run_view)

    @cached_property
    def _connection(self) -> DuckDBPyConnection:
        databases = (name.split(".")[0] for name in tables())
        connection = open_duckdb([*databases, "run", "staging", "intermediate", "marts"])
        connection.execute("set temp_directory = ?", [str(self._warehouse / "_moldau" / "spilled")])
        for macro in MACROS:
            connection.execute(macro)
        connection.create_function("crc32", _crc32, ["varchar"], "bigint")
        return connection

    def begin(self, brought: Mapping[str, str], is_small: bool) -> None:
        """Empty what other runs brought, and bring this: view of `run.*` -> its query."""
        self._looked_at.clear()
        self._run_views.begin(brought)

    def bring(self, name: str, sql: str) -> None:
        self._run_views.bring(name, sql)

    def _make_run_view(self, name: str, sql: str) -> None:
        self._refresh(table for table in tables() if table in sql)
        self._create(f"run.{name}", _translated(sql))

    def look_at(self, model: str, parts: Looked) -> None:
        """Make this model of the run that is open from these parts of tables, as they are then."""
        self._looked_at[model] = parts

    def run(self, names: Sequence[str]) -> None:
        """Write these models, in the order of the graph, after the views and lists they read."""
        self._run_views.need(run_views_under(names))
        helpers = helpers_under(names)
        for node in models().values():
            if node.name in helpers:
                self._make_helper(node)
            elif node.name in names:
                self._telling(node, self._write)

    def make_views(self, names: Sequence[str]) -> None:
        """These views and what they read: views once a session, lists of the run each time."""
        self._refresh(tables_of(names))
        self._run_views.need(run_views_under(names))
        wanted = {*names, *helpers_under(names)}
        for node in models().values():
            if node.name in wanted:
                self._make_helper(node)

    @contextlib.contextmanager
    def calling(
        self, specs: Mapping[str, PluginSpec], journal: Path, dies_in_call: Sequence[int]
    ) -> Iterator[None]:
        """In this block models may call these plugins."""
        log = begun(self._warehouse / PLUGIN_LOG)
        with contextlib.closing(Worker(specs, journal, dies_in_call, log)) as self._worker:
            yield

    def sql(self, statement: str) -> list[tuple[Any, ...]]:
        """The rows of a query in Spark SQL."""
        names = self._refresh_for(statement)
        with naming_damage(self._warehouse, names):
            return self._rows(_translated(statement))

    def arrow(self, statement: str) -> pa.Table:
        """The same as one table of Arrow."""
        names = self._refresh_for(statement)
        with naming_damage(self._warehouse, names):
            return self._arrow(_translated(statement))

    def keep(self, view: str, folder: Path) -> str:
        """Keep the rows of a view under the folder's name; gives the relation that reads them."""
        self.make_views([view])
        kept = f"run.kept_{folder.name}"
        self._create(kept, f"select * from intermediate.{view}", "table")
        return kept

    def map(self, view: str, change: Mapped, schema: pa.Schema, folder: Path) -> str:
        """Keep what a function over batches makes of the rows of a view; gives the relation."""
        import pyarrow as pa

        self.make_views([view])
        rows = self._arrow(f"select * from intermediate.{view}")
        changed = pa.Table.from_batches(in_processes(change, rows), schema)
        kept = f"run.kept_{folder.name}"
        self._connection.register("changed", changed)
        self._create(kept, "select * from changed", "table")
        self._connection.unregister("changed")
        return kept

    def _make_helper(self, node: Node) -> None:
        if node.materialized == "view" and node.name in self._views:
            return
        self._telling(node, self._create_helper)
        self._views.add(node.name)

    def _create_helper(self, node: Node) -> None:
        kind = "table" if node.materialized == "run_list" else "view"
        query = translated_models()[node.name].query
        rows = query if self._has_work(node) else f"from ({query}) limit 0"
        self._create(node.relation, rows, kind)

    def _has_work(self, node: Node) -> bool:
        if works_on := node.writing.get("works_on"):
            work = f"{models()[works_on].relation} where {node.writing.get('works_when', 'true')}"
            return bool(self._rows(f"select 1 from {work} limit 1"))
        return True

    def _create(self, relation: str, sql: str, kind: str = "view") -> None:
        self._connection.execute(f"create or replace {kind} {relation} as {sql}")

    def _write(self, node: Node) -> None:
        how, translated = node.writing, translated_models()[node.name]
        if not self._has_work(node):
            return
        write = how.get("write", "merge")
        if write not in ("merge", "append", "replace"):
            allowed = "is not allowed, but merge, append or replace"
            raise DbtError(f"{node.name}: write: {write} {allowed}")
        skips = write == "replace" and how.get("skips_no_rows")
        if skips and not self._rows(f"select 1 from ({translated.query}) limit 1"):
            return
        if slices := how.get("in_slices_of"):
            for index in range(self._slices(slices)):
                self._create("run.slice", f"select {index}::integer as slice_index")
                if translated.calls is not None:
                    self._call(node, translated.calls)
                self._append(node)
        elif write == "merge":
            self._merge(node)
        else:
            self._append(node, is_instead=write == "replace")

    def _merge(self, node: Node) -> None:
        """Anew as long as another writer was faster: what it wrote decides, too."""
        reads = tables_of([node.name])
        for _ in range(_ATTEMPTS):
            self._refresh(reads)
            key, version = node.writing["unique_key"], self._commits[node.table][0]
            try:
                with self._batches(_outcome(node)) as rows:
                    merge(self._warehouse, node.table, key, rows, version)
            except ChangedMeanwhileError:
                continue
            return
        raise DbtError(f"{node.name}: {node.table} is changed by others all the time")

    def _append(self, node: Node, is_instead: bool = False) -> None:
        self._refresh(tables_of([node.name]))
        with self._batches(_outcome(node)) as batches:
            rows = with_rows(batches)
            if rows is None and not is_instead:
                return
            append(self._warehouse, node.table, rows or [], is_instead)

    def _slices(self, name: str) -> int:
        asked = f"select coalesce(max(slice_index), -1) + 1 from {models()[name].relation}"
        return int(self._rows(asked)[0][0])

    def _call(self, node: Node, calls_sql: str) -> None:
        """Make the calls of the slice, and give the model their answers."""
        self._refresh(tables_of([node.name]))
        calls = self._arrow(calls_sql).to_pylist()
        try:
            answers = self._worker.call(calls) if calls else []
        except RuntimeError as error:
            raise DbtError(f"{node.name}: {error}") from error
        self._give(answers)

    def _give(self, answers: Sequence[tuple[Any, ...]]) -> None:
        import pyarrow as pa

        types = dict(column.split(" ") for column in RETURNS.split(", "))
        columns = {name: [row[index] for row in answers] for index, name in enumerate(types)}
        self._connection.register("answered", pa.table(columns))
        casts = ", ".join(f"cast({name} as {kind}) as {name}" for name, kind in types.items())
        self._create(ANSWERS, f"select {casts} from answered", "table")
        self._connection.unregister("answered")

    def _arrow(self, sql: str) -> pa.Table:
        return self._connection.sql(sql).to_arrow_table()

    def _batches(self, sql: str) -> pa.RecordBatchReader:
        return self._connection.sql(sql).to_arrow_reader()

    def _rows(self, sql: str) -> list[tuple[Any, ...]]:
        rows: list[tuple[Any, ...]] = self._connection.execute(sql).fetchall()
        return rows

    def _refresh_for(self, statement: str) -> list[str]:
        """Let DuckDB see the tables of a query as they are now; gives those that it names."""
        names = [name for name in tables() if name in statement]
        views = [name for name in _VIEW.findall(statement) if name in models()]
        self._refresh({*names, *tables_of(views)})
        self._run_views.need_for(statement)
        return names

    def _refresh(self, names: Iterable[str]) -> None:
        """Let DuckDB see these tables as they are now."""
        for name in sorted(set(names)):
            commit = self._last_commit(name)
            if self._commits.get(name) != commit:
                create_view(self._connection, self._warehouse, name)
                self._commits[name] = commit

    @contextlib.contextmanager
    def _narrowed(self, node: Node) -> Iterator[None]:
        """In this block the tables of a model are as they are now, and have but the parts from
        which its rows can come."""
        with contextlib.ExitStack() as narrowed:
            found = self._parts_of(node)
            self._refresh(tables_of([node.name]) - found.keys())
            for name, (commit, part) in found.items():
                narrowed.enter_context(self._only(name, commit, part))
            yield

    def _parts_of(self, node: Node) -> dict[str, tuple[_Commit, Part]]:
        """By table; of others all counts. The commit is that at which it has the files."""
        if look := self._looked_at.get(node.name):
            return {name: (self._last_commit(name), part) for name, part in look().items()}
        about = node.meta.get("about") if node.materialized != "view" else None
        keys = self._keys(about["model"], about["key"]) if about else None
        if about is None or keys is None:
            return {}
        keyed = {name for name in tables_of([node.name]) if _is_keyed(name, about["key"])}
        return {name: self._holding(name, tuple(about["key"]), keys) for name in sorted(keyed)}

    def _keys(self, model: str, key: Sequence[str]) -> list[tuple[Any, ...]] | None:
        """What the rows of a model are about; None = so much that no file can be left out."""
        columns = ", ".join(key)
        asked = f"select distinct {columns} from {models()[model].relation} limit {_FEW + 1}"
        found = self._rows(asked)
        return [row for row in found if None not in row] if len(found) <= _FEW else None

    def _holding(
        self, name: str, key: tuple[str, ...], keys: list[tuple[Any, ...]]
    ) -> tuple[_Commit, Part]:
        """The files of a table that may hold rows of these keys."""
        commit = self._last_commit(name)
        kept = self._extents.get((name, key))
        if kept is None or kept[0] != commit:
            kept = (commit, extents(open_latest(self._warehouse, name), key))
            self._extents[name, key] = kept
        return commit, Part(holding(kept[1], keys))

    def _last_commit(self, name: str) -> _Commit:
        return last_commit(self._warehouse.joinpath(*name.split(".")))

    @contextlib.contextmanager
    def _only(self, name: str, commit: _Commit, part: Part) -> Iterator[None]:
        """In this block a table has but this part of its rows."""
        database, bare = name.split(".")
        whole = self._commits.get(name)
        if whole:
            self._connection.execute(f"alter view {name} rename to {bare}_whole")
        try:
            create_view(self._connection, self._warehouse, name, where=part.where, only=part.files)
            self._commits[name] = commit
            yield
        finally:
            self._connection.execute(f"drop view if exists {name}")
            self._commits.pop(name, None)
            if whole:
                self._connection.execute(f"alter view {database}.{bare}_whole rename to {bare}")
                self._commits[name] = whole

    def _telling(self, node: Node, make: Any) -> None:
        import duckdb
        from deltalake.exceptions import DeltaError

        try:
            with naming_damage(self._warehouse, tables_of([node.name])), self._narrowed(node):
                make(node)
        except (duckdb.Error, DeltaError, SeveralChangesError) as error:
            if number := system_error(str(error)):
                raise OSError(number, in_one_line(error)) from error
            raise DbtError(f"{node.name}: {in_one_line(error)}") from error


def _outcome(node: Node) -> str:
    """The rows that the model writes."""
    translated = translated_models()[node.name]
    return translated.outcome.replace(SOURCE, translated.query)


def _is_keyed(name: str, key: Sequence[str]) -> bool:
    """Its rows lie in the order of the key, and its files tell of which."""
    table = tables()[name]
    is_ordered = table.database in ("state", "decisions")
    return is_ordered and {column.name for column in table.columns}.issuperset(key)


def _crc32(text: str) -> int:
    return zlib.crc32(text.encode())
