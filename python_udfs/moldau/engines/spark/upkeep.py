"""Upkeep by Spark's own OPTIMIZE and VACUUM, which know every feature that a table may have."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from moldau.engines.spark.conf import properties
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
        with properties(spark, _FOR_VACUUM):
            spark.sql(f"vacuum delta.`{folder}`{told}")
    return due
