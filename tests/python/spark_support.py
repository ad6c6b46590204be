"""Shared by the tests that need Spark."""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import itertools
import json
import re
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest
import sqlglot
from decoded_support import group_records
from duckdb import read_json
from pyspark.sql import SparkSession
from shell_support import end_spark

from moldau.compiled.dbt import dbt
from moldau.compiled.graph import models, tables_of
from moldau.declared import topics
from moldau.engines.duckdb.models import DuckDBModels
from moldau.engines.duckdb.translation import to_duckdb
from moldau.engines.spark.spark_session import start, suit_to
from moldau.literals import literal
from moldau.project import ROOT
from moldau.reading.tables.duckdb_views import connect_duckdb
from moldau.reading.tables.query import query, table_rows
from moldau.records import families
from moldau.runs.decide import decide
from moldau.runs.opening import start_session
from moldau.sessions import faults
from moldau.sessions.open_run import next_run_id, open_run, settings_models
from moldau.sessions.run import Run, row_of
from moldau.sessions.run_rows import append_row
from moldau.sessions.session import Session
from moldau.settings import load_settings
from moldau.warehouse.append import append
from moldau.warehouse.contracts import run_views, tables
from moldau.warehouse.damage import open_table

CAPTURES = Path(__file__).parents[1] / "fixtures" / "captures"
# an installed distribution, as far as Python can tell: it brings the plugin `scripted`
DISTRIBUTION = str(Path(__file__).parent / "plugin_distribution")
_numbers = itertools.count()
# kinds whose records may be folded again from the first: they are kept where a load keeps them
FOLDED_AGAIN = (families.REMOTE_LOG_METADATA, families.OFFSET_SYNCS, families.CHECKPOINTS)


@dataclass(frozen=True)
class Record:
    """One record of __consumer_offsets."""

    partition: int
    offset: int
    timestamp_ms: int
    key: bytes | None
    value: bytes | None

    def as_line(self) -> dict[str, Any]:
        return {
            "topic": "__consumer_offsets",
            "partition": self.partition,
            "offset": self.offset,
            "timestamp_ms": self.timestamp_ms,
            "timestamp_type": "CreateTime",
            "key_base64": self.key and base64.b64encode(self.key).decode(),
            "value_base64": None if self.value is None else base64.b64encode(self.value).decode(),
            "headers": [],
        }


def read_capture(name: str) -> list[Record]:
    """The group records of a capture, in the order of the file."""
    return read_records(CAPTURES / name / "__consumer_offsets.jsonl")


def read_records(file: Path) -> list[Record]:
    lines = file.read_text().splitlines()
    return [
        Record(row["partition"], row["offset"], row["timestamp_ms"], *_bytes_of(row))
        for row in map(json.loads, lines)
    ]


def _bytes_of(row: dict[str, Any]) -> list[bytes | None]:
    texts = (row["key_base64"], row["value_base64"])
    return [None if text is None else base64.b64decode(text) for text in texts]


def read_decoded(name: str) -> list[dict[str, Any]]:
    """The same records as Kafka's own classes decoded them, with `group` beside each."""
    lines = (CAPTURES / name / "__consumer_offsets.decoded.jsonl").read_text().splitlines()
    decoded = [json.loads(line) for line in lines]
    return [row | {"group": row["key"].get("groupId", row["key"].get("group"))} for row in decoded]


