"""Spark somewhere else: a server of Spark Connect, which reads the warehouse's folder as we do."""

from __future__ import annotations

import atexit
import contextlib
import os
import socket
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from moldau.engines.spark.answers import in_words
from moldau.engines.spark.catalog import register
from moldau.engines.spark.profile import FOLDER, spark_settings
from moldau.engines.spark.quoting import quote_as_here
from moldau.errors import MoldauError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

REMOTE = "spark.remote"
"""Spark's own name, of moldau.yml; PySpark's own variable is SPARK_REMOTE."""
_PORT = 15002  # where such a server listens unless told otherwise
_SECONDS = 10  # to wait for it
_DELTA = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}


def remote_of(told: Mapping[str, str] | None = None) -> str | None:
    """The server that moldau.yml or the environment names: `sc://host:port`."""
    return (told or {}).get(REMOTE) or os.environ.get("SPARK_REMOTE") or None


def connect(remote: str, warehouse: Path, told: Mapping[str, str] | None = None) -> SparkSession:
    """A session of the server for this warehouse, with the settings that a session may choose.

    Raises MoldauError when PySpark's client is not whole, the server cannot be reached, it was
    started without Delta, or it has another warehouse open.
    """
    try:
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.remote(remote)
        os.environ["SPARK_REMOTE"] = remote  # whoever asks PySpark for a session, as dbt does
    except ImportError as error:
        raise MoldauError(
            f"a Spark Connect server needs more of PySpark ({error.name or error}): "
            "pip install 'moldau[connect]'"
        ) from None
    require_listening(remote)
    # dbt-spark asks for Hive at each statement; what a server says of that is for nobody
    warnings.filterwarnings("ignore", module=r"pyspark\.sql\.connect\.conf")
    spark = None
    try:
        with _in_words(remote):
            spark = builder.getOrCreate()
            if spark.conf.get(FOLDER, None) != str(warehouse):  # it is new
                _suit(spark, remote, told)
                _require_alone(spark, warehouse, f"Spark at {_shown(remote)}")
                atexit.register(_end, spark)
    except MoldauError:
        if spark:  # a server that was started anew does not know it: the next try gets another
            _end(spark)
        raise
    return spark


def _suit(spark: SparkSession, remote: str, told: Mapping[str, str] | None) -> None:
    for key, needed in _DELTA.items():
        if needed not in (spark.conf.get(key, None) or ""):
            raise MoldauError(f"Spark at {_shown(remote)} has no Delta: it needs {key}={needed}")
    for key, value in spark_settings(told).items():
        if key not in _DELTA and spark.conf.isModifiable(key):
            spark.conf.set(key, value)


def take_over(spark: SparkSession, warehouse: Path) -> None:
    """Suit a session that somebody else has started, as far as quoting rests on it.

    MoldauError when its catalog has another warehouse open, or it cannot read Delta tables."""
    with in_words():
        quote_as_here(spark)
        _require_alone(spark, warehouse, "this Spark session")


def _require_alone(spark: SparkSession, warehouse: Path, who: str) -> None:
    """MoldauError when the catalog has the tables of another warehouse: all clients of a server
    share it."""
    register(spark, warehouse, ["state.runs"])
    found = spark.sql("describe detail `state`.`runs`").collect()[0].location
    if Path(unquote(urlsplit(found).path)) != warehouse / "state" / "runs":
        raise MoldauError(f"{who} has another warehouse open, of {found}: a catalog has one")


def require_listening(remote: str) -> str:
    """MoldauError if nobody does, at once: PySpark's client tries again for ten minutes.

    Gives the server as it is shown to a person."""
    place = urlsplit(remote)
    try:
        address = (place.hostname or "", place.port or _PORT)
    except ValueError:  # the port is no number
        address = ("", 0)
    if place.scheme != "sc" or not address[0]:
        raise MoldauError(f"{_shown(remote)!r} is no Spark server: sc://HOST:PORT is expected")
    try:
        socket.create_connection(address, _SECONDS).close()
    except OSError as error:
        told = error.strerror or str(error)
        raise MoldauError(f"no Spark server answers at {_shown(remote)}: {told}") from None
    return _shown(remote)


def _shown(remote: str) -> str:
    """Without its options, among which a token may be."""
    return remote.split("/;")[0]


@contextlib.contextmanager
def _in_words(remote: str) -> Iterator[None]:
    from grpc import RpcError
    from pyspark.errors import PySparkException

    try:
        yield
    except (RpcError, PySparkException) as error:
        details = getattr(error, "details", None)
        told = str(details() if callable(details) else error).strip().split("\n")[0][:500]
        raise MoldauError(f"Spark at {_shown(remote)}: {told}") from None


def _end(spark: SparkSession) -> None:
    with contextlib.suppress(Exception):  # a server that has gone has no session
        spark.stop()
