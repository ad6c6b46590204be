"""The answer to a query as a DataFrame of Polars."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import polars

from moldau.reading.tables.query import arrow_answer


def frame_of(warehouse: Path, query: str, at_ms: int | None = None) -> polars.DataFrame:
    """Columns as they are in the marts; times are in UTC. What DuckDB sums up has 128 bits, and 64
    here if it fits. `at_ms`: the clock of the marts; None = now.
    """
    frame = cast(polars.DataFrame, polars.from_arrow(arrow_answer(warehouse, query, at_ms)))
    return frame.with_columns(
        frame[name].cast(polars.Int64)
        for name, kind in frame.schema.items()
        if isinstance(kind, polars.Decimal) and kind.scale == 0 and _fits(frame[name])
    )


def _fits(numbers: polars.Series) -> bool:
    return bool(numbers.cast(polars.Int64, strict=False).null_count() == numbers.null_count())
