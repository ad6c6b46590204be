"""dbt as a person calls it in the project, with no moldau around it; a program for `Shell`.

FOLDER has the warehouse `w`. What was found is written to FOLDER/found.json.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from dbt.cli.main import dbtRunner
from pyspark.sql import SparkSession

from moldau.engine.graph import models
from moldau.plugins.udtf import register_call_plugin
from moldau.reading.query import query

# decisions that a plain dbt run has changed, and how many of these stand in the history
DECISIONS = """
    select count(*), count(recorded.run_id)
    from (
        select cluster_id, 'sweep ' || group_id as subject, changed_in_run_id
        from decisions.group_sweeps
        union all
        select cluster_id, 'cleanup ' || group_id, changed_in_run_id
        from decisions.cleanup_eligibility
    ) as decided
    left join history.decision_changes as recorded
        on decided.cluster_id = recorded.cluster_id
        and decided.subject = recorded.subject
        and decided.changed_in_run_id = recorded.run_id
    where decided.changed_in_run_id like '%~dbt-%'
"""
TESTS = (  # of tables, of a list that a run works on, of a model's rule
    "assert_changes_end_in_the_current_decision",
    "int_tiers__partitions_due",
    "int_tiers__segments_overlapping",
)


def main(folder: Path) -> None:
    warehouse = folder / "w"
    os.environ["MOLDAU_WAREHOUSE"] = str(warehouse)
    found: dict[str, Any] = {}

    def dbt(name: str, *words: str) -> None:
        paths = ["--profiles-dir", "profiles", "--target-path", str(folder / "target")]
        outcome = dbtRunner().invoke([*words, *paths])
        results = getattr(outcome.result, "results", [])
        wrong = [f"{r.node.name}: {r.message}" for r in results if r.status in ("error", "fail")]
        found[name] = wrong or ([] if outcome.success else [str(outcome.exception)])
        found[f"decisions after {name}"] = next(query(warehouse, DECISIONS).rows)

    dbt("a run that ends early", "run", "--select", "+int_groups__decisions_gathered")
    spark = SparkSession.builder.getOrCreate()
    found["registered"] = [row.tableName for row in spark.sql("show tables in decisions").collect()]
    forget()
    dbt("a whole run", "run")
    found["columns"] = columns(warehouse)
    forget()
    dbt("tests", "test", "--select", *TESTS)
    dbt("unit tests", "test", "--select", "test_type:unit")
    (folder / "found.json").write_text(json.dumps(found))


def forget() -> None:
    """The views: in a process of its own the next command would not find them."""
    spark = SparkSession.builder.getOrCreate()
    for (schema,) in spark.sql("show schemas").collect():
        for view in spark.sql(f"show views in {schema}").collect():
            spark.sql(f"drop view {schema}.{view.viewName}")


def columns(warehouse: Path) -> dict[str, dict[str, str]]:
    """Model -> column -> type, of what the run has made, and of what it would have merged."""
    spark = SparkSession.builder.getOrCreate()
    register_call_plugin(spark, {}, warehouse)
    found = {}
    for model in models().values():
        if model.is_helper:
            described = spark.sql(f"describe table {model.relation}").collect()
            found[model.name] = {row.col_name: row.data_type for row in described}
        else:
            found[model.name] = dict(spark.sql(model.sql).dtypes)
    return found


if __name__ == "__main__":
    main(Path(sys.argv[1]))
