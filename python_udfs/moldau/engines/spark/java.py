"""Find a Java that Spark 4 runs on."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from moldau.errors import MoldauError

OLDEST = 17
ADVICE = (
    f"install Java {OLDEST} or newer (Debian: apt-get install openjdk-17-jre-headless), "
    "or set JAVA_HOME"
)


@dataclass(frozen=True)
class JavaInfo:
    path: Path
    version: int


def find_java() -> JavaInfo:
    """The Java that Spark will use: JAVA_HOME's, else the one on PATH.

    Raises MoldauError, one line that says what to install, when it is missing or too old.
    """
    home = os.environ.get("JAVA_HOME")
    found = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if not found or not os.access(found, os.X_OK):
        where = f"JAVA_HOME is {home}, which has no bin/java" if home else "no java on PATH"
        raise MoldauError(f"Java is missing ({where}): {ADVICE}")
    try:
        # without `env` the child reads C's variables, which move when dbt's parse sets one
        told = subprocess.run(
            [found, "-version"], capture_output=True, text=True, timeout=30, env=dict(os.environ)
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise MoldauError(f"{found} does not run ({error}): {ADVICE}") from error
    version = _major_version(told.stderr + told.stdout)
    if version is None:
        raise MoldauError(f"{found} does not tell its version: {ADVICE}")
    if version < OLDEST:
        raise MoldauError(f"Java {version} at {found} is too old for Spark 4: {ADVICE}")
    return JavaInfo(Path(found), version)


def _major_version(text: str) -> int | None:
    match = re.search(r'version "(\d+)(?:\.(\d+))?', text)
    if not match:
        return None
    # before Java 9 the major version stood second: "1.8.0_402"
    return int(match[2] or 0) if match[1] == "1" else int(match[1])
