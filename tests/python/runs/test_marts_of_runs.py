"""Every mart has the same rows in Spark and in DuckDB: on the stories of every domain.

The last of its worker: what tests left in the warehouse that they share is what is compared, with
followers, several leaders and no rows among its snapshots.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from data_tests import failing
from marts_alike import bring_odd_snapshots, differences

from moldau.reading.tables.query import table_rows
from moldau.sessions.session import Session

pytestmark = [pytest.mark.spark, pytest.mark.last(2)]
CAPTURED_MS = 1_795_247_998_738
AT_MS = 1_800_000_000_000
LEFT = {
    "mirrors": "marts.offset_translations",
    "producers": "marts.metadata_miss_curve",
    "tiers": "marts.tier_lag",
}


def test_there_is_something_to_compare(session: Session, request: pytest.FixtureRequest) -> None:
    folders = {Path(item.location[0]).parent.name for item in request.session.items}
    marts = [mart for folder, mart in LEFT.items() if folder in folders]
    assert all(next(table_rows(session.warehouse, mart).rows, None) for mart in marts)


def test_every_data_test_of_dbt_passes(session: Session) -> None:
    assert failing(session, AT_MS) == {}


@pytest.fixture(scope="module")
def odd_snapshots(session: Session) -> None:
    bring_odd_snapshots(session)


@pytest.mark.parametrize(
    ("at_ms", "domains"),
    [(CAPTURED_MS, ["groups", "run"]), (AT_MS, ["mirrors", "producers", "tiers"])],
)
def test_both_engines_say_the_same(
    session: Session, odd_snapshots: None, at_ms: int, domains: list[str]
) -> None:
    assert differences(session, at_ms, *domains) == {}
