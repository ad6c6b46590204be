"""dbt's data tests of the tiers domain, on what the tests before have left in the warehouse."""

from __future__ import annotations

import pytest

from moldau.engine.dbt import DbtError
from moldau.runs.run import Run, next_run_id, now_ms, open_run
from moldau.runs.session import Session

FOLDERS = ("marts", "intermediate", "state")


def test_every_data_test_of_tiers_passes(session: Session) -> None:
    open_run(session, Run(next_run_id(session, "compare"), "compare", ["tested"], now_ms()))
    lists = ["config.materialized:view", "config.materialized:run_list"]
    session.dbt("run", "--select", *(f"{kind},path:models/intermediate/tiers" for kind in lists))
    failed = ""
    try:
        session.dbt(
            "test", "--select", *(f"test_type:data,path:models/{name}/tiers" for name in FOLDERS)
        )
    except DbtError as error:
        failed = str(error)
    if failed:
        pytest.fail(failed, pytrace=False)
