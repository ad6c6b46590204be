"""dbt's data tests of the mirrors domain, on what the tests before have left in the warehouse."""

from __future__ import annotations

import pytest
from spark_support import dbt_tests_pass, make_all_views, published

from moldau.project import ROOT
from moldau.sessions.session import Session

pytestmark = pytest.mark.last
AT_MS = 1_800_000_000_000


def test_every_data_test_of_mirrors_passes(session: Session) -> None:
    folders = ("marts", "intermediate", "state")
    tests = [f"test_type:data,path:models/{folder}/mirrors" for folder in folders]
    make_all_views(session, "models/staging")
    make_all_views(session, "models/intermediate/mirrors")
    marts = sorted(file.stem for file in (ROOT / "models" / "marts" / "mirrors").glob("*.sql"))
    with published(session, [*marts, "decisions"], AT_MS):
        dbt_tests_pass(session, *tests, "test_type:singular")
