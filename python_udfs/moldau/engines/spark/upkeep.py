"""Upkeep by Spark's own OPTIMIZE and VACUUM, which know every feature that a table may have."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from moldau.warehouse.damage import open_table
from moldau.warehouse.opened import may_hide_rows
from moldau.warehouse.upkeep import Maintained, Retention, maintain

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_FOR_VACUUM = {
    # against less than the table says: moldau.yml may say less
    "spark.databricks.delta.retentionDurationCheck.enabled": "false",
    # tasks that list the one folder: Spark would start ten thousand
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "8",
}


def maintain_in_spark(
    spark: SparkSession, warehouse: Path, name: str, retention: Retention
) -> Maintained:
    """Do all that is due for a table. The warehouse is locked by the caller."""
    due = maintain(warehouse, name, retention, is_dry_run=True)
    folder = str(warehouse.joinpath(*name.split("."))).replace("`", "``")
    if due.files_joined or due.left:
        [joined] = spark.sql(f"optimize delta.`{folder}`").collect()
        due = replace(due, files_joined=joined.metrics.numFilesRemoved, left=None)
    has_vectors = may_hide_rows(open_table(warehouse.joinpath(*name.split("."))))
    if due.files_deleted or has_vectors:  # those are not told
        hours = retention(name)
        told = "" if hours is None else f" retain {hours} hours"
        with _set(spark, _FOR_VACUUM):
            spark.sql(f"vacuum delta.`{folder}`{told}")
    return due


@contextlib.contextmanager
def _set(spark: SparkSession, settings: Mapping[str, str]) -> Iterator[None]:
    """In this block; as before after it."""
    before = {name: spark.conf.get(name, None) for name in settings}
    for name, value in settings.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, earlier in before.items():
            if earlier is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, earlier)
