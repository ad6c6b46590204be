"""What Spark does is chosen by the size of the tables, and dbt leaves it so."""

from __future__ import annotations

import pytest
from spark_support import spark_of

from moldau.compiled.dbt import dbt
from moldau.engines.spark.profile import BY_SIZE
from moldau.engines.spark.spark_session import suit_to
from moldau.sessions.session import Session

pytestmark = pytest.mark.spark


@pytest.mark.parametrize(("is_small", "place"), [(False, 1), (True, 0)])
def test_a_statement_of_dbt_finds_the_settings_of_the_run(
    session: Session, is_small: bool, place: int
) -> None:
    suit_to(spark_of(session), is_small)
    dbt("run", "--select", "stg_run__parameters", warehouse=session.warehouse)
    found = {name: spark_of(session).conf.get(name) for name in BY_SIZE}
    assert found == {name: of_size[place] for name, of_size in BY_SIZE.items()}