def with_clusters(session: Session, clusters: Mapping[str, str]) -> Session:
    """The session under a moldau.yml that gives each cluster its settings, as YAML."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "moldau.yml"
        lines = [f"  {name}: {settings}\n" for name, settings in clusters.items()]
        file.write_text("clusters:\n" + "".join(lines))
        settings = load_settings(file, session.warehouse)
    return dataclasses.replace(session, settings=settings)


def fresh(session: Session) -> Session:
    """As the next command on the warehouse would find it, but for views, which are as they were."""
    return Session(session.settings, session.warehouse, session.engines)


def spark_of(session: Session, *names: str) -> SparkSession:
    """Spark, with these tables: each takes a moment to be looked at."""
    session.engines.spark.register(names)
    return session.engines.spark.session


def in_spark(session: Session) -> Session:
    """The session, but that Spark makes the models of its runs."""
    return dataclasses.replace(
        session, settings=session.settings.model_copy(update={"engine": "spark"})
    )


@contextlib.contextmanager
def spark_apart(session: Session, warehouse: Path) -> Iterator[SparkSession]:
    """Spark of another warehouse, in the JVM that is warm; after it the session starts its own."""
    end_spark()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MOLDAU_WAREHOUSE", str(warehouse))
        spark = start(warehouse)
        suit_to(spark, is_small=True)
        try:
            yield spark
        finally:
            end_spark()
            session.engines = start_session(session.settings).engines


class Killed(BaseException):
    """What stands for SIGKILL in this process: nothing of moldau catches it."""


@contextlib.contextmanager
def dying_at(point: str) -> Iterator[None]:
    """The command in this block dies at this point of its run (see moldau.sessions.faults)."""

    def die() -> None:
        raise Killed(point)

    with pytest.MonkeyPatch.context() as patch, pytest.raises(Killed):
        patch.setenv(faults.VARIABLE, point)
        patch.setattr(faults, "die", die)
        yield


def while_called(waiting: Sequence[Path], change: Callable[[], None]) -> threading.Thread:
    """Another writer: changes something while calls of the plugin `scripted` are in progress.

    `waiting`: `<its folder>/<group>` of each call that waits for the change.
    """

    def write() -> None:
        deadline = time.monotonic() + 120
        while not all(place.with_name(f"{place.name}.called").exists() for place in waiting):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        change()
        for place in waiting:
            place.with_name(f"{place.name}.go").touch()

    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    return thread


def rows(session: Session, statement: str, at_ms: int | None = None) -> list[tuple[Any, ...]]:
    """The rows of a query; DuckDB tells of marts, and another test that Spark says the same.

    `at_ms`: the clock of the marts; None = now.
    """
    if "marts." in statement:
        return list(query(session.warehouse, statement, at_ms).rows)
    return [tuple(row) for row in session.sql(statement)]


def dicts(session: Session, statement: str) -> list[dict[str, Any]]:
    """The rows of a query in Spark SQL by column; no marts."""
    found: list[dict[str, Any]] = session.engines.duckdb.arrow(statement).to_pylist()
    return found


def dicts_at_hand(session: Session, statement: str) -> list[dict[str, Any]]:
    """The same, asked of the engine of the run that is open."""
    if session.engines.at_hand is session.engines.duckdb:
        return dicts(session, statement)
    return [row.asDict(recursive=True) for row in session.sql(statement)]


def mart(session: Session, name: str, at_ms: int | None = None) -> list[dict[str, Any]]:
    return table_rows(session.warehouse, f"marts.{name}", at_ms=at_ms).as_dicts()


def parquet_of(session: Session, table: pa.Table) -> str:
    """A relation for Spark SQL that holds this table's rows."""
    folder = session.warehouse.parent / "tests"
    folder.mkdir(exist_ok=True)
    path = folder / f"{next(_numbers)}.parquet"
    pyarrow.parquet.write_table(table, path)
    return f"parquet.`{path}`"


