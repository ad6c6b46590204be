"""Jars by Maven coordinate: resolved once through the Ivy that Spark carries, then cached.

Later starts use the cached files by path and touch no network.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from importlib.util import find_spec
from pathlib import Path

from moldau.engines.spark.java import find_java
from moldau.errors import MoldauError
from moldau.project import cache_folder

# Delta and what it needs beside Spark's own jars; all else stands in pyspark/jars already,
# and a second copy of jackson or hadoop in front of Spark's would break it.
COORDINATES = (
    "io.delta:delta-spark_4.0_2.13:4.4.0",
    "io.delta:delta-storage:4.4.0",
    "io.delta:delta-kernel-api:4.4.0",
    "io.delta:delta-kernel-defaults:4.4.0",
    "io.delta:delta-kernel-unitycatalog:4.4.0",
    "io.unitycatalog:unitycatalog-client:0.6.0",
    "io.unitycatalog:unitycatalog-hadoop:0.6.0",
    # the Kafka source, of the newest version that the registry has whole, and what it needs
    "org.apache.spark:spark-sql-kafka-0-10_2.13:4.0.0",
    "org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.0.0",
    "org.apache.kafka:kafka-clients:3.9.0",
    "org.apache.commons:commons-pool2:2.12.0",
    # Hadoop starts a `chmod` process for every file that it writes; this file system does not
    "com.globalmentor:hadoop-bare-naked-local-fs:0.1.0",
)


def jars_folder() -> Path:
    """Folder that holds the jars; MOLDAU_JARS names another one."""
    named = os.environ.get("MOLDAU_JARS")
    return Path(named) if named else resolve(list(COORDINATES))[0].parent


def are_cached() -> bool:
    return "MOLDAU_JARS" in os.environ or _folder(list(COORDINATES), False).is_dir()


def resolve(coordinates: list[str], transitive: bool = False) -> list[Path]:
    """The jars of these `group:artifact:version` coordinates, from the cache or the registry.

    Raises MoldauError when a coordinate cannot be had.
    """
    folder = _folder(coordinates, transitive)
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
            _retrieve(coordinates, transitive, Path(scratch))
            _move(Path(scratch) / "jars", folder)
    return sorted(folder.glob("*.jar"))


def _folder(coordinates: list[str], transitive: bool) -> Path:
    wanted = "\n".join([*sorted(coordinates), str(transitive)])
    return cache_folder("jars") / hashlib.sha256(wanted.encode()).hexdigest()[:16]


def _retrieve(coordinates: list[str], transitive: bool, scratch: Path) -> None:
    wants = "".join(
        '<dependency org="{}" name="{}" rev="{}" transitive="{}" conf="default->default"/>'.format(
            *coordinate.split(":"), str(transitive).lower()
        )
        for coordinate in coordinates
    )
    description = scratch / "ivy.xml"
    description.write_text(
        '<ivy-module version="2.0"><info organisation="moldau" module="jars"/>'
        f'<configurations defaultconf="default"><conf name="default"/></configurations>'
        f"<dependencies>{wants}</dependencies></ivy-module>"
    )
    ivy = next(jars_of_spark().glob("ivy-*.jar"))
    command = [
        str(find_java().path), "-jar", str(ivy), "-ivy", str(description), "-error",
        "-cache", str(scratch / "cache"), "-types", "jar", "bundle",
        "-retrieve", f"{scratch}/jars/[organisation]_[artifact]-[revision].[ext]",
    ]  # fmt: skip
    told = subprocess.run(command, capture_output=True, text=True)
    missing = [c for c in coordinates if not _jar(scratch / "jars", c).is_file()]
    if told.returncode or missing:
        lines = (told.stderr or told.stdout).strip().splitlines()
        raise MoldauError(
            f"cannot resolve {', '.join(missing or coordinates)} from the Maven registry"
            + (f": {lines[0]}" if lines else "")
        )


def _jar(folder: Path, coordinate: str) -> Path:
    organisation, artifact, revision = coordinate.split(":")
    return folder / f"{organisation}_{artifact}-{revision}.jar"


def jars_of_spark() -> Path:
    spec = find_spec("pyspark")
    assert spec and spec.origin
    return Path(spec.origin).parent / "jars"


def _move(ready: Path, folder: Path) -> None:
    try:
        os.rename(ready, folder)
    except OSError:
        # another process was first: its jars are the same
        if not folder.is_dir():
            shutil.move(ready, folder)


if __name__ == "__main__":
    print(jars_folder())
