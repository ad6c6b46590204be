"""A server of Spark Connect makes what Spark and DuckDB make, by `moldau` and by dbt.

Its executor is a process of its own, as on a cluster: what runs there has to find what it needs.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from server_support import free_ports, wait_for
from shell_support import Shell
from whole_runs import AT, COMPARED, DBT, LOADS, MOLDAU, YML, Run, rows_of, run, words

from moldau.engines.spark.connected import remote_of
from moldau.engines.spark.jars import jars_folder
from moldau.engines.spark.spark_session import BRIEF_OPTIONS
from moldau.project import ROOT, SAMPLES
from moldau.reading.health.status import lock_holder
from moldau.reading.tables.query import query

pytestmark = pytest.mark.processes
UP_WITHIN_S = 180
OF_GROUPS = [load for load in LOADS if load.startswith(("west", "east", "requests"))]
SWEEP = ["sweep", "--at", AT]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """As docs/spark.md starts it; gives `sc://host:port`."""
    folder, [port] = tmp_path_factory.mktemp("server"), free_ports(1)
    delta = "org.apache.spark.sql.delta.catalog.DeltaCatalog"
    settings = {
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": delta,
        "spark.driver.extraJavaOptions": f"-Duser.timezone=UTC {BRIEF_OPTIONS}",
        "spark.sql.session.timeZone": "UTC",
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": port,
        "spark.ui.enabled": "false",
        "spark.log.level": "ERROR",
    }
    jars = ":".join(map(str, jars_folder().glob("*.jar")))
    settings["spark.executor.extraClassPath"] = jars
    settings["spark.executor.extraJavaOptions"] = settings["spark.driver.extraJavaOptions"]
    told = [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [Path(sys.executable).with_name("spark-submit"), "--master", "local-cluster[1,2,1024]",
             "--driver-class-path", jars, *told,
             "--class", "org.apache.spark.sql.connect.service.SparkConnectServer",
             "spark-internal"],
            cwd=folder,
            stdout=log,
            stderr=log,
            env=os.environ | {"PYSPARK_PYTHON": sys.executable, "TZ": "UTC"},
        )  # fmt: skip
    try:
        wait_for(process, [port], folder / "log", UP_WITHIN_S)
        yield f"sc://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(timeout=60)


@dataclass
class Made:
    """Two warehouses of one story; `said`: by each of its commands on the server. `other`: one of
    the same loads."""

    embedded: Path
    on_server: Path
    other: Path
    said: dict[str, Run]


@pytest.fixture(scope="module")
def made(server: str, shell: Shell, tmp_path_factory: pytest.TempPathFactory) -> Made:
    """A cycle that is killed after its calls, then what finishes it and makes another, a sweep."""
    folder = tmp_path_factory.mktemp("connect")
    (folder / "moldau.yml").write_text(YML)
    (folder / "loads").write_text("".join(f"load {SAMPLES}/{load}\n" for load in OF_GROUPS))
    (folder / "verbs").write_text(f"cycle --at {AT}\n" * 2 + " ".join(SWEEP) + "\n")
    config = ["--config", str(folder / "moldau.yml"), "--warehouse", str(folder / "embedded")]
    assert shell("exec", str(folder / "loads"), *config, folder=ROOT).code == 0
    for name in ("w", "other"):
        shutil.copytree(folder / "embedded", folder / name)
    assert shell("exec", str(folder / "verbs"), *config, folder=ROOT).code == 0

    def on_server(program: str, *typed: str, **variables: str) -> Run:
        return run(folder, folder / "w", program, *typed, SPARK_REMOTE=server, **variables)

    spark = ["--engine", "spark"]
    said = {
        "killed": on_server(MOLDAU, "cycle", "--at", AT, *spark, MOLDAU_FAIL_AT="after_call"),
        "dbt": on_server(DBT, *words(folder, "cycle", "connect")),
        "sweep": on_server(MOLDAU, *SWEEP, *spark),
        "sql": on_server(MOLDAU, "sql", *spark, "select 1"),
        "another": run(folder, folder / "other", MOLDAU, "cycle", *spark, SPARK_REMOTE=server),
    }
    return Made(folder / "embedded", folder / "w", folder / "other", said)


def test_a_killed_cycle_is_finished_by_dbt_on_the_server(made: Made) -> None:
    assert made.said["killed"].code == -9, made.said["killed"].said[-2000:]
    dbt = made.said["dbt"]
    assert dbt.code == 0, dbt.said[-2000:]
    assert "-cycle is closed: decided" in dbt.said
    assert made.said["sweep"].code == 0, made.said["sweep"].said[-2000:]
    assert lock_holder(made.on_server) is None
    engines = "select kind, engine from state.runs where kind in ('cycle', 'sweep') order by run_id"
    found = list(query(made.on_server, engines).rows)
    assert [kind for kind, _ in found] == ["cycle", "cycle", "sweep"]
    assert [engine for _, engine in found[1:]] == ["spark", "spark"]


@pytest.mark.parametrize("table", COMPARED)
def test_the_tables_are_those_of_the_embedded_engine(made: Made, table: str) -> None:
    assert rows_of(made.on_server, table) == rows_of(made.embedded, table)


def test_nothing_that_pyspark_thinks_of_the_server_is_printed(made: Made) -> None:
    for name in ("dbt", "sweep"):
        assert "Warning" not in made.said[name].said, name


def test_a_server_has_one_warehouse(made: Made) -> None:
    another = made.said["another"]
    assert another.code == 1
    assert "has another warehouse open" in another.said
    assert lock_holder(made.other) is None


def test_a_query_of_ones_own_is_not_sent_unseen(made: Made) -> None:
    assert made.said["sql"].code == 1
    assert "does not show the plan" in made.said["sql"].said


def test_a_moment_of_the_past_says_who_answers_without_the_server(
    made: Made, server: str, elsewhere: Shell, tmp_path: Path
) -> None:
    """All clients share the server's catalog, which has one warehouse open."""
    (tmp_path / "moldau.yml").write_text(f"spark: {{spark.remote: '{server}'}}\n{YML}")
    asked = ["show", "marts.groups", "--as-of", AT, "--format", "csv", "--engine"]
    place = {"folder": tmp_path, "MOLDAU_WAREHOUSE": str(made.on_server)}
    refused = elsewhere(*asked, "spark", **place)
    assert refused.code == 1
    assert refused.err.startswith("moldau: --as-of needs a Spark of its own")
    assert "--engine duckdb answers" in refused.err and refused.err.count("\n") == 1
    answered = elsewhere(*asked, "duckdb", **place)
    assert answered.code == 0 and answered.out.count("\n") > 1


