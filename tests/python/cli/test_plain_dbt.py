"""What a person does with `dbt run` and `dbt test` alone, on what moldau has filled.

In the tests' own process, whose JVM is warm: Spark is another, of a warehouse of its own.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from manifest_support import Project
from pyspark.sql import SparkSession
from shell_support import Shell
from spark_support import spark_apart
from whole_runs import invoked, places

from moldau.compiled.graph import models
from moldau.engines.spark.udtf import register_call_plugin
from moldau.project import ROOT, SAMPLES
from moldau.reading.tables.query import query
from moldau.sessions.session import Session
from moldau.warehouse.damage import open_table

pytestmark = pytest.mark.spark

WEST_AT = "2026-11-21T07:56:22.363Z"
VERBS = f"""
load {SAMPLES}/west/open_transactions.jsonl --cluster west --kind open_transactions
load {SAMPLES}/west/__consumer_offsets.jsonl --cluster west --kind records
cycle --dry-run --at {WEST_AT}
sweep --dry-run --at {WEST_AT}
{(SAMPLES / "tiers" / "verbs.txt").read_text()}
"""
COMMANDS = {
    "a run that ends early": ("run", "--select", "+int_groups__decisions_gathered"),
    "a whole run": ("run",),
    # of tables, of a list that a run works on, of a model's rule
    "tests": (
        "test",
        "--select",
        "assert_changes_end_in_the_current_decision",
        "int_tiers__partitions_due",
        "int_tiers__segments_misaligned",
    ),
    "unit tests": ("test", "--select", "test_type:unit"),
}
BROKEN = ("test", "--select", "assert_changes_end_in_the_current_decision")
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


@pytest.fixture(scope="module")
def warehouse(shell: Shell, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("plain")
    (folder / "verbs.txt").write_text(VERBS)
    config = ["--config", str(SAMPLES / "moldau.yml"), "--warehouse", str(folder / "w")]
    filled = shell("exec", str(folder / "verbs.txt"), *config, folder=ROOT)
    assert filled.code == 0, filled.err
    return folder / "w"


@pytest.fixture(scope="module")
def found(session: Session, warehouse: Path) -> dict[str, Any]:
    """What went wrong in each command, and what was there after it."""
    found: dict[str, Any] = {}
    with spark_apart(session, warehouse) as spark:
        for name, words in COMMANDS.items():
            spark.sql("create schema if not exists intermediate")
            found[f"views before {name}"] = shown(spark, "views in intermediate")
            ran = invoked([*words, *places(warehouse.parent)])
            found[name], found[f"said by {name}"] = ran.wrong, ran.said
            found[f"views after {name}"] = shown(spark, "views in intermediate")
            found[f"decisions after {name}"] = next(query(warehouse, DECISIONS).rows)
            if name == "a run that ends early":
                found["registered"] = shown(spark, "tables in decisions")
            if name == "a whole run":
                found["columns"] = dict(columns(spark, warehouse))
            if words[0] == "run":
                forget_views(spark)
        with lacking_history(warehouse):
            found["on a broken warehouse"] = invoked([*BROKEN, *places(warehouse.parent)]).wrong
        parsed = invoked(["parse", *places(warehouse.parent)]).outcome.result
        found["project"] = Project(parsed, [], warehouse.parent)
    return found


@contextlib.contextmanager
def lacking_history(warehouse: Path) -> Iterator[None]:
    """Somebody else has deleted what the runs recorded of one cluster."""
    opened = open_table(warehouse / "history" / "decision_changes")
    before = opened.version()
    opened.delete("cluster_id = 'tiered'")
    yield
    opened.restore(before)


def shown(spark: SparkSession, what: str) -> set[str]:
    return {row[1] for row in spark.sql(f"show {what}").collect()}


def forget_views(spark: SparkSession) -> None:
    """In a process of its own the next command would not find them.

    With their schemas: Spark analyses each view that is dropped alone."""
    for schema in ("staging", "intermediate", "marts", "run"):
        spark.sql(f"drop schema if exists {schema} cascade")


def columns(spark: SparkSession, warehouse: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Model, and column -> type, of what the run has made, and of what it would have merged."""
    register_call_plugin(spark, {}, warehouse)
    for model in models().values():
        if model.is_helper:
            described = spark.sql(f"describe table {model.relation}").collect()
            yield model.name, {row.col_name: row.data_type for row in described}
        else:
            yield model.name, dict(spark.sql(model.sql).dtypes)


@pytest.mark.parametrize("command", COMMANDS)
def test_nothing_fails(found: dict[str, Any], command: str) -> None:
    assert not found[command]


def test_dbt_test_fails_where_an_invariant_is_broken(found: dict[str, Any]) -> None:
    [wrong] = found["on a broken warehouse"]
    assert wrong.startswith("assert_changes_end_in_the_current_decision: Got ")


def test_a_run_without_a_selector_says_that_it_applied_nothing(found: dict[str, Any]) -> None:
    [said] = found["said by a whole run"]
    assert "nothing was applied" in said
    assert found["said by tests"] == []


def test_a_run_makes_good_what_one_that_ended_left_unrecorded(
    found: dict[str, Any], warehouse: Path
) -> None:
    decided, of_these = found["decisions after a run that ends early"]
    assert decided > 0, "at now other offsets have expired"
    assert of_these == 0
    assert found["decisions after a whole run"] == (decided, decided)
    lists = warehouse / "_moldau" / "plain_run"
    assert not list(lists.iterdir()), "each run of dbt removed its own lists"


def test_only_tables_that_the_selection_looks_at_are_registered(found: dict[str, Any]) -> None:
    of_groups = {"cleanup_eligibility", "group_sweeps", "offset_expirations"}
    assert found["registered"] == of_groups


def test_what_stands_in_for_models_in_unit_tests_goes_with_them(found: dict[str, Any]) -> None:
    before = found["views before unit tests"]
    assert before
    assert found["views after unit tests"] == before


def test_models_select_the_columns_that_their_yaml_tells(found: dict[str, Any]) -> None:
    """dbt enforces no contract in a materialization of our own, and `by name` fills gaps."""
    for model in found["project"].models.values():
        if model.kind != "seed":
            told = {c.name: c.data_type for c in model.node.columns.values()}
            selected = found["columns"][model.name]
            if model.kind == "decision":  # the YAML is the table's, and a merge deletes by this one
                assert selected.pop("is_gone", "boolean") == "boolean"
            assert selected == told, model.name
