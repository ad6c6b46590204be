"""dbt's own tests, each reported by its name, in two invocations for all of them."""

from __future__ import annotations

import pytest
from spark_support import dbt_tests_pass

from moldau.runs.session import Session


@pytest.mark.parametrize("kind", ["unit", "data"])
def test_all_tests_of_dbt_pass(session: Session, kind: str) -> None:
    dbt_tests_pass(session, f"test_type:{kind}")
