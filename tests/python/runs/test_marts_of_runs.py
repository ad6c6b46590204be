"""Every mart has the same rows in Spark and in DuckDB: on the stories of groups.

The last of this folder: what its tests left in the warehouse that they share is what is compared,
with followers, several leaders and no rows among its snapshots.
"""

from __future__ import annotations

import pytest
from data_tests import failing
from marts_alike import bring_odd_snapshots, differences

from moldau.sessions.session import Session

pytestmark = pytest.mark.last(2)
AT_MS = 1_800_000_000_000


def test_every_data_test_of_dbt_passes(session: Session) -> None:
    assert failing(session, AT_MS) == {}


def test_both_engines_say_the_same(session: Session) -> None:
    bring_odd_snapshots(session)
    assert differences(session, AT_MS, "groups", "run") == {}
