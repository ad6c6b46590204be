"""Append what was staged to `raw`, each record once, and decode it into `decoded`.

Every append is one Delta commit that carries the load's run_id, so a load that was interrupted
sees which of them were made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pyarrow as pa

from moldau.domains import topics
from moldau.engine.literals import literal
from moldau.engine.spark import is_appended
from moldau.loading.refusals import Refusal
from moldau.loading.stage import Staged
from moldau.records import families
from moldau.warehouse.contracts import tables

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from moldau.sessions.session import Session

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


def tables_of_load(staged: Staged) -> set[str]:
    """The tables that the load appends to."""
    found = {families.family_of(topic) or "" for topic, *_ in staged.ranges}
    return {f"raw.{staged.kind}", *(topics()[one].table for one in found if one in topics())}


def take_back(session: Session, run_id: str) -> None:
    """Delete the rows that a load appended.

    Else a load of the same records would find them there, and fold nothing.
    """
    decoded = {found.table for found in topics().values()}
    raw = {name for name, table in tables().items() if table.database == "raw"}
    session.register(raw | decoded)
    for table in sorted(raw | decoded):
        if is_appended(session.spark, table, run_id):
            session.spark.sql(f"delete from {table} where run_id = {literal(run_id)}")


def append_records(spark: SparkSession, staged: Staged) -> tuple[int, list[Refusal]]:
    """Append the new records to `raw.records`; gives how many, and which were refused."""
    rows = spark.read.parquet(str(staged.rows_folder))
    existing = spark.table("raw.records").where(_reach(staged))
    refused: list[Refusal] = []
    if staged.has_repeats or not existing.isEmpty():
        rows.createOrReplaceTempView("staged_rows")
        existing.createOrReplaceTempView("existing_rows")
        compared = spark.sql(_COMPARED).cache()
        refused = [
            Refusal(
                staged.files[row.file_index],
                row.line,
                f"offset {row.log_offset} of {row.topic_name}-{row.partition_index} "
                "is there already with other bytes",
            )
            for row in compared.where("standing = 'differs'")
            .orderBy("file_index", "line")
            .collect()
        ]
        rows = compared.where("standing = 'new'")
    rows_new = _insert(spark, rows.withColumns(_load_columns(staged)), "raw.records", staged)
    spark.catalog.clearCache()
    return rows_new, refused


def append_rows(spark: SparkSession, staged: Staged) -> int:
    """Append rows of another kind to its table of raw; gives how many distinct ones."""
    from pyspark.sql.functions import max_by, struct

    table = tables()[f"raw.{staged.kind}"]
    rows = spark.read.parquet(str(staged.rows_folder)).withColumns(_load_columns(staged))
    others = [c.name for c in table.columns if c.name not in table.primary_key]
    # of a key that comes twice the last line holds
    latest = (
        rows.groupBy(*table.primary_key).agg(
            *(max_by(name, struct("file_index", "line")).alias(name) for name in others)
        )
        if others
        else rows.select(*table.primary_key).distinct()
    )
    return _insert(spark, latest, table.full_name, staged)


def append_decoded(spark: SparkSession, staged: Staged) -> None:
    """Decode the load's records, family by family, into `decoded`."""
    run = f"run_id = {literal(staged.run_id)}"
    brought: dict[str, list[str]] = {}
    for topic, *_ in staged.ranges:
        brought.setdefault(families.family_of(topic) or "", []).append(topic)
    for family, names in brought.items():
        if family not in topics():
            continue
        table, decode = topics()[family].table, topics()[family].decode
        if is_appended(spark, table, staged.run_id):
            continue
        wanted = ", ".join(map(literal, sorted(set(names))))
        records = spark.table("raw.records").where(f"{run} and topic_name in ({wanted})")
        position = _GROUP_POSITION if family == families.CONSUMER_OFFSETS else _POSITION
        decoded = records.select(*_POSITION.values(), "record_key", "record_value").mapInArrow(
            _decoding(position, decode), spark.table(table).schema
        )
        _insert(spark, decoded, table, staged)


def _decoding(
    position: dict[str, str], decoder: Callable[[pa.Array, pa.Array], pa.RecordBatch]
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def decode(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            columns = {name: batch.column(source) for name, source in position.items()}
            decoded = decoder(batch.column("record_key"), batch.column("record_value"))
            columns |= dict(zip(decoded.schema.names, decoded.columns, strict=True))
            yield pa.RecordBatch.from_pydict(columns)

    return decode


def _insert(spark: SparkSession, rows: DataFrame, table: str, staged: Staged) -> int:
    """One Delta commit; gives the number of rows that it added."""
    rows.select(*_names(table)).write.format("delta").mode("append").saveAsTable(table)
    return int(spark.table(table).where(f"run_id = {literal(staged.run_id)}").count())


def _load_columns(staged: Staged) -> dict[str, object]:
    from pyspark.sql.functions import lit

    return {"cluster_id": lit(staged.cluster_id), "run_id": lit(staged.run_id)}


def _names(table: str) -> list[str]:
    return [column.name for column in tables()[table].columns]


def _reach(staged: Staged) -> str:
    """Literal predicate on raw.records: the spans of offsets that this load brings."""
    spans = [
        f"(topic_name = {literal(topic)} and partition_index = {partition} "
        f"and log_offset between {first} and {last})"
        for topic, partition, first, last in staged.ranges
    ]
    return f"cluster_id = {literal(staged.cluster_id)} and ({' or '.join(spans) or 'false'})"


_COMPARED = """
with ordered as (
    select
        *,
        first_value(struct(record_key, record_value, recorded_at_ms))
            over (partition by topic_name, partition_index, log_offset order by file_index, line)
            as first_bytes,
        row_number()
            over (partition by topic_name, partition_index, log_offset order by file_index, line)
            as occurrence
    from staged_rows
)

select
    ordered.*,
    case
        when
            not struct(ordered.record_key, ordered.record_value, ordered.recorded_at_ms)
            <=> coalesce(
                if(
                    existing_rows.topic_name is null,
                    null,
                    struct(
                        existing_rows.record_key,
                        existing_rows.record_value,
                        existing_rows.recorded_at_ms
                    )
                ),
                ordered.first_bytes
            )
            then 'differs'
        when existing_rows.topic_name is not null or ordered.occurrence > 1 then 'there'
        else 'new'
    end as standing
from ordered
left join existing_rows
    on
        ordered.topic_name = existing_rows.topic_name
        and ordered.partition_index = existing_rows.partition_index
        and ordered.log_offset = existing_rows.log_offset
"""