def table_of(kinds: Mapping[str, str], rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """These rows with columns of these types of Spark SQL; what a row lacks is null."""
    types = {
        name: sqlglot.exp.DataType.build(kind, dialect="spark").sql("duckdb")
        for name, kind in kinds.items()
    }
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        told = ({name: row.get(name) for name in kinds} for row in rows)
        file.write("".join(json.dumps(row) + "\n" for row in told))
        file.flush()
        relation = read_json(file.name, columns=types, format="newline_delimited")
        return relation.to_arrow_table()


def put_list(
    session: Session, name: str, kinds: Mapping[str, str], rows: Sequence[Mapping[str, Any]]
) -> None:
    """Make these rows a list of the run, in place of what its model found."""
    relation = f"intermediate.{name}"
    listed = f"select * from {parquet_of(session, table_of(kinds, rows))}"
    if session.engines.at_hand is session.engines.spark:
        spark = spark_of(session)
        spark.sql(f"drop table if exists {relation}")
        folder = session.warehouse.parent / "tests" / f"list-{next(_numbers)}"
        spark.sql(f"create table {relation} using parquet location '{folder}' as {listed}")
    else:
        session.engines.duckdb._create(relation, to_duckdb(listed), "table")


def run_alone(session: Session, *names: str) -> None:
    """Write these models only: other lists that they read are as they are."""
    engines = session.engines
    if engines.at_hand is engines.spark:
        spark_of(session, *tables_of(names))
        return dbt("run", "--select", *names, warehouse=session.warehouse)
    duckdb = engines.duckdb
    duckdb._refresh(tables_of(names))
    for node in models().values():
        if node.name in names:
            duckdb._telling(node, duckdb._create_helper if node.is_helper else duckdb._write)


def decoded_table(records: Mapping[str, Sequence[Record]]) -> pa.Table:
    """Records of several clusters with the columns that a load writes to decoded.group_records."""
    flat = [(cluster, record) for cluster, several in records.items() for record in several]
    decoded = group_records(
        pa.array([record.key for _, record in flat], pa.binary()),
        pa.array([record.value for _, record in flat], pa.binary()),
    )
    columns = {
        "cluster_id": pa.array([cluster for cluster, _ in flat]),
        "partition_index": pa.array([record.partition for _, record in flat], pa.int32()),
        "log_offset": pa.array([record.offset for _, record in flat], pa.int64()),
        "recorded_at_ms": pa.array([record.timestamp_ms for _, record in flat], pa.int64()),
    }
    columns |= dict(zip(decoded.schema.names, decoded.columns, strict=True))
    return pa.table(columns)


def fold(
    session: Session,
    clusters: Sequence[str],
    decoded: str,
    kind: str = families.CONSUMER_OFFSETS,
) -> None:
    """Fold what files of a kind hold for any number of clusters, as a load folds that of one.

    `kind`: a family of topics or another kind of file. `decoded`: relation or query with the
    columns of its table of decoded records, or of its table of raw, but run_id.
    """
    fold_at_once(session, clusters, {kind: decoded})


def fold_at_once(session: Session, clusters: Sequence[str], told: Mapping[str, str]) -> None:
    """The same for several kinds, of which the first alone may be a snapshot: kind -> `decoded`."""
    load_kind = next(iter(told))
    run = Run(next_run_id(session, "load"), "load", list(clusters), 0, load_kind=load_kind)
    open_run(session, run)
    for kind, decoded in told.items():
        family = topics().get(kind)
        rows = _brought(session, run, kind, decoded)
        if not family or family.view:
            session.bring(family.view if family and family.view else kind, rows)
    models = dict.fromkeys(model for kind in told for model in folds(session, kind))
    session.run_models(*settings_models(session, run), *models)
    append_row(session.warehouse, row_of(dataclasses.replace(run, cluster_ids=[])))


def _brought(session: Session, run: Run, kind: str, decoded: str) -> str:
    """The query of what a run brings, which is kept if it may be folded again."""
    rows = f"select *, '{run.run_id}' as run_id from ({decoded})"
    if kind not in FOLDED_AGAIN:
        return rows
    table = topics()[kind].table
    position = "cluster_id, log_topic_name, log_partition_index, log_offset"
    new = session.engines.duckdb.arrow(
        f"select * from ({rows}) left anti join (select {position} from {table}) using ({position})"
    )
    append(session.warehouse, table, new.to_batches())
    return f"select * from {table} where run_id = '{run.run_id}'"


def folds(session: Session, kind: str) -> list[str]:
    return [model.name for model in session.models("fold", kind)]


def fold_snapshots(session: Session, clusters: Sequence[str], told: Mapping[str, str]) -> None:
    """The same for files of several kinds, which dbt folds at once: kind -> relation.

    Of the run's parameters a model that replaces a snapshot reads the row with its own kind.
    """
    run = Run(next_run_id(session, "load"), "load", list(clusters), 0, load_kind="several")
    open_run(session, run)
    for kind, relation in told.items():
        session.bring(kind, f"select *, '{run.run_id}' as run_id from {relation}")
    names = [name for name in run_views()["parameters"] if name != "load_kind"]
    [values] = session.sql(f"select {', '.join(names)} from run.parameters")
    columns = ", ".join(f"{literal(value)} as {n}" for n, value in zip(names, values, strict=True))
    session.bring("parameters", f"select {columns}, explode({literal(list(told))}) as load_kind")
    models = dict.fromkeys(model for kind in told for model in folds(session, kind))
    session.run_models(*settings_models(session, run), *models)
    append_row(session.warehouse, row_of(dataclasses.replace(run, cluster_ids=[])))


def fold_records(session: Session, records: Mapping[str, Sequence[Record]]) -> None:
    relation = parquet_of(session, decoded_table(records))
    fold(session, list(records), f"select * from {relation}")


def ask_models(session: Session, clusters: Sequence[str], at_ms: int) -> None:
    """From here on the decision models answer about all groups of these clusters, at this instant.

    Their views are `intermediate.int_groups__..._reasoned`; nothing is written.
    """
    open_run(session, Run("99999999-compare", "compare", list(clusters), at_ms, is_dry_run=True))
    session.make_views("int_groups__decisions_reasoned")


def insert_row(session: Session, table: str, row: Mapping[str, Any]) -> None:
    """Columns that it leaves out are null."""
    given = {name: value for name, value in row.items() if value is not None}
    values = ", ".join(f"{literal(value)} as {name}" for name, value in given.items())
    change(session, f"insert into {table} by name select {values}")


def change(session: Session, statement: str) -> None:
    """What another writer does to a table: an update, a delete or an `insert into … by name`."""
    if inserted := re.match(r"\s*insert into (\S+) by name\s+(.*)", statement, re.DOTALL):
        table, query = inserted.groups()
        found = session.engines.duckdb.arrow(query)
        for column in tables()[table].columns:
            if column.name not in found.column_names:
                found = found.append_column(column.name, pa.nulls(found.num_rows))
        append(session.warehouse, table, found.to_batches())
        return
    tree = sqlglot.parse_one(statement, read="spark")
    table = tree.find(sqlglot.exp.Table).sql()
    where = tree.args.get("where")
    condition = where and where.this.sql("postgres")
    opened = open_table(session.warehouse.joinpath(*table.split(".")))
    if isinstance(tree, sqlglot.exp.Delete):
        opened.delete(condition)
    else:
        values = {one.this.name: one.expression.sql("postgres") for one in tree.expressions}
        opened.update(updates=values, predicate=condition)


def rows_of_singular_test(session: Session, name: str) -> list[dict[str, Any]]:
    """What a test of dbt's in tests/singular finds, on the tables as they are."""
    sql = (ROOT / "tests" / "singular" / f"{name}.sql").read_text()
    models = set(re.findall(r"ref\('(\w+)'\)", sql))
    seeds = {model for model in models if f"seeds.{model}" in tables()}
    session.engines.duckdb.make_views(sorted(models - seeds))
    for model in models:
        schema = "seeds" if model in seeds else "staging"
        sql = sql.replace(f"{{{{ ref('{model}') }}}}", f"{schema}.{model}")
    return dicts(session, sql)


def contents(
    session: Session,
    table: str,
    without: Sequence[str] = (),
    where: str = "true",
    by: str = "cluster_id",
) -> dict[str, list[str]]:
    """Rows of a table as JSON in a stable order, by cluster or another column."""
    hidden = ", ".join([by, *without])
    found: dict[str, list[str]] = {}
    connection = connect_duckdb(session.warehouse, [table])
    for name, row in connection.execute(
        f"select {by}, to_json(shown)::varchar from (select {by}, "
        f"(select shown from (select t.* exclude ({hidden})) as shown) as shown "
        f"from {table} as t where {where}) order by 1, 2",
    ).fetchall():
        found.setdefault(name, []).append(row)
    return found


def writes(session: Session, kind: str, cluster: str, at_ms: int) -> dict[str, int]:
    """Commits of a run by table."""
    before = _commits(session.warehouse)
    decide(session, kind, [cluster], at_ms, is_dry_run=False)
    after = _commits(session.warehouse)
    return {name: after[name] - before[name] for name in after if after[name] > before[name]}


@contextlib.contextmanager
def statements() -> Iterator[list[str]]:
    """What is asked in this block: statements of Spark, dbt's too, and models of DuckDB."""
    given: list[str] = []

    def noting(plain: Any) -> Any:
        def noted(engine: Any, asked: Any, *rest: Any, **more: Any) -> Any:
            given.append(str(asked))
            return plain(engine, asked, *rest, **more)

        return noted

    with pytest.MonkeyPatch.context() as patch:
        for engine, name in (
            (SparkSession, "sql"),
            (DuckDBModels, "sql"),
            (DuckDBModels, "_telling"),
        ):
            patch.setattr(engine, name, noting(getattr(engine, name)))
        yield given


@contextlib.contextmanager
def plans() -> Iterator[list[str]]:
    """What Spark analyses in this block: the plan of each statement, dbt's, too, a line a node.

    All of the views stands in it that the statement reads, each as often as a path leads to it."""
    analysed: list[str] = []
    plain = SparkSession.sql

    def noted(spark: SparkSession, *asked: Any, **more: Any) -> Any:
        frame = plain(spark, *asked, **more)
        analysed.append(frame._jdf.queryExecution().analyzed().treeString())
        return frame

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SparkSession, "sql", noted)
        yield analysed


def commits(warehouse: Path) -> int:
    return sum(_commits(warehouse).values())


def _commits(warehouse: Path) -> dict[str, int]:
    """By table, without those of upkeep: they come once in many runs, whichever that is."""
    return {
        f"{log.parts[-3]}.{log.parts[-2]}": sum(not _is_upkeep(file) for file in log.glob("*.json"))
        for log in warehouse.glob("*/*/_delta_log")
        if log.parts[-3] != "plugin"
    }


@cache
def _is_upkeep(commit: Path) -> bool:
    return '"operation":"OPTIMIZE"' in commit.read_text()
