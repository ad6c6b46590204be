"""`moldau.sql`: the marts as a DataFrame, exact, without Spark."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import polars
import pytest
from samples_support import GROUPS_MS

import moldau
from moldau.errors import MoldauError

GREATEST = 2**63 - 1


def test_numbers_beside_null_are_exact(sampled: Path) -> None:
    frame = moldau.sql(
        f"select n, sum(1) as summed, {GREATEST}::hugeint * 2 as huge "
        f"from (values ({GREATEST}), (null)) as numbers(n) group by n order by n",
        sampled,
    )
    assert frame["n"].to_list() == [GREATEST, None]
    assert frame.schema["summed"] == polars.Int64
    assert frame["huge"].to_list() == [GREATEST * 2] * 2


@pytest.mark.parametrize("at", [GROUPS_MS, "2026-11-21T07:56:22.363Z", datetime.fromtimestamp(
    GROUPS_MS / 1000, UTC
)])  # fmt: skip
def test_the_clock_is_that_of_the_marts(sampled: Path, at: int | str | datetime) -> None:
    query = "select max(measured_at_ms) as at_ms, max(measured_at) as at from marts.metrics"
    row = moldau.sql(query, sampled, at=at).row(0, named=True)
    assert row["at_ms"] == GROUPS_MS
    assert row["at"] == datetime(2026, 11, 21, 7, 56, 22, 363_000, UTC)


def test_it_only_reads_and_says_what_is_wrong(sampled: Path, tmp_path: Path) -> None:
    with pytest.raises(MoldauError, match="there is no warehouse"):
        moldau.sql("select 1", tmp_path)
    for query in ("drop table state.runs", f"from '{Path(__file__)}'", "from marts.none"):
        with pytest.raises(MoldauError):
            moldau.sql(query, sampled)
