"""A topic read by Spark's Kafka source: every partition by a task of its own."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from moldau.engines.spark.conf import properties
from moldau.errors import MoldauError
from moldau.records.around import NO_TIMESTAMP, headers_text, timestamp_types

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from moldau.warehouse.log_spans import Span

# the source shows no internal topic to the newer way of asking for offsets
_SHOWS_INTERNAL = {"spark.sql.streaming.kafka.useDeprecatedOffsetFetching": "true"}


class SparkReading:
    """Of spans of one topic (`moldau.warehouse.log_spans.Reading`).

    `client`: properties of a Java client, by Kafka's names. The records go through files, for
    there may be more than fit into memory.
    """

    def __init__(
        self, spark: SparkSession, client: Mapping[str, str], topic: str, spans: Sequence[Span]
    ) -> None:
        self._spark, self._client, self._topic = spark, client, topic
        self._ends = {span.partition_index: span.end for span in spans}
        self._position = {span.partition_index: span.start for span in spans}

    def tables(self, rows: int) -> Generator[pa.Table, None, None]:
        with tempfile.TemporaryDirectory(prefix="moldau-") as scratch:
            folder = Path(scratch) / "records"
            with properties(self._spark, _SHOWS_INTERNAL):
                self._frame().write.partitionBy("partition").parquet(str(folder))
            for partition, end in self._ends.items():
                for file in sorted((folder / f"partition={partition}").glob("*.parquet")):
                    for batch in pa.parquet.ParquetFile(file).iter_batches(rows):
                        yield _table(self._topic, partition, batch)
                        self._position[partition] = batch["offset"][-1].as_py() + 1
                self._position[partition] = end

    def next_offset(self, span: Span) -> int:
        return self._position[span.partition_index]

    def _frame(self) -> DataFrame:
        starts, ends = (
            {str(partition): offset for partition, offset in some.items()}
            for some in (self._position, self._ends)
        )
        options = {
            **{f"kafka.{name}": value for name, value in self._client.items()},
            "kafka.isolation.level": "read_committed",
            "assign": json.dumps({self._topic: list(self._ends)}),
            "startingOffsets": json.dumps({self._topic: starts}),
            "endingOffsets": json.dumps({self._topic: ends}),
            "includeHeaders": "true",
            "failOnDataLoss": "false",
        }
        try:
            source = self._spark.read.format("kafka").options(**options).load()
        except Exception as error:
            if "kafka" in str(error) and "find" in str(error):
                raise MoldauError(
                    "this Spark has no Kafka source: give it spark-sql-kafka-0-10 of its version"
                ) from None
            raise
        return source.selectExpr(
            "partition", "offset", "unix_millis(timestamp) as timestamp_ms", "timestampType",
            "key", "value", "headers",
        )  # fmt: skip


def _table(topic: str, partition: int, batch: pa.RecordBatch) -> pa.Table:
    """With the columns of `raw.records` that a record has of its own."""
    types = timestamp_types(batch["timestampType"])
    headers = (
        headers_text((one["key"], one["value"]) for one in told or ())
        for told in batch["headers"].to_pylist()
    )
    return pa.table(
        {
            "topic_name": pa.array([topic] * batch.num_rows, pa.string()),
            "partition_index": pa.array([partition] * batch.num_rows, pa.int32()),
            "log_offset": batch["offset"],
            "recorded_at_ms": pc.if_else(types.is_valid(), batch["timestamp_ms"], NO_TIMESTAMP),
            "timestamp_type": types,
            "record_key": batch["key"],
            "record_value": batch["value"],
            "headers": pa.array(headers, pa.string()),
        }
    )
