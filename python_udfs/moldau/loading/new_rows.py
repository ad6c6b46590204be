"""Append what was staged to `raw`, each record once, and decode it into `decoded`, without Spark.

Every append is one Delta commit that carries the load's run_id, so a load that was interrupted
sees which of them were made.
"""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from moldau.connecting import connect
from moldau.declared import topics
from moldau.declared.domain import Topics
from moldau.loading.refusals import Refusals
from moldau.loading.shapes import RECORDS
from moldau.loading.stage import Staged
from moldau.loading.tally import Tally
from moldau.records import families, statuses
from moldau.records.decode import decode
from moldau.records.flat import flat
from moldau.sessions.brought import Refusal
from moldau.warehouse.append import append
from moldau.warehouse.ask import ask, ask_rows, has_rows, sql_text
from moldau.warehouse.contracts import tables
from moldau.warehouse.damage import open_table
from moldau.warehouse.metadata import arrow_schema

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_AT_ONCE = 65_536  # rows
_OF_THE_LOAD = ("cluster_id", "run_id")
# what of a record may not differ; of other kinds everything
_COMPARED = {RECORDS.kind: ["record_key", "record_value", "recorded_at_ms"]}
_REFUSED = defaultdict(
    lambda: "request {0} is there already with other content",
    {RECORDS.kind: "offset {2} of {0}-{1} is there already with other bytes"},
)
# what a decoded row takes from its record: column there -> column of raw.records
_POSITION = {
    "cluster_id": "cluster_id",
    "log_topic_name": "topic_name",
    "log_partition_index": "partition_index",
    "log_offset": "log_offset",
    "recorded_at_ms": "recorded_at_ms",
    "run_id": "run_id",
}
_GROUP_POSITION = {
    "partition_index" if column == "log_partition_index" else column: source
    for column, source in _POSITION.items()
    if column != "log_topic_name"
}


def count_appended(warehouse: Path, staged: Staged) -> int:
    """How many rows the load has appended to raw: all or none, an append is one commit."""
    mine = f"select count(*) from t where run_id = {sql_text(staged.run_id)}"
    [(count,)] = ask_rows(warehouse, f"raw.{staged.kind}", mine)
    return int(count)


def take_back(warehouse: Path, run_id: str) -> None:
    """Delete the rows that a load appended.

    Else a load of the same records would find them there, and fold nothing.
    """
    decoded = {found.table for found in topics().values()}
    raw = {name for name, table in tables().items() if table.database == "raw"}
    for table in sorted(raw | decoded):
        mine = f"run_id = {sql_text(run_id)}"
        if has_rows(warehouse, table, mine):
            open_table(warehouse.joinpath(*table.split("."))).delete(mine)


def append_rows(warehouse: Path, staged: Staged, refused: Refusals) -> int:
    """Append the rows to the kind's table of raw; gives how many.

    Where a load is part of the key the last row of a key holds. Elsewhere a row is there once,
    whichever load brought it: the same again adds nothing, and another in its place is refused.
    """
    table = tables()[f"raw.{staged.kind}"]
    key = [name for name in table.primary_key if name not in _OF_THE_LOAD]
    with _staged_rows(staged) as connection:
        if "run_id" in table.primary_key:
            latest = (
                f"select * from staged_rows qualify row_number() over "
                f"(partition by {', '.join(key)} order by file_index desc, line desc) = 1"
            )
            return _append(connection, latest, warehouse, staged)
        reach = _reach(connection, key, staged)
        is_there = has_rows(warehouse, table.full_name, reach)
        if not (is_there or staged.has_repeats):
            return _append(connection, "select * from staged_rows", warehouse, staged)
        others = [column.name for column in table.columns if column.name not in key]
        content = _COMPARED.get(staged.kind, [n for n in others if n not in _OF_THE_LOAD])
        existing = f"select {', '.join([*key, *content])} from t where {reach}"
        connection.register("existing_rows", ask(warehouse, table.full_name, existing))
        connection.execute(_standings(key, content))
        differing = connection.execute(
            f"select file_index, line, {', '.join(key)} "
            "from standings where standing = 'differs' order by file_index, line"
        )
        while some := differing.fetchmany(_AT_ONCE):
            refused.add(
                [
                    Refusal(staged.files[index], line, _REFUSED[staged.kind].format(*names))
                    for index, line, *names in some
                ]
            )
        return _append(connection, _NEW, warehouse, staged)


def find_falls(staged: Staged, rises: str, of: str) -> tuple[int, str | None]:
    """Lines on which `rises` is less than on an earlier one of the file, of one value of `of`.

    How many there are, and the first: where it stands, and whose it is."""
    if not staged.rows:
        return 0, None
    earlier = (
        f"max({rises}) over (partition by file_index, {of} order by line "
        "rows between unbounded preceding and 1 preceding)"
    )
    with _staged_rows(staged) as connection:
        falls = f"select * from staged_rows qualify {rises} < {earlier}"
        found = connection.execute(
            f"select count(*), min(row(file_index, line, {of})) from ({falls})"
        ).fetchone()
    assert found is not None
    count, first = found
    if not count:
        return 0, None
    file_index, line, name = first.values() if isinstance(first, dict) else first
    return count, f"{staged.files[file_index]}:{line}, {name}"


