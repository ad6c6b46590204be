"""The one Spark session of the process, which dbt then uses too."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from moldau.engine.jars import delta_jars
from moldau.engine.java import find_java
from moldau.engine.profile import spark_settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def start(warehouse: Path) -> SparkSession:
    """Start Spark for this warehouse, or give the running session.

    Raises MoldauError when Java is missing or too old or the jars cannot be had.
    """
    find_java()
    os.environ["MOLDAU_JARS"] = str(delta_jars())
    os.environ["MOLDAU_WAREHOUSE"] = str(warehouse)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    # Delta reads the time zone of JVM, session and process: all three are UTC
    os.environ["TZ"] = "UTC"
    time.tzset()
    from pyspark.sql import SparkSession

    builder = SparkSession.builder
    for key, value in spark_settings().items():
        builder = builder.config(key, value)
    return builder.getOrCreate()
