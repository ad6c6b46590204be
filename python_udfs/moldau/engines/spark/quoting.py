"""Check the Spark settings on which quoting rests: under others a quoted text could become SQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from moldau.engines.spark.profile import spark_settings
from moldau.errors import MoldauError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# a backslash escapes, ${x} stays, "x" is a text and `x` one name, and no word needs quotes
QUOTING = (
    "spark.sql.parser.escapedStringLiterals",
    "spark.sql.variable.substitute",
    "spark.sql.ansi.enabled",
    "spark.sql.ansi.doubleQuotedIdentifiers",
    "spark.sql.ansi.enforceReservedKeywords",
    "spark.sql.parser.quotedRegexColumnNames",
)


def check_quoting(spark: SparkSession) -> None:
    """Raise MoldauError when the session has another value than the profile for one of them."""
    needed = spark_settings()
    for key in QUOTING:
        found = str(spark.conf.get(key)).lower()
        if found != needed[key]:
            raise MoldauError(
                f"{key} is {found} in this Spark session; allowed is {needed[key]}, or what moldau "
                "quotes for SQL would mean something else"
            )


def quote_as_here(spark: SparkSession) -> None:
    """Give a session that somebody else has started the values of the profile."""
    needed = spark_settings()
    for key in QUOTING:
        spark.conf.set(key, needed[key])
