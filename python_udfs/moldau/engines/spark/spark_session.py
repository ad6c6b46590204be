"""The only Spark session of the process, which dbt uses, too."""

from __future__ import annotations

import logging
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from moldau.engines.spark.classes import archive_options
from moldau.engines.spark.connected import connect, remote_of
from moldau.engines.spark.jars import jars_folder, jars_of_spark
from moldau.engines.spark.java import find_java
from moldau.engines.spark.profile import BY_SIZE, FOLDER, spark_settings
from moldau.engines.spark.quoting import check_quoting
from moldau.errors import MoldauError
from moldau.project import cache_folder
from moldau.warehouse.logs import begun

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_opened: Path | None = None  # the warehouse whose tables the session's catalog names
_ends = 0
_OPTIONS = "spark.driver.extraJavaOptions"
BRIEF_OPTIONS = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=256m"


def start(
    warehouse: Path, is_brief: bool = False, told: Mapping[str, str] | None = None
) -> SparkSession:
    """Start Spark for this warehouse, or give the running session.

    `told`: properties of Spark that moldau.yml names, which hold where a session starts; with
    `spark.remote` among them, or SPARK_REMOTE, the session is one of that server.
    `is_brief`: for little work, so that time spent on optimizing code is lost.
    Raises MoldauError when Java is missing or too old, the jars cannot be had, or the session
    is another warehouse's (its tables have the same names) or reads quoted text in another way.
    """
    global _opened
    from pyspark import SparkContext

    if SparkContext._active_spark_context is not None and _opened not in (None, warehouse):
        raise MoldauError(
            f"Spark has {_opened} open in this process: end it with spark.stop(), or open "
            f"{warehouse} in another process"
        )
    _opened = warehouse
    # Delta reads the time zone of JVM, session and process: all three are UTC
    os.environ["TZ"] = "UTC"
    time.tzset()
    _silence()
    if remote := remote_of(told):
        spark = connect(remote, warehouse, told)
    else:
        spark = _start(warehouse, is_brief, told)
    check_quoting(spark)
    spark.conf.set(FOLDER, str(warehouse))
    return spark


def _start(warehouse: Path, is_brief: bool, told: Mapping[str, str] | None) -> SparkSession:
    """In this process, with a JVM beside it."""
    java = find_java().path
    if is_brief:
        os.environ.setdefault("MOLDAU_JAVA_OPTIONS", BRIEF_OPTIONS)
    jars = jars_folder()
    os.environ["MOLDAU_JARS"] = str(jars)
    os.environ["MOLDAU_WAREHOUSE"] = str(warehouse)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    settings = spark_settings(told)
    if SparkContext._gateway is None:
        # stdout and stderr are for the person, and dbt may be writing there: what the JVM notes
        # goes to a file (Delta's VACUUM prints to stdout)
        log = warehouse / "_moldau" / "spark.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        folders = (jars, jars_of_spark())
        archive = archive_options(cache_folder("classes"), java, folders, ends_soon=is_brief)
        options = {_OPTIONS: f"{settings[_OPTIONS]} {archive}"}
        with begun(log).open("ab") as file:
            conf = SparkConf().setAll(list((settings | options).items()))
            gateway = launch_gateway(conf, {"stdout": file, "stderr": file})
        SparkContext._ensure_initialized(gateway=gateway)
    builder = SparkSession.builder
    for key, value in settings.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def suit_to(spark: SparkSession, is_small: bool) -> None:
    """On small tables a run costs what is planned, generated and sent around: there one task does
    each step, and nothing is compiled or planned anew in the middle. On big ones all of it pays.
    """
    for name, (on_small, on_big) in BY_SIZE.items():
        spark.conf.set(name, on_small if is_small else on_big)


def end() -> None:
    """End the session that `start` gave, so that another warehouse may be opened; the JVM stays.

    `SparkModels` of the warehouse that was open start theirs anew when they next need it."""
    global _opened, _ends
    from pyspark import SparkContext

    if _opened is not None and SparkContext._active_spark_context is not None:
        from pyspark.sql import SparkSession

        SparkSession.builder.getOrCreate().stop()
    _opened = None
    _ends += 1


def ends() -> int:
    """How often a session was ended in this process."""
    return _ends


def forget_if_dead() -> None:
    """Let the next `start` make a new JVM if the one of this process has ended."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    gateway = SparkContext._gateway
    if gateway is None or gateway.proc.poll() is None:
        return
    SparkContext._gateway = SparkContext._jvm = SparkContext._active_spark_context = None
    SparkSession._instantiatedSession = SparkSession._activeSession = None


def _silence() -> None:
    """What goes wrong is told once, by whoever called: not in PySpark's JSON beside it."""
    from pyspark.logger import PySparkLogger

    logging.getLogger().addFilter(_is_not_of_py4j)
    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        PySparkLogger.getLogger(name).disabled = True


def _is_not_of_py4j(record: logging.LogRecord) -> bool:
    """py4j writes a stack trace when the JVM dies, beside the error that the caller receives."""
    return "py4j" not in Path(record.pathname).parts
