"""The wheel in an environment of its own, away from the checkout: the demo, and a dbt project that
uses moldau as a package (docs/dbt.md shows its files)."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest
from shell_support import without_settings

from moldau.engines.spark.spark_session import BRIEF_OPTIONS
from moldau.project import ROOT, SAMPLES

pytestmark = pytest.mark.processes
BIN = Path(sys.executable).parent
EAST = SAMPLES / "east" / "__consumer_offsets.jsonl"
# one JVM: the cycle, then a model that reads a mart
PROGRAM = """
import json
from dbt.cli.main import dbtRunner
for words in (["deps"], ["run", "--selector", "cycle"], ["run", "--select", "+ours"]):
    outcome = dbtRunner().invoke(words)
    assert outcome.success, outcome.exception or [r.message for r in outcome.result.results]
from pyspark.sql import SparkSession
rows = SparkSession.active().sql("select * from marts_reports.ours").collect()
print(json.dumps([list(row) for row in rows]))
"""


def run(folder: Path, *words: str | Path) -> str:
    kept = {k: v for k, v in without_settings().items() if not k.startswith("PYTHON")}
    env = kept | {"MOLDAU_JAVA_OPTIONS": BRIEF_OPTIONS}
    ended = subprocess.run(words, cwd=folder, capture_output=True, text=True, env=env)
    assert ended.returncode == 0, (ended.stdout + ended.stderr)[-3000:]
    return ended.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run(ROOT, BIN / "python", "-m", "build", "--wheel", "--installer", "uv", "--outdir", folder)
    [built] = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path) -> Path:
    """The folder of its commands. What the wheel depends on is that of the tests, whose bytecode is
    there: not the checkout, which a file that names a folder would name again."""
    home = wheel.parent / "env"
    uv = BIN / "uv"
    run(ROOT, uv, "venv", "--quiet", "--python", BIN / "python", home)
    paths = {"base": str(home), "platbase": str(home)}
    own = Path(sysconfig.get_path("purelib", "venv", vars=paths))
    (own / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    run(ROOT, uv, "pip", "install", "--quiet", "--compile-bytecode", "--python", home,
        "--no-deps", wheel)  # fmt: skip
    return home / "bin"


def example(name: str) -> str:
    """A file of the project in docs/dbt.md."""
    told = (ROOT / "docs" / "dbt.md").read_text()
    found = re.search(rf"```\w*\n(?:#|--) {re.escape(name)}\n(.*?)```", told, re.DOTALL)
    assert found, name
    return found.group(1)


def test_the_wheel_says_what_it_is(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as files:
        names = files.namelist()
        [metadata] = [name for name in names if name.endswith("METADATA")]
        told = files.read(metadata).decode()
    assert "moldau/py.typed" in names
    assert "dbt/adapters/moldau/__init__.py" in names
    assert re.findall(r"^Provides-Extra: (\w+)$", told, re.MULTILINE) == ["connect", "kafka"]
    assert "Classifier: Programming Language :: Python :: 3.13" in told


def test_the_demo_runs(installed: Path, tmp_path: Path) -> None:
    told = run(tmp_path, installed / "moldau", "demo")
    assert "cleared" in told
    assert re.search(r"All \d+ tables of .* are equal, \d\S* rows", told)
    assert str(ROOT) not in told


def test_a_project_of_ones_own_uses_the_models(installed: Path, tmp_path: Path) -> None:
    moldau = installed / "moldau"
    project = run(tmp_path, installed / "python", "-m", "moldau.project").strip()
    assert not project.startswith(str(ROOT))
    (tmp_path / "models").mkdir()
    for name in ("dbt_project.yml", "packages.yml", "profiles.yml", "models/ours.sql"):
        (tmp_path / name).write_text(example(name).replace("/path/that/it/printed", project))
    (tmp_path / "selectors.yml").write_bytes(Path(project, "selectors.yml").read_bytes())
    run(tmp_path, moldau, "init")
    run(tmp_path, moldau, "load", EAST, "--cluster", "east", "--kind", "records")
    told = run(tmp_path, installed / "python", "-c", PROGRAM)
    assert "-cycle is closed: decided 19" in told
    [[cluster, groups]] = json.loads(told.splitlines()[-1])
    counted = "select cluster_id, count(*) from marts.groups where not is_deleted group by all"
    answer = run(tmp_path, moldau, "sql", "--engine", "duckdb", "--format", "json", counted)
    assert [cluster, groups] == list(json.loads(answer)[0].values())
