"""Every notebook runs as it is, in seconds and without Spark, and plots what it asks."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import matplotlib
import pytest
from matplotlib import pyplot

from moldau.project import ROOT
from moldau.warehouse.create import create

matplotlib.use("Agg")
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.py"))
PLOTS = {
    "groups": ["expiry", "kept"],
    "mirrors": ["readiness", "reread"],
    "producers": ["misses"],
    "tiers": ["backlog"],
}
SAYS = {
    "groups": "c-vanish-off|c-repeat-off",
    "mirrors": "before the first sync that can be used",
    "producers": "RAISE",
    "tiers": "DANGLING_DELETE",
}


def test_each_domain_has_one() -> None:
    assert [path.stem for path in NOTEBOOKS] == sorted(PLOTS)
    listed = (ROOT / "notebooks" / "README.md").read_text()
    assert re.findall(r"\[(\w+)\.py\]", listed) == ["groups", "mirrors", "tiers", "producers"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_databricks_can_import_it(path: Path) -> None:
    first, *cells = re.split(r"\n\n# COMMAND -+\n\n", path.read_text())
    assert first.startswith("# Databricks notebook source\n# MAGIC %md\n# MAGIC # ")
    assert first.splitlines()[2].endswith("?")
    for cell in cells:
        is_magic = {line.startswith("# MAGIC") for line in cell.strip().splitlines()}
        assert is_magic == {True} or is_magic == {False}, cell


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_runs(
    path: Path,
    sampled: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MOLDAU_WAREHOUSE", str(sampled))
    pyplot.close("all")
    runpy.run_path(str(path), run_name="__main__")
    assert re.search(SAYS[path.stem], capsys.readouterr().out)
    plots = [tmp_path / f"{path.stem}-{name}.png" for name in PLOTS[path.stem]]
    assert sorted(tmp_path.iterdir()) == sorted(plots)
    for number in pyplot.get_fignums():
        for axes in pyplot.figure(number).axes:
            assert axes.has_data() and axes.get_title() + axes.get_ylabel()
    pyplot.close("all")


def test_where_nothing_is_known_nothing_is_plotted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MOLDAU_WAREHOUSE", str(tmp_path / "new"))
    create(tmp_path / "new")
    for path in NOTEBOOKS:
        runpy.run_path(str(path), run_name="__main__")
    pyplot.close("all")


def test_none_starts_spark_by_itself() -> None:
    for path in NOTEBOOKS:
        for line in path.read_text().splitlines():
            assert "moldau.connect(" not in line or "spark=spark" in line or "MAGIC" in line, path
