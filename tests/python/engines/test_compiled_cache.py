"""What is compiled and translated is made anew when something that makes it has changed."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterator
from pathlib import Path

import pytest

from moldau.compiled import kept as keeping


@pytest.fixture(autouse=True)
def cache_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    keeping._digest.cache_clear()
    yield
    keeping._digest.cache_clear()


def made(told: str) -> str:
    """What is kept under the digest of now, else this."""
    keeping._digest.cache_clear()
    kept: str = keeping.cached("test", lambda: told)
    return kept


def test_it_is_made_once() -> None:
    assert [made("first"), made("second")] == ["first", "first"]


@pytest.mark.parametrize("distribution", ["dbt-core", "dbt-spark", "dbt-adapters", "sqlglot"])
def test_another_version_makes_it_anew(monkeypatch: pytest.MonkeyPatch, distribution: str) -> None:
    """Also an earlier one; that of before is still there."""
    assert made("before") == "before"
    version = importlib.metadata.version
    with monkeypatch.context() as patch:
        for other in ("0.0.1", "99.0"):
            patch.setattr(
                importlib.metadata,
                "version",
                lambda name, other=other: other if name == distribution else version(name),
            )
            assert made(other) == other
    assert made("after") == "before"


@pytest.mark.parametrize(
    "changed",
    [
        "moldau/engines/duckdb/translation.py", "moldau/compiled/dbt.py", "moldau/literals.py",
        "moldau/reading/tables/views.py", "moldau/warehouse/contracts.py", "profiles/profiles.yml",
        "macros/instant.sql", "marts/tiers/tier_lag.sql", "dbt_project.yml",
    ],
)  # fmt: skip
def test_another_text_makes_it_anew(monkeypatch: pytest.MonkeyPatch, changed: str) -> None:
    assert made("before") == "before"
    read = Path.read_bytes
    monkeypatch.setattr(
        Path, "read_bytes", lambda file: read(file) + b" " * str(file).endswith(changed)
    )
    assert made("after") == "after"
