"""dbt's data tests, as dbt compiles them, asked of DuckDB about what tests left in a warehouse."""

from __future__ import annotations

from functools import cache
from typing import Any

from manifest_support import project

from moldau.compiled.graph import graph
from moldau.reading.tables.told import TOLD
from moldau.reading.tables.views import in_force_sql
from moldau.runs.opening import open_session
from moldau.sessions.open_run import next_run_id, open_run
from moldau.sessions.run import Run
from moldau.sessions.session import Session
from moldau.settings import load_settings
from moldau.warehouse.contracts import in_force
from moldau.warehouse.parameters import of_a_reader

AT_MS = 1_800_000_000_000


@cache
def data_tests() -> list[Any]:
    """dbt's nodes, with their SQL for Spark."""
    return project().compiled("test_type:data")


def test_every_data_test_of_dbt_passes(session: Session, warehouses: Any) -> None:
    """Imported by the last file of a folder: about all that its tests have left."""
    assert failing(session, AT_MS) == {}
    for warehouse in warehouses.left:
        with open_session(load_settings(None, warehouse), "pytest") as opened:
            assert failing(opened, AT_MS) == {}


def failing(session: Session, at_ms: int) -> dict[str, Any]:
    """Data test -> the first of the rows that it finds.

    Marts and lists of a run are those of every cluster at this instant.
    """
    open_run(session, Run(next_run_id(session, "compare"), "compare", [], at_ms))
    session.bring("parameters", of_a_reader(at_ms))
    for view, table in in_force().items():
        session.bring(view, in_force_sql(table))
    for name, sql in TOLD.items():
        session.bring(name.partition(".")[2], sql(session.warehouse))
    read = [graph()[key] for test in data_tests() for key in test.depends_on.nodes]
    session.make_views(*{node.name for node in read if node.is_helper})
    found = {test.name: session.sql(f"{test.compiled_code} limit 1") for test in data_tests()}
    return {name: rows for name, rows in found.items() if rows}
