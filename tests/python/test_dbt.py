"""dbt's own tests, each reported by its name, in two invocations for all of them."""

from __future__ import annotations

import pytest

from moldau.engine.dbt import DbtError
from moldau.runs.run import Run, next_run_id, now_ms, open_run
from moldau.runs.session import Session


@pytest.mark.parametrize("kind", ["unit", "data"])
def test_all_tests_of_dbt_pass(session: Session, kind: str) -> None:
    run = Run(next_run_id(session, "compare"), "compare", ["tested"], now_ms())
    open_run(session, run)
    # the views that the tests look at
    session.dbt("run", "--select", "config.materialized:view", "config.materialized:run_list")
    failed = ""
    try:
        session.dbt("test", "--select", f"test_type:{kind}")
    except DbtError as error:
        failed = str(error)
    if failed:
        pytest.fail(failed, pytrace=False)
