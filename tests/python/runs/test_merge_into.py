"""What the options of `merge_into` say is the same on both engines, used by a model or not.

Spark is given what the macros render, DuckDB what is made of the same options.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest
from spark_support import change, rows, spark_of

from moldau.compiled.dbt import DbtError
from moldau.compiled.graph import helpers_under, models, tables_of
from moldau.compiled.written import rendered, statement_sql
from moldau.engines.duckdb.outcome import outcome_sql
from moldau.engines.duckdb.translated import Translated, translated_models
from moldau.engines.duckdb.translation import to_duckdb
from moldau.project import ROOT
from moldau.sessions.session import Session
from moldau.warehouse.contracts import tables

pytestmark = pytest.mark.spark

TABLE = "state.topology_backoffs"
MODEL = "replace_topology_backoffs"
KEY = ["cluster_id", "group_id"]
THERE = ["a", "b", "c"]  # with no attempts
BROUGHT = [("b", 1), ("c", 7), ("d", 3), ("e", 8)]
Options = dict[str, Any]
Rows = list[tuple[str, int]]
KEPT = [("a", 0), ("b", 0), ("c", 0)]
CASES: dict[str, tuple[Options, Rows]] = {
    "append some": (  # null is no
        {"write": "append", "insert_when": "s.attempts > 2 and nullif(s.group_id, 'd') <> 'e'"},
        [*KEPT, ("c", 7)],
    ),
    "append never": ({"write": "append", "insert_when": False}, KEPT),
    "append what is not gone": (
        {"write": "append", "insert_when": "not s.is_gone", "delete_when": "s.is_gone"},
        [*KEPT, ("b", 1), ("d", 3)],
    ),
    "append what is not gone, and delete nothing": (
        {"write": "append", "insert_when": "not s.is_gone"},
        [*KEPT, ("b", 1), ("d", 3)],
    ),
    "merge some": (
        {"insert_when": "s.attempts > 5", "matched_condition": "s.attempts > 5"},
        [("a", 0), ("b", 0), ("c", 7), ("e", 8)],
    ),
    "never changed": ({"matched_condition": False}, [*KEPT, ("d", 3), ("e", 8)]),
    "nothing set": ({"update_set": {}}, [*KEPT, ("d", 3), ("e", 8)]),
    "one set": (
        {"update_set": {"attempts": "t.attempts + s.attempts + 1"}, "insert_when": False},
        [("a", 0), ("b", 2), ("c", 8)],
    ),
    "deleted": (
        {"delete_when": "s.is_gone", "insert_when": "not s.is_gone"},
        [("a", 0), ("b", 1), ("d", 3)],
    ),
}


def source(cluster: str) -> str:
    values = ", ".join(f"('{group}', {attempts})" for group, attempts in BROUGHT)
    return f"""
        select
            '{cluster}' as cluster_id, group_id, 1 as topology_epoch, attempts,
            0L as next_attempt_at_ms, 0L as armed_at_ms, 0L as armed_log_offset,
            '0' as changed_in_run_id, attempts > 6 as is_gone
        from values {values} as v (group_id, attempts)
    """


def macros(options: Mapping[str, Any]) -> Any:
    """The macros that render what is written, as a model with these options has them."""
    return rendered({"unique_key": KEY, **options})


def by_spark(session: Session, cluster: str, options: Options, span: str | None = None) -> None:
    """`span`: as in a big table, whose new rows are taken out first."""
    spark, written = spark_of(session, TABLE), macros(options)
    if options.get("write", "merge") != "merge":
        # of a model that does not speak of it `is_gone` is no column
        brought = source(cluster)
        if "s.is_gone" not in f"{options.get('insert_when')} {options.get('delete_when')}":
            brought = f"select * except (is_gone) from ({brought})"
        spark.sql(written.insert_sql(TABLE, brought, options["write"]))
    elif span is None:
        spark.sql(written.merge_sql(TABLE, source(cluster)))
    else:
        spark.sql(source(cluster)).createOrReplaceTempView("option_changes")
        new = written.new_rows_sql(TABLE, "option_changes", span)
        inserted = spark.sql(new).drop("is_gone").collect()
        spark.sql(
            written.merge_sql(
                TABLE, "select * from option_changes", is_matched_only=True, span=span
            )
        )
        for row in inserted:
            spark.createDataFrame([row], spark.table(TABLE).schema).writeTo(TABLE).append()


def write(session: Session, name: str, sql: str, options: Options) -> None:
    """By DuckDB, as the model would if that were its query and these its options."""
    options = {"unique_key": KEY, **options}
    node = dataclasses.replace(models()[name], writing=options)
    columns = [column.name for column in tables()[node.table].columns]
    outcome = outcome_sql(statement_sql(node.table, options), columns)
    with mock.patch.dict(translated_models(), {name: Translated(to_duckdb(sql), outcome)}):
        session.engines.duckdb._write(node)


def by_duckdb(session: Session, cluster: str, options: Options) -> None:
    write(session, MODEL, source(cluster), options)


def found(session: Session, cluster: str) -> Rows:
    asked = f"select group_id, attempts from {TABLE} where cluster_id = '{cluster}'"
    return sorted(rows(session, asked))  # type: ignore[arg-type]


@pytest.fixture(scope="module", autouse=True)
def there(session: Session) -> Iterator[None]:
    names = [f"option {case} {engine}" for case in CASES for engine in ("duckdb", "spark", "big")]
    names += ["option log duckdb", "option log spark"]
    groups = ", ".join(f"'{group}'" for group in THERE)
    clusters = ", ".join(f"'{name}'" for name in names)
    change(
        session,
        f"""
        insert into {TABLE} by name
        select
            cluster_id, explode(array({groups})) as group_id, 1 as topology_epoch, 0 as attempts,
            0L as next_attempt_at_ms, 0L as armed_at_ms, 0L as armed_log_offset,
            '0' as changed_in_run_id
        from (select explode(array({clusters})) as cluster_id)
        """,
    )
    yield
    change(session, f"delete from {TABLE} where cluster_id like 'option %'")


@pytest.mark.parametrize("case", CASES)
def test_an_option_means_the_same_on_both_engines(session: Session, case: str) -> None:
    options, expected = CASES[case]
    by_duckdb(session, f"option {case} duckdb", options)
    by_spark(session, f"option {case} spark", options)
    assert found(session, f"option {case} duckdb") == sorted(expected)
    assert found(session, f"option {case} spark") == sorted(expected)


def test_an_option_means_the_same_in_a_big_table(session: Session) -> None:
    options, expected = CASES["deleted"]
    by_spark(session, "option deleted big", options, "attempts between 0 and 100")
    assert found(session, "option deleted big") == sorted(expected)


def test_the_log_tells_of_a_merge_alike(session: Session) -> None:
    # where rows are hidden Delta's library merges, in its own words
    spark_of(session, TABLE).sql(f"reorg table {TABLE} apply (purge)")
    told = []
    for by, engine in ((by_duckdb, "duckdb"), (by_spark, "spark")):
        by(session, f"option log {engine}", CASES["deleted"][0])
        last = spark_of(session, TABLE).sql(f"describe history {TABLE} limit 1").first()
        assert last
        metrics = last.operationMetrics
        kinds = [f"numTargetRows{kind}" for kind in ("Inserted", "Updated", "Deleted")]
        assert (
            "numTargetFilesAdded" in metrics
            and "cluster_id" in last.operationParameters["predicate"]
        )
        told.append((last.operation, [metrics[kind] for kind in kinds]))
    assert told[0] == told[1]
    assert told[0][0] == "MERGE"


REPLACED = "state.ruleset_comparison"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, ["x", "y"]),
        ({"insert_when": "s.subject <> 'x'"}, ["y"]),
        ({"insert_when": False}, []),
        ({"insert_when": False, "skips_no_rows": True}, []),
    ],
)
def test_what_replaces_all_is_chosen_on_both_engines(
    session: Session, options: Options, expected: list[str]
) -> None:
    texts = (
        "domain cluster_id ruleset_a decision_a reason_code_a ruleset_b decision_b reason_code_b"
    )
    columns = ", ".join(f"'option' as {name}" for name in texts.split())
    sql = f"select {columns}, subject, 0L as decided_at_ms from values ('x'), ('y') as v (subject)"
    options = {"write": "replace", **options}
    asked = f"select subject from {REPLACED} order by 1"
    told = []
    model = "replace_ruleset_comparison"
    write(session, model, sql, options)
    told.append([subject for (subject,) in rows(session, asked)])
    spark_of(session, REPLACED).sql(macros(options).insert_sql(REPLACED, sql, "replace"))
    told.append([subject for (subject,) in rows(session, asked)])
    assert told == [expected] * 2
    nothing = f"{sql} where false"
    if options.get("skips_no_rows"):
        change(session, f"insert into {REPLACED} by name {sql}")
        write(session, model, nothing, options)
        assert rows(session, asked) == [("x",), ("y",)], "as Spark, that writes nothing"
    write(session, model, nothing, {"write": "replace"})
    assert rows(session, asked) == []


def test_slices_come_before_the_way_to_write(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One append for each, also of a model that calls no plugin."""
    engine = session.engines.duckdb
    engine._create("run.option_slices", "select unnest([0, 1]) as slice_index", "table")
    known = models() | {"option_slices": SimpleNamespace(relation="run.option_slices")}
    monkeypatch.setattr("moldau.engines.duckdb.models.models", lambda: known)
    sql = f"select * from ({source('option slices')}) where (select slice_index from run.slice) < 2"
    options = {"in_slices_of": "option_slices", "insert_when": "s.group_id = 'b'"}
    engine._create("run.slice", "select 0 as slice_index")
    write(session, MODEL, sql, options)
    assert found(session, "option slices") == [("b", 1)] * 2


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"write": "upsert"}, "write: upsert is not allowed, but merge, append or replace"),
        ({"update_set": {"tries": "1"}}, f"update_set: {TABLE} has no column tries"),
    ],
)
def test_what_cannot_be_meant_is_refused(session: Session, options: Options, told: str) -> None:
    """By Spark as well: dbt refuses the first, Spark itself the second."""
    with pytest.raises((DbtError, ValueError), match=told):
        by_duckdb(session, "option refused", options)
    assert found(session, "option refused") == []


