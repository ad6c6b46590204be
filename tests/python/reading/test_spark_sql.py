"""`moldau sql` answers what only reads tables, and is never the one that changes something."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from spark_support import spark_of
from test_duckdb_sql import EDGES

import moldau
from moldau.errors import MoldauError
from moldau.project import ROOT
from moldau.reading.tables.in_spark import ask_spark
from moldau.sessions.session import Session
from moldau.warehouse.create import create

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def asked(session: Session) -> Session:
    spark_of(session).udf.register("own", lambda: "called")
    spark_of(session).sql("create or replace view run.ones as select 1 as one")
    folder = session.warehouse / "_moldau" / "run" / "asked"
    spark_of(session).table("run.ones").write.mode("overwrite").parquet(str(folder))
    spark_of(session).sql(f"create or replace view run.listed as select * from parquet.`{folder}`")
    return session


def ask(session: Session, query: str) -> list[tuple[object, ...]]:
    return list(ask_spark(session.warehouse, query)[1])


@pytest.mark.parametrize(
    "query",
    [
        "with x as (select 1 as a) delete from seeds.metric_names where true",
        "with x as (select 1 as a) update seeds.metric_names set metric_name = 'x'",
        "with x as (select 1 as a) insert into seeds.metric_names select * from seeds.metric_names",
        "with x as (select 1) merge into seeds.metric_names t using seeds.metric_names s "
        "on t.metric_name = s.metric_name when matched then delete",
        "from seeds.metric_names insert into seeds.metric_names select * "
        "insert into seeds.metric_names select *",
        "explain with x as (select 1 as a) delete from seeds.metric_names where true",
        "explain cache table seeds.metric_names",
        "explain set spark.sql.ansi.enabled = false",
        "explain add jar '{folder}/x.jar'",
        "explain create table seeds.mine as select 1",
        "explain execute immediate 'delete from seeds.metric_names'",
        "explain explain delete from seeds.metric_names",
        "from seeds.metric_names select transform(metric_name) using 'tee {folder}/leak'",
        "select transform(1) using 'tee {folder}/leak'",
        "select * from (select transform(1) using 'tee {folder}/leak')",
        "select java_method('java.lang.System', 'setProperty', 'moldau.leak', 'x')",
        "select reflect('java.lang.System', 'setProperty', 'moldau.leak', 'x')",
        "select try_reflect('java.lang.System', 'setProperty', 'moldau.leak', 'x')",
        "select identifier('reflect')('java.lang.System', 'setProperty', 'moldau.leak', 'x')",
        "select 1 where exists (select 1 from values (1) as v (x) where "
        "reflect('java.lang.System', 'setProperty', 'moldau.leak', 'x') = x)",
        "select own()",
        "select * from call_plugin(table(state.groups))",
        "select * from text.`{secret}`",
        "select (select max(value) from text.`{secret}`)",
        "with a as (select * from csv.`{secret}`) select 1",
        "select * from identifier('binaryFile.`{secret}`')",
        "select * from delta.`{warehouse}/seeds/error_codes`",
        "select * from table_changes_by_path('{warehouse}/seeds/error_codes', 0)",
        "describe delta.`{warehouse}/seeds/error_codes`",
        "describe detail '{warehouse}/seeds/error_codes'",
        "describe history delta.`{warehouse}/seeds/error_codes`",
        "describe query select * from text.`{secret}`",
        "show tblproperties delta.`{warehouse}/seeds/error_codes`",
        "with recursive r as (select 1 as a union all select a + 1 from r where a < 3) "
        "select * from r",
        "select nope from state.runs",
        "select",
    ],
)
def test_what_does_more_than_read_is_refused(
    asked: Session, tmp_path: Path, capfd: pytest.CaptureFixture[str], query: str
) -> None:
    (tmp_path / "secret").write_text("secret")
    names = {"folder": tmp_path, "secret": tmp_path / "secret", "warehouse": asked.warehouse}
    before = asked.sql("select * from seeds.metric_names order by all")
    with pytest.raises(MoldauError) as refused:
        assert ask(asked, query.format(**names)) == "an answer"
    assert "\n" not in str(refused.value)
    assert capfd.readouterr().err == "", "the one line is told by the command line"
    assert [path.name for path in tmp_path.iterdir()] == ["secret"]
    assert spark_of(asked)._jvm.java.lang.System.getProperty("moldau.leak") is None  # type: ignore[union-attr]
    assert asked.sql("select * from seeds.metric_names order by all") == before


@pytest.mark.parametrize(
    "query",
    [
        "select count(*) from state.runs",
        "from seeds.metric_names |> where metric_name is not null |> select metric_name",
        "table seeds.metric_names",
        "values (1)",
        "with a as (select * from seeds.metric_names where metric_name in "
        "(select max(metric_name) from seeds.metric_names)) select rand(), a.* from a",
        "select * from identifier('seeds.metric_names')",
        "select * from seeds.metric_names version as of 0 right join (select 1)",
        "select * from seeds.metric_names s, lateral (select upper(s.metric_name))",
        "select * from explode(array(1, 2))",
        "select * from range(3)",
        "select * from run.listed",
        "explain select * from seeds.metric_names",
        "explain extended with a as (select 1) select * from a",
        "describe seeds.metric_names",
        "desc extended seeds.metric_names",
        "describe seeds.metric_names metric_name",
        "describe detail seeds.metric_names",
        "describe history seeds.metric_names",
        "describe query select 1",
        "describe schema seeds",
        "describe /* it */ namespace seeds",
        "describe function abs",
        "show tables in seeds",
        "show databases",
        "show columns in seeds.metric_names",
        "show tblproperties seeds.metric_names",
        "show views in run",
        "show functions",
        "show functions in seeds",
        "show table extended in seeds like '*'",
    ],
)
def test_what_only_reads_is_answered(asked: Session, query: str) -> None:
    assert ask(asked, query)


@pytest.mark.parametrize(("expressions", "expected"), EDGES.items())
def test_spark_says_what_duckdb_says(
    asked: Session, expressions: str, expected: list[tuple[object, ...]]
) -> None:
    assert ask(asked, f"select {expressions}") == expected


def test_a_query_has_the_settings_that_a_session_begins_with(asked: Session) -> None:
    """Whatever else the session that `moldau exec` shares with it was set to."""
    spark_of(asked).conf.set("spark.sql.caseSensitive", "true")
    try:
        assert ask(asked, "select A from (select 1 as a)") == [(1,)]
    finally:
        spark_of(asked).conf.unset("spark.sql.caseSensitive")
    assert ask(asked, "select 1 / 0") == [(None,)], "as the models have it"


def test_a_notebooks_session_makes_what_is_named(session: Session, tmp_path: Path) -> None:
    spark = spark_of(session)
    lazy = moldau.connect(session.warehouse, spark=spark)
    assert isinstance(lazy, SparkSession)
    assert type(spark) is SparkSession
    before = marts_in(spark)
    assert lazy.table("marts.last_run").count() == lazy.read.table("MARTS.last_run").count()
    assert marts_in(spark) == before | {"last_run"}
    lazy.sql("select 'marts', last_run.kind from marts.last_run join state.runs using (run_id)")
    assert marts_in(spark) == before | {"last_run"}
    create(tmp_path)
    with pytest.raises(MoldauError, match="this Spark session has another warehouse open"):
        moldau.connect(tmp_path, spark=spark)


def test_the_notebook_of_groups_goes_on_in_spark(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on Databricks: a session is there. What the warehouse holds, or not, is no matter."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MOLDAU_WAREHOUSE", str(session.warehouse))
    notebook = ROOT / "notebooks" / "groups.py"
    left = runpy.run_path(str(notebook), init_globals={"spark": spark_of(session)})
    assert left["spark"] is not spark_of(session)
    assert "expiry_calendar" in marts_in(spark_of(session))


def marts_in(spark: SparkSession) -> set[str]:
    return {row.viewName for row in spark.sql("show views in marts").collect()}
