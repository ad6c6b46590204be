"""What a machine needs: a Java that Spark runs on, and the jars, fetched once."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from moldau.engines.spark import jars
from moldau.engines.spark.java import find_java
from moldau.errors import MoldauError


def fake_java(home: Path, says: str) -> None:
    java = home / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!/bin/sh\necho '{says}' >&2\n")
    java.chmod(0o755)


@pytest.mark.parametrize(
    ("says", "wrong"),
    [
        ('openjdk version "11.0.22" 2024-01-16', "Java 11 at .* is too old for Spark 4"),
        ('java version "1.8.0_402"', "Java 8 at .* is too old for Spark 4"),
        ("something else", "does not tell its version"),
        (None, "Java is missing"),
    ],
)
def test_one_line_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: str | None, wrong: str
) -> None:
    if says:
        fake_java(tmp_path, says)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(MoldauError, match=f"^.*{wrong}.*: install Java 17 or newer .*$") as told:
        find_java()
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("version", ["17.0.15", "21.0.2", "25"])
def test_newer_java_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    fake_java(tmp_path, f'openjdk version "{version}" 2025-01-01')
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert find_java().version == int(version.split(".")[0])


def test_a_machine_without_java_is_told_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MoldauError, match=r"Java is missing \(no java on PATH\): install Java 17"):
        find_java()


def test_jars_are_fetched_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fetched = []

    def fetch(coordinates: list[str], transitive: bool, scratch: Path) -> None:
        fetched.append(coordinates)
        (scratch / "jars").mkdir()
        for coordinate in coordinates:
            jars._jar(scratch / "jars", coordinate).write_bytes(b"")

    def no_process(*arguments: Any, **options: Any) -> None:
        raise AssertionError("a second start fetches nothing and asks nobody")

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("MOLDAU_JARS", raising=False)
    monkeypatch.setattr(jars, "_retrieve", fetch)
    first = jars.jars_folder()
    monkeypatch.setattr(subprocess, "run", no_process)
    assert jars.jars_folder() == first
    assert fetched == [list(jars.COORDINATES)]
    assert len(list(first.glob("*.jar"))) == len(jars.COORDINATES)
