"""A domain is added beside the others: a copy of the project gains files, and none is touched."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from shell_support import without_settings

from moldau.project import ROOT

pytestmark = pytest.mark.processes
TOYS = ROOT / "tests" / "fixtures" / "toy_domain"
LINES = [{"toy_name": "bear", "wear": 5}, {"toy_name": "kite", "wear": 0}]
AT = "2026-11-21T08:00:00Z"


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    for name in ("models", "macros", "seeds", "profiles", "python_udfs"):
        shutil.copytree(ROOT / name, project / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("dbt_project.yml", "selectors.yml"):
        shutil.copy(ROOT / name, project)
    shutil.copytree(ROOT / "tests" / "generic", project / "tests" / "generic")
    for file in filter(Path.is_file, (TOYS / "models").rglob("*")):
        assert not (project / file.relative_to(TOYS)).exists()
    for name in ("models", "python_udfs"):
        shutil.copytree(TOYS / name, project / name, dirs_exist_ok=True)
    return project


def test_a_domain_runs_without_a_word_of_the_others(copied: Path, tmp_path: Path) -> None:
    toys = tmp_path / "toys.jsonl"
    toys.write_text("".join(json.dumps(line) + "\n" for line in LINES))
    (tmp_path / "verbs.txt").write_text(
        f"load {toys} --cluster nursery --kind toys\n"
        f"tidy --at {AT} --format json\n"
        f"tidy --at {AT} --format json\n"
        "show marts.toys_to_give_away --format json\n"
        "status --format json\n"
    )
    program = "from moldau.cli import main; main()"
    command = [sys.executable, "-c", program, "exec", str(tmp_path / "verbs.txt")]
    jars = {"MOLDAU_JARS": str(ROOT / ".jars")} if (ROOT / ".jars").exists() else {}
    told = subprocess.run(
        [*command, "--warehouse", str(tmp_path / "warehouse")],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**without_settings(), **jars, "PYTHONPATH": str(copied / "python_udfs")},
        timeout=900,
        check=False,
    )
    answers = [json.loads(line) for line in told.stdout.splitlines()]
    assert [answer["exit_code"] for answer in answers] == [0] * 5, (told.stderr, answers)
    loaded, decided, again, shown, status = (answer["output"] for answer in answers)
    assert "2" in loaded
    counts = [
        {k: run[k] for k in ("decided", "give_away", "keep")}
        for [run] in map(json.loads, (decided, again))
    ]
    assert counts == [
        {"decided": 2, "give_away": 1, "keep": 1},
        {"decided": 0, "give_away": 1, "keep": 1},
    ]
    [toy] = json.loads(shown)
    assert toy == {
        "cluster_id": "nursery", "toy_name": "bear", "reason_code": "WORN",
    }  # fmt: skip
    assert [run["kind"] for run in json.loads(status)["runs"]] == ["tidy", "tidy", "load"]
    assert not list((tmp_path / "warehouse").glob("*.db")), "folders of Spark's own"
    page = subprocess.run(
        [sys.executable, "-c", program, "--help"],
        capture_output=True, text=True, check=True,
        env={**without_settings(), "PYTHONPATH": str(copied / "python_udfs")},
    ).stdout  # fmt: skip
    assert "Decide which toys are given away." in page