def append_decoded(warehouse: Path, staged: Staged) -> Tally:
    """Decode the load's records, family by family, into `decoded`; gives the odd ones."""
    tally = Tally()
    brought: dict[str, list[str]] = {}
    for topic, *_ in staged.ranges:
        brought.setdefault(families.family_of(topic) or "", []).append(topic)
    for family, names in brought.items():
        decoded = topics().get(family)
        mine = f"run_id = {sql_text(staged.run_id)}"
        wanted = ", ".join(map(sql_text, sorted(set(names))))
        if decoded and has_rows(warehouse, decoded.table, mine):
            _count_again(warehouse, decoded, mine, wanted, tally)
            continue
        if not family:  # nothing reads them
            counted = f"select topic_name, count(*) from t where {mine} group by 1"
            for name, count in ask_rows(warehouse, "raw.records", counted):
                if name in names:
                    tally.records[name]["unknown_type"] = count
            continue
        records = ask(
            warehouse,
            "raw.records",
            f"select {', '.join(_POSITION.values())}, record_key, record_value from t "
            f"where {mine} and topic_name in ({wanted})",
        )
        if decoded is None:
            for batch in records:
                _count(family, batch, tally)
            continue
        append(warehouse, decoded.table, (_decode(decoded, batch, tally) for batch in records))
    return tally


def _count(family: str, batch: pa.RecordBatch, tally: Tally) -> None:
    """Of a family that no table is of yet."""
    keys, values = batch.column("record_key"), batch.column("record_value")
    status = decode(family, keys, values).status.astype(np.int64)
    names = pa.array(statuses.STATUS_NAMES, pa.string()).take(pa.array(status))
    tally.add(batch.column("topic_name"), names, values)


def _count_again(
    warehouse: Path, decoded: Topics, mine: str, topic_names: str, tally: Tally
) -> None:
    """Of rows that a killed command had appended."""
    has_topic = decoded.family != families.CONSUMER_OFFSETS
    topic = "log_topic_name" if has_topic else sql_text("__consumer_offsets")
    counted = f"select {topic}, decode_status, count(*) from t where {mine} group by 1, 2"
    for name, status, records in ask_rows(warehouse, decoded.table, counted):
        tally.count(name, status, records)
    empty = (
        f"select topic_name, count(*) from t where {mine} and topic_name in ({topic_names}) "
        "and record_value = X'' group by 1"
    )
    for name, records in ask_rows(warehouse, "raw.records", empty):
        tally.empty[name] += records


def _decode(decoded: Topics, batch: pa.RecordBatch, tally: Tally) -> pa.RecordBatch:
    position = _GROUP_POSITION if decoded.family == families.CONSUMER_OFFSETS else _POSITION
    columns = {name: batch.column(source) for name, source in position.items()}
    told = [
        column for column in arrow_schema(tables()[decoded.table]) if column.name not in columns
    ]
    values = flat(decoded.family, batch.column("record_key"), batch.column("record_value"), told)
    columns |= dict(zip(values.schema.names, values.columns, strict=True))
    tally.add(batch.column("topic_name"), columns["decode_status"], batch.column("record_value"))
    return pa.RecordBatch.from_pydict(columns)


@contextlib.contextmanager
def _staged_rows(staged: Staged) -> Iterator[DuckDBPyConnection]:
    """A connection with a view `staged_rows`; what does not fit into memory lies beside these."""
    with connect(staged.folder / "spilled") as connection:
        files = [str(file) for file in staged.row_files()]
        connection.read_parquet(files).create_view("staged_rows")
        yield connection


def _append(connection: DuckDBPyConnection, rows: str, warehouse: Path, staged: Staged) -> int:
    """Append these rows to the kind's table of raw; gives their number."""
    [(count,)] = connection.execute(f"select count(*) from ({rows})").fetchall()
    if count:
        given = {"cluster_id": staged.cluster_id, "run_id": staged.run_id}
        columns = ", ".join(f"${n} as {n}" for n in given)
        table = f"raw.{staged.kind}"
        names = ", ".join(column.name for column in tables()[table].columns)
        found = connection.sql(
            f"select {names} from (select *, {columns} from ({rows}))", params=given
        )
        append(warehouse, table, found.to_arrow_reader(_AT_ONCE))
    return int(count)


def _reach(connection: DuckDBPyConnection, key: Sequence[str], staged: Staged) -> str:
    """Literal predicate on the kind's table of raw: the keys that this load may bring.

    Of records the spans of offsets in each partition, else that of the first name of the key.
    """
    spans = [
        f"(topic_name = {sql_text(topic)} and partition_index = {partition} "
        f"and log_offset between {first} and {last})"
        for topic, partition, first, last in staged.ranges
    ]
    if staged.kind != RECORDS.kind:
        ends = f"select min({key[0]}), max({key[0]}) from staged_rows"
        [(low, high)] = connection.execute(ends).fetchall()
        first, last = (sql_text(it) if isinstance(it, str) else it for it in (low, high))
        spans = [f"{key[0]} between {first} and {last}"]
    return f"cluster_id = {sql_text(staged.cluster_id)} and ({' or '.join(spans)})"


def _standings(key: Sequence[str], content: Sequence[str]) -> str:
    """Makes a table of the staged rows and whether each is new, there already, or differs.

    Of rows of one key the one that is stored holds, else the first; the others either repeat it
    or differ from it.
    """
    keys, contents = ", ".join(key), f"row({', '.join(content or ['true'])})"
    return f"""
        create temp table standings as
        with numbered as (
            select
                file_index, line, {keys}, {contents} as content,
                row_number() over position as occurrence,
                first_value({contents}) over position as first
            from staged_rows
            window position as (partition by {keys} order by file_index, line)
        ),
        stored as (select {keys}, {contents} as stored from existing_rows)
        select
            file_index, line, {keys},
            case
                when content is distinct from coalesce(stored, first) then 'differs'
                when stored is null and occurrence = 1 then 'new'
            end as standing
        from numbered
        left join stored using ({keys})
    """


_NEW = """
    select staged_rows.* from staged_rows
    semi join (from standings where standing = 'new') as new using (file_index, line)
"""
