"""Where the dbt project lies: the checkout, or the copy that the wheel carries."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_CHECKOUT = _PACKAGE.parent.parent

ROOT = _CHECKOUT if (_CHECKOUT / "dbt_project.yml").is_file() else _PACKAGE / "project"
SAMPLES = ROOT / "samples"
SEEDS = ROOT / "seeds"
