"""Pages on a warehouse with hostile names."""

from __future__ import annotations

from pathlib import Path

import hostile_rows
import pytest
from starlette.testclient import TestClient

from moldau.serving.app import application
from moldau.settings import Settings, load_settings


@pytest.fixture(scope="package")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    warehouse = tmp_path_factory.mktemp("hostile") / "warehouse"
    return load_settings(hostile_rows.make(warehouse), warehouse)


@pytest.fixture(scope="package")
def client(hostile: Settings) -> TestClient:
    return TestClient(application(hostile), base_url=hostile_rows.HERE)


@pytest.fixture
def empty(tmp_path: Path) -> Settings:
    """A warehouse that nobody has loaded anything into."""
    (tmp_path / "warehouse" / "state").mkdir(parents=True)
    return load_settings(None, tmp_path / "warehouse")