NOTEBOOK = """
import sys
import moldau
from pyspark.sql import SparkSession

given = SparkSession.builder.remote(sys.argv[2]).getOrCreate()
spark = moldau.connect(sys.argv[1], spark=given)
print("runs:", spark.table("marts.last_run").count(), spark.sql("from state.runs").count() > 0)
del spark
marts = {row.viewName for row in given.sql("show views in marts").collect()}
print("made:", "last_run" in marts, "tier_lag" in marts)
"""


def test_a_notebook_gives_its_session_and_gets_what_it_names(made: Made, server: str) -> None:
    """The session goes on when what `connect` gave is forgotten."""
    told = run(ROOT, made.on_server, NOTEBOOK, str(made.on_server), server)
    assert told.code == 0, told.said[-2000:]
    assert "runs: 3 True" in told.said
    assert "made: True False" in told.said


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[Shell]:
    """A process that has no Spark, and gets none."""
    opened = Shell()
    yield opened
    opened.close()


@pytest.mark.parametrize(
    ("remote", "told"),
    [
        ("elsewhere", "sc://HOST:PORT is expected"),
        ("sc://127.0.0.1:x", "sc://HOST:PORT is expected"),
        ("sc://127.0.0.1:1/;token=hush", "no Spark server answers at sc://127.0.0.1:1:"),
    ],
)
def test_a_server_that_is_none(
    made: Made, elsewhere: Shell, tmp_path: Path, remote: str, told: str
) -> None:
    (tmp_path / "moldau.yml").write_text(f"spark: {{spark.remote: '{remote}'}}\n{YML}")
    cycle, examined = (
        elsewhere(*words, folder=tmp_path, MOLDAU_WAREHOUSE=str(made.other))
        for words in (["cycle", "--engine", "spark"], ["doctor"])
    )
    assert cycle.code == 1
    for answer in (cycle, examined):
        assert told in answer.out + answer.err
        assert "hush" not in answer.out + answer.err


def test_what_was_refused_is_finished_without_the_server(
    made: Made, elsewhere: Shell, tmp_path: Path
) -> None:
    (tmp_path / "moldau.yml").write_text(YML)
    sweep = elsewhere(*SWEEP, folder=tmp_path, MOLDAU_WAREHOUSE=str(made.other))
    assert sweep.code == 0, sweep.err
    assert not list((made.other / "_moldau" / "runs").glob("*.json"))


def test_what_the_file_says_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_REMOTE", "sc://environment")
    assert remote_of({}) == "sc://environment"
    assert remote_of({"spark.remote": "sc://file"}) == "sc://file"
