"""Plugins of a broker that a test compiles, for which a JDK must be there."""

from __future__ import annotations

import subprocess
from pathlib import Path

from broker_support import COORDINATES

from moldau.engines.spark.jars import resolve
from moldau.engines.spark.java import find_java


def compiled(source: Path, target: Path, coordinates: list[str] = COORDINATES) -> Path:
    """The folder `target`, with the classes of a source file."""
    javac = find_java().path.with_name("javac")
    jars = ":".join(map(str, resolve(coordinates, transitive=True)))
    subprocess.run([javac, "-nowarn", "-cp", jars, "-d", target, source], check=True)
    return target
