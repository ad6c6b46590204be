"""Properties of Spark for one statement."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@contextlib.contextmanager
def properties(spark: SparkSession, told: Mapping[str, str]) -> Iterator[None]:
    """Set in this block; as before after it."""
    before = {name: spark.conf.get(name, None) for name in told}
    for name, value in told.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, earlier in before.items():
            if earlier is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, earlier)
