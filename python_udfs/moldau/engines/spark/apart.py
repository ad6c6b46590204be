"""Spark of another warehouse than the one it has open, for a while."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from moldau.engines.spark.connected import remote_of
from moldau.engines.spark.spark_session import end
from moldau.errors import MoldauError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@contextlib.contextmanager
def apart(
    start: Callable[[], SparkSession], told: Mapping[str, str], what: str
) -> Iterator[Callable[[], SparkSession]]:
    """In this block `start`, as it is given back, first ends what is open, and ends with the block.

    `told`: properties of Spark that moldau.yml names. MoldauError, when it is called, for a Spark
    server: all its clients share the one catalog. `what`: the subject of that sentence."""
    with contextlib.ExitStack() as stack:

        def start_apart() -> SparkSession:
            if remote_of(told):
                raise MoldauError(
                    f"{what} needs a Spark of its own, and a Spark server has one warehouse open "
                    "for all: --engine duckdb answers, or Spark without a server"
                )
            end()
            stack.callback(_put_back, os.environ.get("MOLDAU_WAREHOUSE"))
            stack.callback(end)
            return start()

        yield start_apart


def _put_back(warehouse: str | None) -> None:
    """`start` names its warehouse there, and moldau asks it for the one to work on."""
    os.environ.pop("MOLDAU_WAREHOUSE", None)
    if warehouse is not None:
        os.environ["MOLDAU_WAREHOUSE"] = warehouse
