"""What `dbt run --selector cycle` says no to, before Spark has work."""

from __future__ import annotations

from pathlib import Path

import pytest

from moldau.errors import MoldauError
from moldau.reading.health.status import lock_holder
from moldau.runs.in_dbt import DbtRun, start_spark
from moldau.runs.opening import open_session
from moldau.settings import load_settings


def test_without_a_warehouse_dbt_says_what_makes_one(tmp_path: Path) -> None:
    with pytest.raises(MoldauError, match="`moldau init` makes one"):
        start_spark(load_settings(None, tmp_path / "none"))
    assert not (tmp_path / "none").exists()


def test_a_wrong_instant_lets_go_of_the_warehouse(tmp_path: Path) -> None:
    settings = load_settings(None, tmp_path / "w")
    with open_session(settings, "pytest"):
        pass
    with pytest.raises(MoldauError, match="yesterday"):
        DbtRun(settings).open("cycle", "yesterday", [], [])
    assert lock_holder(tmp_path / "w") is None
