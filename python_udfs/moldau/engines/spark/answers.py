"""What Spark answers: rows, and errors, as a person reads them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from moldau.errors import MoldauError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@contextlib.contextmanager
def in_words() -> Iterator[None]:
    """Spark's errors in this block as a MoldauError of one line."""
    from pyspark.errors import PySparkException

    try:
        yield
    except PySparkException as error:
        raise MoldauError(str(error).strip().split("\n")[0].rstrip(";")[:500]) from None


def rows_of(frame: DataFrame) -> list[tuple[Any, ...]]:
    return [tuple(map(_in_utc, row)) for row in frame.collect()]


def _in_utc(value: Any) -> Any:
    """PySpark gives times without a zone; session, JVM and process are in UTC."""
    match value:
        case datetime(tzinfo=None):
            return value.replace(tzinfo=UTC)
        case dict():
            return {key: _in_utc(item) for key, item in value.items()}
        case tuple() if hasattr(value, "asDict"):
            return _in_utc(value.asDict())
        case list():
            return [_in_utc(item) for item in value]
        case _:
            return value
