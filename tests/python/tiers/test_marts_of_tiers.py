"""Every mart has the same rows in Spark and in DuckDB: on the cases and histories of tiers.

The last of its worker: what tests left in the warehouse that they share is what is compared.
"""

from __future__ import annotations

import pytest
from marts_alike import differences

from moldau.sessions.session import Session

pytestmark = pytest.mark.last
AT_MS = 1_800_000_000_000


def test_both_engines_say_the_same(session: Session) -> None:
    assert differences(session, "tiers", AT_MS) == {}
