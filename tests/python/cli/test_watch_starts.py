"""What `moldau watch` says of a request that is wrong, before anything is scheduled."""

from __future__ import annotations

from pathlib import Path

import pytest

from moldau.cli import run

REFUSED = 1


def watch(folder: Path, yml: str, *words: str) -> int:
    config = folder / "moldau.yml"
    config.write_text(yml)
    return run(["watch", "--config", str(config), "--warehouse", str(folder / "w"), *words])


@pytest.mark.parametrize(
    ("yml", "words", "said"),
    [
        ("clusters: {}", [], "there is no cluster yet"),
        ("clusters: {east: {}}", ["--cluster", "nowhere"], "'nowhere' is not known: east"),
        ("clusters: {east: {authority: moldau, plugin: {name: none-such}}}", [], "none-such"),
        ("clusters: {east: {offsets.retention.check.interval.ms: 0}}", [], "check.interval.ms"),
        ("clusters: {east: {}}", ["--ticks", "0"], "--ticks"),
    ],
)
def test_a_wrong_request_is_refused_at_the_start(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], yml: str, words: list[str], said: str
) -> None:
    assert watch(tmp_path, yml, *words) == REFUSED
    told = capsys.readouterr()
    assert said in told.err
    assert told.err.startswith("moldau: ") and told.err.count("\n") == 1
    assert told.out == ""
    assert not (tmp_path / "w").exists()


def test_without_java_nothing_is_scheduled(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert watch(tmp_path, "clusters: {east: {}}") == REFUSED
    assert "Java is missing" in capsys.readouterr().err


def test_duckdb_by_name_needs_no_java(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    yml = "{engine: duckdb, clusters: {east: {offsets.retention.check.interval.ms: 1}}}"
    assert watch(tmp_path, yml, "--ticks", "1") == 0
    assert "sweep" in capsys.readouterr().out
