"""What Spark does is chosen by the size of the tables, and dbt leaves it so."""

from __future__ import annotations

import pytest

from moldau.engine.spark import BY_SIZE, SMALL_BYTES, suit_to
from moldau.sessions.session import Session


@pytest.mark.parametrize(("bytes_read", "place"), [(SMALL_BYTES, 1), (0, 0)])
def test_a_statement_of_dbt_finds_the_settings_of_the_run(
    session: Session, bytes_read: int, place: int
) -> None:
    suit_to(session.spark, bytes_read)
    session.dbt("run", "--select", "stg_run__parameters")
    found = {name: session.spark.conf.get(name) for name in BY_SIZE}
    assert found == {name: of_size[place] for name, of_size in BY_SIZE.items()}
