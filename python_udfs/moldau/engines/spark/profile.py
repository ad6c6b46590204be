"""The Spark settings, read from the one place where they stand: profiles/profiles.yml."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache

import yaml
from jinja2 import Environment

from moldau.project import PROFILES

FOLDER = "moldau.warehouse"  # of a session: the warehouse it is for; dbt's macros ask for it
BY_SIZE = {  # on small tables, on big ones
    "spark.sql.codegen.wholeStage": ("false", "true"),
    "spark.sql.codegen.factoryMode": ("NO_CODEGEN", "FALLBACK"),
    "spark.sql.adaptive.enabled": ("false", "true"),
    "spark.sql.shuffle.partitions": ("1", "4"),
    "spark.sql.files.minPartitionNum": ("1", "2"),
    "spark.sql.leafNodeDefaultParallelism": ("1", "2"),
    "spark.databricks.delta.snapshotPartitions": ("1", "2"),
}
# what stands in the profile as a default that suits one machine
_FREE = {
    "spark.app.name", "spark.buffer.pageSize", "spark.driver.bindAddress", "spark.driver.host",
    "spark.driver.memory", "spark.log.level", "spark.master",
    "spark.sql.autoBroadcastJoinThreshold", "spark.sql.execution.arrow.maxRecordsPerBatch",
    "spark.ui.enabled", "spark.ui.retainedJobs", "spark.ui.retainedStages",
    "spark.ui.retainedTasks",
    "spark.ui.showConsoleProgress",
}  # fmt: skip
# what SQL means rests on these
_MEANING = (
    "spark.sql.ansi.", "spark.sql.caseSensitive", "spark.sql.defaultCatalog", "spark.sql.legacy.",
    "spark.sql.mapKeyDedupPolicy", "spark.sql.parser.", "spark.sql.storeAssignmentPolicy",
)  # fmt: skip


def spark_settings(told: Mapping[str, str] | None = None) -> dict[str, str]:
    """`server_side_parameters` of the profile, with env_var() filled in as dbt does, and what
    moldau.yml says."""
    environment = Environment()
    environment.globals["env_var"] = lambda name, default=None: os.environ.get(name, default)
    text = environment.from_string((PROFILES / "profiles.yml").read_text()).render()
    return _parameters(text) | dict(told or {})


@cache  # dbt opens a connection for each node, and each asks for the settings
def _parameters(text: str) -> dict[str, str]:
    profile = yaml.safe_load(text)["moldau"]
    output = profile["outputs"][profile["target"]]
    return {key: str(value) for key, value in output["server_side_parameters"].items()}


def refusal(name: str) -> str | None:
    """Why a property is not for moldau.yml; None = it is."""
    if not name.startswith("spark."):
        return "the names of Spark's properties begin with spark."
    if name in ("spark.driver.extraClassPath", "spark.driver.extraJavaOptions"):
        return "moldau sets it; more jars stand in spark.jars"
    if name in BY_SIZE:
        return "each run chooses it by the size of its tables"
    if name.startswith(_MEANING) or (name in _of_profile() and name not in _FREE):
        return "what moldau writes rests on its value"
    return None


@cache
def _of_profile() -> frozenset[str]:
    return frozenset(spark_settings())
