"""The flows that a run brings to the SQL, as moldau.yml has them."""

from __future__ import annotations

from pathlib import Path

import pytest

from moldau.domains.mirrors import DOMAIN
from moldau.sessions.run import Run
from moldau.settings import load_settings


@pytest.mark.parametrize(
    ("cluster", "ruleset"), [("east", "parity"), ("west", "parity"), ("north", "latest_sync")]
)
def test_a_comparison_is_of_the_flows_that_begin_or_end_at_its_clusters(
    tmp_path: Path, cluster: str, ruleset: str
) -> None:
    file = tmp_path / "moldau.yml"
    file.write_text("flows: {f: {source: east, target: west, ruleset: latest_sync}}\n")
    [recorded] = DOMAIN.recorded
    run = Run("1-compare", "compare", [cluster], 0, rulesets={cluster: {"mirrors": "parity"}})
    [flow] = recorded.rows(load_settings(file, None), run)
    assert flow["ruleset"] == ruleset
