"""What a person does with `dbt run` and `dbt test` alone, on what moldau has filled."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from manifest_support import project
from shell_support import Shell

from moldau.project import ROOT, SAMPLES

pytestmark = pytest.mark.processes
WEST_AT = "2026-11-21T07:56:22.363Z"
VERBS = f"""
load {SAMPLES}/west/open_transactions.jsonl --cluster west --kind open_transactions
load {SAMPLES}/west/__consumer_offsets.jsonl --cluster west --kind records
cycle --dry-run --at {WEST_AT}
sweep --dry-run --at {WEST_AT}
{(SAMPLES / "tiers" / "verbs.txt").read_text()}
"""
COMMANDS = ("a run that ends early", "a whole run", "tests", "unit tests")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("plain")


@pytest.fixture(scope="module")
def found(shell: Shell, folder: Path) -> dict[str, Any]:
    (folder / "verbs.txt").write_text(VERBS)
    config = ["--config", str(SAMPLES / "moldau.yml"), "--warehouse", str(folder / "w")]
    filled = shell("exec", str(folder / "verbs.txt"), *config, folder=ROOT)
    assert filled.code == 0, filled.err
    told = shell.run(Path(__file__).with_name("plain_dbt.py"), str(folder), folder=ROOT)
    assert told.code == 0, told.out + told.err
    answer: dict[str, Any] = json.loads((folder / "found.json").read_text())
    return answer


@pytest.mark.parametrize("command", COMMANDS)
def test_nothing_fails(found: dict[str, Any], command: str) -> None:
    assert not found[command]


def test_a_run_makes_good_what_one_that_ended_left_unrecorded(
    found: dict[str, Any], folder: Path
) -> None:
    decided, of_these = found["decisions after a run that ends early"]
    assert decided > 0, "at now other offsets have expired"
    assert of_these == 0
    assert found["decisions after a whole run"] == [decided, decided]
    lists = folder / "w" / "_moldau" / "plain_run"
    assert not list(lists.iterdir()), "each run of dbt removed its own lists"


def test_only_tables_that_the_selection_looks_at_are_registered(found: dict[str, Any]) -> None:
    of_groups = {"cleanup_eligibility", "group_sweeps", "offset_expirations"}
    assert set(found["registered"]) == of_groups


def test_models_select_the_columns_that_their_yaml_tells(found: dict[str, Any]) -> None:
    """dbt enforces no contract in a materialization of our own, and `by name` fills gaps."""
    for model in project().models.values():
        if model.kind != "seed":
            told = {c.name: c.data_type for c in model.node.columns.values()}
            selected = found["columns"][model.name]
            if model.kind == "decision":  # the YAML is the table's, and a merge deletes by this one
                assert selected.pop("is_gone", "boolean") == "boolean"
            assert selected == told, model.name
