"""dbt's data tests of the tiers domain, on what the tests before have left in the warehouse."""

from __future__ import annotations

from spark_support import dbt_tests_pass, make_all_views

from moldau.runs.session import Session


def test_every_data_test_of_tiers_passes(session: Session) -> None:
    folders = ("marts", "intermediate", "state")
    tests = (f"test_type:data,path:models/{folder}/tiers" for folder in folders)
    make_all_views(session, "models/intermediate/tiers")
    dbt_tests_pass(session, *tests)
