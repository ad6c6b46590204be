"""One Spark session for the whole run: starting one costs more than most tests."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from moldau.runs.session import Session, open_session
from moldau.settings import load_settings


@pytest.fixture(scope="session")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """A warehouse that all tests share, each with clusters of its own names."""
    os.environ.setdefault("MOLDAU_DRIVER_MEMORY", "2g")
    warehouse = tmp_path_factory.mktemp("moldau") / "warehouse"
    with open_session(load_settings(None, warehouse), "pytest") as opened:
        yield opened
        opened.spark.stop()