def test_every_option_is_known_to_the_embedded_engine() -> None:
    """What it does not look at names the table, or changes no row."""
    from moldau.compiled.graph import _WRITING

    text = (ROOT / "macros" / "materializations" / "merge_into.sql").read_text()
    asked = set(re.findall(r"config\.(?:meta_)?(?:get|require)\('(\w+)'", text))
    # what is inserted stands in the statement
    assert asked - set(_WRITING) == {
        "into", "write_needs_open_run", "pruned_by", "insert_when", "small_bytes"
    }  # fmt: skip


def test_a_model_selects_what_its_table_has(session: Session) -> None:
    """Spark refuses a column more, where the table is empty; DuckDB takes what it knows."""
    duckdb = session.engines.duckdb
    duckdb.begin({}, is_small=True)
    writers = [one for one in models().values() if one.materialized == "merge_into"]
    inserts = [one for one in writers if "insert" in one.written]
    duckdb.make_views(sorted(helpers_under([one.name for one in inserts])))
    duckdb._give([])  # what plugins answered
    duckdb._refresh(tables_of([one.name for one in inserts]))
    for one in inserts:
        selected = set(duckdb._connection.sql(translated_models()[one.name].query).columns)
        if "s.is_gone" in one.written:
            selected.remove("is_gone")
        assert selected == {column.name for column in tables()[one.table].columns}, one.name
    assert len(inserts) > 40
