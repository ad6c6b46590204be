"""Commands as a person types them, one after the other in one process: each JVM less is a minute.

The program reads what is typed as lines of JSON, and answers each so. Spark ends with the command,
as it would with its process; the JVM stays.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from moldau.engines.spark.spark_session import BRIEF_OPTIONS


def without_settings() -> dict[str, str]:
    """The environment without what would set moldau or dbt."""
    return {k: v for k, v in os.environ.items() if not k.startswith(("MOLDAU_", "DBT_"))}


@dataclass(frozen=True)
class Answer:
    code: int
    out: str
    err: str


class Shell:
    """Sees no setting of moldau's or dbt's in the environment but those of each command."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=without_settings()
            | {"MOLDAU_DRIVER_MEMORY": "2g", "MOLDAU_JAVA_OPTIONS": BRIEF_OPTIONS},
        )

    def __call__(self, *words: str, folder: Path | None = None, **variables: str) -> Answer:
        """`moldau WORDS`"""
        assert self._process.stdin and self._process.stdout
        typed = {"words": words, "folder": str(folder or Path.cwd()), "variables": variables}
        print(json.dumps(typed), file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline()
        assert answer, f"the process ended in {words}"
        return Answer(**json.loads(answer))

    def close(self) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait(timeout=60)


def answered(typed: dict[str, Any]) -> dict[str, Any]:
    from moldau.cli import run

    out, err = io.StringIO(), io.StringIO()
    os.environ.update(typed["variables"])
    with (
        contextlib.chdir(typed["folder"]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        code = run(typed["words"])
    end_spark()
    for name in typed["variables"]:
        del os.environ[name]
    return {"code": code, "out": out.getvalue(), "err": err.getvalue()}


def end_spark() -> None:
    """The JVM stays."""
    from pyspark import SparkContext

    if SparkContext._active_spark_context is not None:
        from pyspark.sql import SparkSession

        SparkSession.builder.getOrCreate().stop()


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(answered(json.loads(line))), flush=True)
