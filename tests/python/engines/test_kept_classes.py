"""A JVM keeps its classes for those that follow, and none takes those of another Java or jars."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from moldau.engines.spark import classes
from moldau.engines.spark.classes import archive_options
from moldau.engines.spark.jars import jars_of_spark
from moldau.engines.spark.java import find_java


@pytest.fixture
def jars(tmp_path: Path) -> Path:
    [ivy] = jars_of_spark().glob("ivy-*.jar")
    folder = tmp_path / "jars"
    folder.mkdir()
    shutil.copy(ivy, folder)
    return folder


def test_the_first_writes_what_the_next_reads(tmp_path: Path, jars: Path) -> None:
    java, kept = find_java().path, tmp_path / "kept classes"
    [ivy] = jars.iterdir()

    def run(options: str) -> str:
        command = [java, *shlex.split(options), "-Xlog:class+load", "-cp", ivy]
        command += ["org.apache.ivy.Main", "-version"]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    assert archive_options(kept, java, [jars], False) == "", "its end may be days away"
    first = archive_options(kept, java, [jars], True)
    assert "-XX:ArchiveClassesAtExit=" in first
    assert archive_options(kept, java, [jars], True) == "", "the first one writes it"
    assert "org.apache.ivy.Main source: file:" in run(first)
    second = archive_options(kept, java, [jars], False)
    assert "-XX:SharedArchiveFile=" in second
    assert "org.apache.ivy.Main source: shared objects file (top)" in run(second)

    touched = ivy.stat().st_mtime_ns + 10**9
    os.utime(ivy, ns=(touched, touched))
    assert "org.apache.ivy.Main source: file:" in run(second), "Java goes on without"
    assert "-XX:ArchiveClassesAtExit=" in archive_options(kept, java, [jars], True)


def test_one_that_was_not_finished_is_begun_again(
    tmp_path: Path, jars: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    java, kept = find_java().path, tmp_path / "kept"
    archive_options(kept, java, [jars], True)
    [begun] = kept.iterdir()
    begun.with_suffix(".jsa").write_bytes(bytes(4096))
    assert archive_options(kept, java, [jars], True) == ""
    monkeypatch.setattr(classes, "_PATIENCE_S", -1)
    assert "-XX:ArchiveClassesAtExit=" in archive_options(kept, java, [jars], True)


def test_where_nothing_can_be_kept_there_is_none(tmp_path: Path, jars: Path) -> None:
    (tmp_path / "file").write_text("")
    assert archive_options(tmp_path / "file" / "kept", find_java().path, [jars], True) == ""


def test_those_that_were_not_taken_for_long_make_room(tmp_path: Path, jars: Path) -> None:
    for number in range(4):
        for suffix in ("jsa", "begun"):
            file = tmp_path / f"{number}.{suffix}"
            file.write_text("of another environment")
            os.utime(file, (number, number))
    archive_options(tmp_path, find_java().path, [jars], True)
    left = {file.stem for file in tmp_path.glob("*.jsa")}
    assert left == {"2", "3"}, "beside the one that is being written"
    assert len(list(tmp_path.glob("*.begun"))) == 3
