"""One random history, written by DuckDB, by Spark through `moldau` and by Spark through dbt.

Here Spark takes the last steps, and dbt one run of each kind and one that is killed, after steps of
the embedded engine. `make parity` takes another seed and more steps, gives all to Spark and every
run to dbt, and kills all of its that are to be killed.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest
from history_support import Step, by_dbt, by_moldau, history, opened
from spark_support import in_spark, spark_apart
from tables_alike import OF_THE_RUN
from whole_runs import COMPARED, KINDS, YML, rows_of

from moldau.reading.tables.query import query
from moldau.sessions.session import Session
from moldau.warehouse.contracts import marts

pytestmark = pytest.mark.spark

SEED, STEPS, SPARK, RUNS, KILLS = (
    int(os.environ.get(f"PARITY_{name}", default))
    for name, default in {
        "SEED": 36,
        "STEPS": 30,
        "SPARK": 20,
        "RUNS": len(KINDS),
        "KILLS": 1,
    }.items()
)
READ_AT_MS = 1_800_000_000_000  # of the marts
WRITERS = ("duckdb", "spark", "dbt")
# of the whole warehouse: bytes, versions, and when and by what each run was made
MARTS = [name for name in marts() if name not in ("marts.last_run", "marts.table_status")]


@dataclass
class Made:
    """`told`: what dbt said of the last run of each kind."""

    steps: list[Step]
    warehouses: dict[str, Path]
    told: dict[str, list[str]] = field(default_factory=dict)


@pytest.fixture(scope="module")
def made(session: Session, tmp_path_factory: pytest.TempPathFactory) -> Made:
    folder = tmp_path_factory.mktemp("histories")
    (folder / "files").mkdir()
    made = Made(history(SEED, STEPS, folder / "files"), {})
    for writer in WRITERS:
        (folder / writer).mkdir()
        (folder / writer / "moldau.yml").write_text(YML)
        made.warehouses[writer] = folder / writer / "w"
    with opened(made.warehouses["duckdb"]) as embedded:
        by_moldau(embedded, made.steps[:-SPARK])
        if made.warehouses["duckdb"].exists():  # Spark goes on from here
            shutil.copytree(made.warehouses["duckdb"], made.warehouses["spark"])
        by_moldau(embedded, made.steps[-SPARK:])
    with spark_apart(session, made.warehouses["spark"]), opened(made.warehouses["spark"]) as spark:
        by_moldau(in_spark(spark), made.steps[-SPARK:])
    with spark_apart(session, made.warehouses["dbt"]), pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder / "dbt")
        made.told = by_dbt(made.warehouses["dbt"], made.steps, RUNS, KILLS)
    return made


@pytest.mark.parametrize("writer", WRITERS[1:])
@pytest.mark.parametrize("table", COMPARED)
def test_every_table_is_that_of_the_embedded_engine(made: Made, table: str, writer: str) -> None:
    found, expected = (table_rows(made.warehouses[name], table) for name in (writer, "duckdb"))
    assert found == expected


@pytest.mark.parametrize("writer", WRITERS[1:])
@pytest.mark.parametrize("mart", MARTS)
def test_every_mart_is_that_of_the_embedded_engine(made: Made, mart: str, writer: str) -> None:
    found, expected = (mart_rows(made.warehouses[name], mart) for name in (writer, "duckdb"))
    assert found == expected


# what is expected is asked once, for both that are compared with it
table_rows = cache(rows_of)


@cache
def mart_rows(warehouse: Path, name: str) -> list[str]:
    """Without what every run has of its own."""
    answer = query(warehouse, f"from {name}", READ_AT_MS)
    own = ("duration_ms", *OF_THE_RUN, *(one.removesuffix("_ms") for one in OF_THE_RUN))
    kept = [i for i, column in enumerate(answer.columns) if not column.endswith(own)]
    return sorted(repr([row[i] for i in kept]) for row in answer.rows)


def test_the_history_fills_every_domain_and_has_kills(made: Made) -> None:
    filled = {name for name in COMPARED if table_rows(made.warehouses["duckdb"], name)}
    for decided in ("offset_expirations", "delete_candidates", "offset_translations",
                    "metadata_rounds"):  # fmt: skip
        assert f"decisions.{decided}" in filled
    assert {"history.plugin_calls", "history.epoch_clears", "history.tombstones"} <= filled
    assert len(made.steps) >= 30
    assert sum(bool(step.fault) for step in made.steps) > 4


@pytest.mark.parametrize("writer", WRITERS[1:])
def test_each_run_has_its_row_and_what_it_counted(made: Made, writer: str) -> None:
    asked = "select run_id, kind, status, decided_at_ms, counts from state.runs order by run_id"
    found, expected = (
        [
            (*row, {name: count for name, count in dict(counts).items() if count})
            for *row, counts in query(made.warehouses[name], asked).rows
        ]
        for name in (writer, "duckdb")
    )
    assert found == expected


def test_the_last_runs_are_those_of_dbt(made: Made) -> None:
    asked = f"select kind, engine from state.runs order by run_id desc limit {len(KINDS)}"
    last = list(query(made.warehouses["dbt"], asked).rows)
    assert last == [(kind, "spark") for kind in reversed(KINDS)]


def test_dbt_says_what_a_run_did(made: Made) -> None:
    opened, closed = made.told["cycle"]
    assert opened.endswith("-cycle is open")
    assert "is closed: decided" in closed
    assert not list((made.warehouses["dbt"] / "_moldau" / "runs").iterdir())
